"""Elastic torchrun: a killed process is started again, and the training goes on from its last checkpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from runs import assert_same_training, settings
from test_many_processes import ENVIRONMENT, torchrun, training, wait_for

from dragoman.training import train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")


def test_a_killed_process_is_started_again_by_torchrun(corpus: Path, tmp_path: Path) -> None:
    """Nobody repeats the command; the run ends as one that nothing disturbed, in the same bits."""
    chosen = settings(corpus, max_steps=60, save_every=5)
    undisturbed = subprocess.run(
        [*torchrun(), *training(tmp_path / "undisturbed", chosen)], env=ENVIRONMENT, capture_output=True, check=False
    )
    assert undisturbed.returncode == 0
    run = tmp_path / "run"
    command = [*torchrun("--max-restarts=3"), *training(run, chosen)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for(run, 10)
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGKILL)
        assert launcher.stderr is not None
        said = launcher.stderr.read()
    assert launcher.returncode == 0, said
    assert "continuing after step" in said
    assert "internal error" not in said
    assert_same_training(tmp_path / "undisturbed", run)


def test_another_number_of_processes_goes_on(corpus: Path, tmp_path: Path) -> None:
    """After the loss of a machine, fewer go on where more stopped."""
    chosen = settings(corpus, max_steps=20, save_every=5)
    command = [*torchrun(), *training(tmp_path / "run", chosen)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for(tmp_path / "run", 5)
        launcher.terminate()
        launcher.communicate()
    train(chosen, tmp_path / "run", device="cpu")
