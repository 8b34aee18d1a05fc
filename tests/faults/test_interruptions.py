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

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="needs fork; Linux only")]

PROGRAM = Path(__file__).with_name("interruptions.py")


Figure = Callable[..., None]
#: Interruptions of each kind, and the goal they belong to.
N_TRIALS = {"KILL": 1000, "TERM": 100, "INT": 100, "RACE": 100}
GOALS = {"KILL": "G1", "TERM": "G15", "INT": "G15", "RACE": "G16"}


@pytest.fixture(scope="module")
def counts() -> dict[str, dict[str, Any]]:
    """Of all of them, or of a hundredth; a failure comes with the command that repeats it."""
    trials = [str(each) for kind, n in N_TRIALS.items() for each in (kind, n if FULL else n // 100)]
    done = subprocess.run([sys.executable, PROGRAM, *trials], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", N_TRIALS)
def test_nothing_is_lost(kind: str, counts: dict[str, dict[str, Any]], figure: Figure) -> None:
    found = counts[kind]
    figure(GOALS[kind], kind, **{name: round(value, 1) for name, value in found.items()})
    assert found["interruptions"] >= N_TRIALS[kind] // (1 if FULL else 100)
    assert kind != "KILL" or found["inside_a_save"] >= found["interruptions"] // 5
