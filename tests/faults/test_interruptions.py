"""G1, G15, G16: trainings killed, stopped and raced at random moments lose nothing that they said was saved."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amount import FULL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork; Linux only")

PROGRAM = Path(__file__).with_name("interruptions.py")


Figure = Callable[..., None]


def trials(kind: str, n_full: int, figure: Figure, goal: str) -> dict[str, Any]:
    """The counts of so many interruptions, or a twentieth; a failure comes with the command that repeats it."""
    n_trials = n_full if FULL else n_full // 20
    done = subprocess.run([sys.executable, PROGRAM, kind, str(n_trials)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout)
    figure(goal, kind, **{name: round(value, 1) for name, value in counts.items()})
    assert counts["interruptions"] >= n_trials
    return counts


def test_killed(figure: Figure) -> None:
    counts = trials("KILL", 1000, figure, "G1")
    assert counts["inside_a_save"] >= counts["interruptions"] // 5


@pytest.mark.parametrize("kind", ["TERM", "INT"])
def test_asked_to_stop(kind: str, figure: Figure) -> None:
    trials(kind, 100, figure, "G15")


def test_two_at_once(figure: Figure) -> None:
    trials("RACE", 100, figure, "G16")
