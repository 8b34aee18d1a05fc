"""G13: the whole program learns to copy, reverse and sort, from three random seeds each, although it is killed once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from amount import FULL

RECIPE = Path(__file__).parents[2] / "recipes" / "toy.yaml"

pytestmark = [pytest.mark.torch, pytest.mark.skipif(not FULL, reason="nine trainings of a minute: make faults")]


def dragoman(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dragoman", *map(str, arguments)]


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_a_task_is_learned_through_a_kill(task: str, tmp_path: Path, figure: Callable[..., None]) -> None:
    exact = []
    for seed in random.SystemRandom().sample(range(1, 10**6), 3):
        run = tmp_path / str(seed)
        subprocess.run(dragoman("prepare", RECIPE, "--corpus", task, "--output", run), check=True, capture_output=True)
        train = dragoman("train", RECIPE, "--corpus", task, "--seed", seed, "--output", run)
        train += ["--set", "training.save_every=100"]
        with subprocess.Popen(train, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not (run / "checkpoints" / "step-200").exists():
                assert process.poll() is None, f"seed {seed}: it ended by itself"
                time.sleep(0.1)
            time.sleep(3 * random.SystemRandom().random())
            process.kill()
        again = subprocess.run(train, capture_output=True, text=True, check=True)
        assert "continuing after step" in again.stderr, f"seed {seed}: {again.stderr}"
        command = dragoman("evaluate", "--model", run, "--corpus", task, "--json")
        result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        exact.append(result["exact_match"])
        assert exact[-1] >= 0.99, f"seed {seed}"
    figure("G13", task, trainings=3, exact_match=exact)
