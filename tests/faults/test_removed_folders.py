"""A run folder that is taken away under a training: it ends with one line, and writes into no other's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from amount import FULL

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="needs fork; Linux only")]

PROGRAM = Path(__file__).with_name("removed_folders.py")
#: Trials of all kinds together.
N_TRIALS = 200


def test_a_training_without_its_folder_ends_and_harms_no_other(figure: Callable[..., None]) -> None:
    n_trials = N_TRIALS if FULL else N_TRIALS // 20  # each kind once
    done = subprocess.run([sys.executable, PROGRAM, str(n_trials)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    figure("--", "folders removed, renamed or replaced", **found)
    assert found["trials"] == n_trials
    assert found["noticed"] >= n_trials // 4
