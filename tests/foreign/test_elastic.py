"""Elastic torchrun: a killed process is started again, and the training goes on from its last checkpoint."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from runs import assert_same_training, settings
from test_many_processes import ENVIRONMENT, finish, run_and_kill_one, torchrun, training, wait_for

from dragoman.training import train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")


def test_a_killed_process_is_started_again_by_torchrun(corpus: Path, tmp_path: Path) -> None:
    """Nobody repeats the command; the run ends as one that nothing disturbed, in the same bits."""
    chosen = settings(corpus, max_steps=60, save_every=5)
    finish(torchrun(training(tmp_path / "undisturbed", chosen)))
    run = tmp_path / "run"
    command = torchrun(training(run, chosen), "--max-restarts=3")
    code, said = run_and_kill_one(command, run, 10)
    assert code == 0, said
    assert "continuing after step" in said
    assert "internal error" not in said
    assert_same_training(tmp_path / "undisturbed", run)


def test_another_number_of_processes_goes_on(corpus: Path, tmp_path: Path) -> None:
    """After the loss of a machine, fewer go on where more stopped."""
    chosen = settings(corpus, max_steps=20, save_every=5)
    command = torchrun(training(tmp_path / "run", chosen))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for(tmp_path / "run", 5)
        launcher.terminate()
        launcher.communicate()
    train(chosen, tmp_path / "run", device="cpu")
