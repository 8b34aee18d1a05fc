"""Several processes train as one: the same gradient, stopped and killed like one, and no process is left waiting."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import forks
import pytest
from runs import assert_equal_but_for_rounding, assert_same_training, logged, losses, settings

from dragoman.machine.json_files import read_json
from dragoman.training import train
from dragoman.training.checkpoint import saved_steps

pytestmark = pytest.mark.torch

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def torchrun(arguments: list[str], *options: str) -> list[str]:
    """A command that runs `dragoman` in two processes on this machine, with options of torchrun."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *options]
    return [*start, "-m", "dragoman", *arguments]


def training(folder: Path, chosen: dict[str, Any]) -> list[str]:
    """The arguments of a training, with the settings in a recipe beside its run folder."""
    recipe = folder.with_suffix(".yaml")
    recipe.write_text(json.dumps(chosen), encoding="utf-8")  # JSON is YAML
    return ["train", str(recipe), "--output", str(folder), "--device", "cpu"]


def finish_two(arguments: list[str]) -> str:
    """Run `dragoman` in two processes to its good end, and return what they said."""
    return forks.run_pair(forks.command, *arguments, folder=Path(arguments[1]).parent)


def finish(command: list[str]) -> str:
    """Run a command to its good end, and return what it said."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stderr


def wait_for(run: Path, step: int) -> None:
    """Wait until a training has saved a step, or a later one."""
    for _ in range(15_000):
        if max(saved_steps(run / "checkpoints"), default=0) >= step:
            return
        time.sleep(0.02)
    raise AssertionError(f"step {step} was not saved in five minutes")


def run_and_kill_one(command: list[str], run: Path, step: int) -> tuple[int, str]:
    """Kill a process of a training that has saved a step; return the code with which the command ends, and its log."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for(run, step)
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGKILL)
        assert launcher.stderr is not None
        said = launcher.stderr.read()
    return launcher.returncode, said


@pytest.fixture(scope="module")
def together(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty steps of two processes, with dropout and Muon, that nothing disturbed."""
    run = tmp_path_factory.mktemp("together") / "run"
    assert finish_two(training(run, settings(corpus, optimizer="muon"))).count("run folder: ") == 1
    return run


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_two_processes_learn_as_one(corpus: Path, tmp_path: Path, optimizer: str) -> None:
    """Dropout off: the same data, losses, gradients and weights."""
    plain = settings(corpus, optimizer=optimizer, max_steps=4, warmup_steps=1, validate_every=4, clip_norm=None)
    plain["model"]["dropout"] = 0.0
    train(plain, tmp_path / "one", device="cpu")
    finish_two(training(tmp_path / "two", plain))
    assert_equal_but_for_rounding(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("changes", [{}, {"micro_batch_tokens": 60}, {"batch_tokens": 1}])
def test_gradients_sent_during_the_backward_pass_are_those_of_one_process(
    corpus: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    """PyTorch's `DistributedDataParallel`, also if a process has more micro-batches than another, or no share."""
    plain = settings(corpus, **{"max_steps": 4, "warmup_steps": 1, "validate_every": 4, "clip_norm": None, **changes})
    plain["model"]["dropout"] = 0.0
    train(plain, tmp_path / "one", device="cpu")
    forks.run_pair(forks.overlapping_training, plain, str(tmp_path / "two"), folder=tmp_path)
    assert_equal_but_for_rounding(tmp_path / "one", tmp_path / "two")


def test_a_process_without_a_share_changes_nothing(corpus: Path, tmp_path: Path) -> None:
    """One pair a batch leaves the second process without any. It follows the main one's choice of a precision, and
    must learn from it that the validation is no longer improving."""
    plain = settings(corpus, batch_tokens=1, max_steps=20, warmup_steps=1, validate_every=2, patience=3)
    plain["training"]["precision"] = "auto"
    for n_processes, run in ((1, tmp_path / "one"), (2, tmp_path / "two")):
        work = forks.training_that_does_not_improve
        forks.run_pair(work, plain, str(run), folder=tmp_path, n_processes=n_processes)
        state = read_json(run / "checkpoints" / "step-8" / "state.json")
        assert state["precision"] == "bfloat16"
        assert list(losses(run)) == list(range(1, 9))  # the best is that of step 2; three more were no better
    assert_same_training(tmp_path / "one", tmp_path / "two")


def test_a_fine_tuning_is_validated_at_its_beginning_by_one_for_all(
    corpus: Path, reference: Path, tmp_path: Path
) -> None:
    """No process waits for another there, at the next start neither, and patience counts from it in all of them."""
    chosen = settings(corpus, max_steps=10, warmup_steps=1, lr=1.0, validate_every=2, patience=1)
    arguments = training(tmp_path / "run", chosen)
    said = finish_two([*arguments, "--init-from", str(reference / "last")])
    assert said.count("validation at step 0, the starting model: ") == 1
    assert "no better validation for 1 times; the best is step 0" in said
    assert list(logged(tmp_path / "run", "validation_loss")) == [0, 2]
    assert "validation at" not in finish_two(arguments)


#: A signal, and the step after which it is sent.
STOPS = [(signal.SIGTERM, 7), (signal.SIGINT, 14)]


@pytest.mark.parametrize("stops", [STOPS[:1], pytest.param(STOPS, marks=pytest.mark.thorough)], ids=["once", "twice"])
def test_stopped_it_goes_on_to_the_same_bits(
    corpus: Path, together: Path, tmp_path: Path, stops: list[tuple[signal.Signals, int]]
) -> None:
    """The launcher is asked to stop; the same command continues."""
    run, before = tmp_path / "run", 0
    arguments = training(run, settings(corpus, optimizer="muon"))
    for number, step in stops:
        with subprocess.Popen(torchrun(arguments), stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
            wait_for(run, step)
            launcher.send_signal(number)
            assert launcher.stderr is not None
            assert "the same command continues" in launcher.stderr.read()
        assert launcher.returncode != 0
        assert before < saved_steps(run / "checkpoints")[-1] < 30
        before = saved_steps(run / "checkpoints")[-1]
    finish_two(arguments)
    assert_same_training(together, run)


def test_one_process_goes_on_where_two_stopped(
    corpus: Path, together: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    """And two where one did: the order of the data stays, the last bits do not."""
    run = tmp_path / "run"
    shutil.copytree(together, run, symlinks=True)
    train(settings(corpus, optimizer="muon", max_steps=34), run, device="cpu")
    assert "warning: processes: 2 -> 1; the continuation is no longer bit-exact" in log_lines
    said_together = finish_two(training(run, settings(corpus, optimizer="muon", max_steps=36)))
    assert "processes: 1 -> 2; the continuation is no longer bit-exact" in said_together
    assert list(losses(run)) == list(range(1, 37))
    assert dict(list(losses(run).items())[:30]) == losses(together)


def test_a_killed_process_costs_only_what_was_not_saved(corpus: Path, together: Path, tmp_path: Path) -> None:
    """The others end too, and say so; the same command goes on from the last checkpoint."""
    run = tmp_path / "run"
    command = torchrun(training(run, settings(corpus, optimizer="muon")))
    code, said = run_and_kill_one(command, run, 7)
    assert code != 0
    assert saved_steps(run / "checkpoints")[-1] < 30
    assert "internal error" not in said
    assert "continuing after step" in finish(command)
    assert_same_training(together, run)
