"""G2: whatever happens while a training saves, the old state is there afterwards, or the new one; never neither."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from amount import FULL, sampled
from crashes import crash_states
from disk import FAULTS, Disk
from tiny import tiny_model, tiny_tokenizers

from dragoman.bundle.bundle import load_bundle
from dragoman.errors import DragomanError
from dragoman.machine.pointers import read_pointer
from dragoman.settings.search_config import SearchConfig
from dragoman.training.checkpoint import Checkpoint, Progress, saved_steps
from dragoman.training.run_folder import RunFolder

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc; Linux only")]

ACKNOWLEDGED, REFUSED = 0, 10


def save(run: Path, step: int) -> None:
    """Keep a bundle, point to it, save and prune, as a run does at a validation."""
    progress = Progress(step=step, best_step=step, last_validation=step, best_score=float(step))
    tokenizers = tiny_tokenizers("characters")
    folder = RunFolder(run)
    folder.keep_bundle(progress, tiny_model(tokenizers, step), tokenizers, SearchConfig(), {"step": step})
    weights = {"weight": torch.full((5,), float(step))}
    folder.save(Checkpoint(progress, weights, {"moment": weights["weight"] + 1}, None), 2)


def state_of(run: Path) -> int:
    """The step that a new start would go on from; fails unless all that belongs to it is there and whole."""
    folder = RunFolder(run)
    checkpoint = folder.load()
    assert checkpoint is not None
    step = checkpoint.progress.step
    assert checkpoint.model["weight"].tolist() == [step] * 5
    assert checkpoint.optimizer["moment"].tolist() == [step + 1] * 5
    folder.forget_after(checkpoint.progress)
    for pointer in ("best", "last"):
        assert load_bundle(read_pointer(run / pointer)).facts["step"] == step
    save(run, step + 1)  # and it can go on
    assert saved_steps(run / "checkpoints")[-1] == step + 1
    assert not list(run.rglob(".dragoman-step-*"))
    return step


@pytest.fixture(scope="module", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Skip real flushes: their effect is simulated here, and they only take time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("before") / "run"
    run.mkdir()
    save(run, 1)
    save(run, 2)
    return run


def attempt(run: Path, fault: str, at: int) -> int | None:
    """Save step 3 in a child with one fault: its exit code, None if it was killed, -1 if the fault never came."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            with Disk(run, fault=fault, at=at) as disk:
                try:
                    save(run, 3)
                    code = ACKNOWLEDGED
                except DragomanError:
                    code = REFUSED
            if disk.n_calls < at:
                code = 99
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    return -1 if os.WEXITSTATUS(status) == 99 else os.WEXITSTATUS(status)


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_at_every_call_of_a_save(
    before: Path, tmp_path: Path, fault: str, figure: Callable[..., None]
) -> None:
    at, outcomes = 0, {2: 0, 3: 0}
    while True:
        at += 1
        if not sampled(at + FAULTS.index(fault), one_in=8):
            continue
        run = tmp_path / f"run-{at}"
        shutil.copytree(before, run, symlinks=True)
        code = attempt(run, fault, at)
        if code == -1:
            break
        assert code in (None, ACKNOWLEDGED, REFUSED), f"an internal error for {fault} at call {at}"
        step = state_of(run)
        assert step == 3 if code == ACKNOWLEDGED else step in (2, 3), f"{fault} at call {at}"
        outcomes[step] += 1
        shutil.rmtree(run)
    assert at > 30
    figure("G2", fault, calls_of_a_save=at - 1, tried=sum(outcomes.values()), old=outcomes[2], new=outcomes[3])


def test_power_loss_at_every_call_of_a_save(before: Path, tmp_path: Path, figure: Callable[..., None]) -> None:
    run = tmp_path / "run"
    shutil.copytree(before, run, symlinks=True)
    with Disk(run) as disk:
        save(run, 3)
    acknowledged = len(disk.log)
    n_states = 0
    for name, state in crash_states(disk.log, before, tmp_path / "states", lambda number: sampled(number, one_in=17)):
        n_states += 1
        try:
            step = state_of(state)
        except Exception as error:
            raise AssertionError(f"after {name}: {disk.log[: int(name.split('-')[0])][-3:]}") from error
        assert step in (2, 3)
        if name.startswith(f"{acknowledged}-"):
            assert step == 3, f"acknowledged, and lost in the state {name}"
    assert n_states >= (150 if FULL else 20)
    figure("G2", "power loss", states=n_states)
