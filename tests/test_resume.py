"""A training that is stopped, killed or starved of disk: it continues to the same bits, or says why not."""

from __future__ import annotations

import errno
import importlib
import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import forks
import pytest
import torch
from runs import assert_same_training, logged, losses, settings
from safetensors.torch import load_file
from test_bundle import remake_manifest
from torch import Tensor

from dragoman.cli.program import run
from dragoman.data.batches import WHOLE, Batches, Cut
from dragoman.data.epochs import Epochs
from dragoman.data.prepare import prepare
from dragoman.errors import (
    BundleError,
    ConfigError,
    DataError,
    DivergedError,
    DragomanError,
    ResourceError,
    RunFolderError,
)
from dragoman.machine import locks
from dragoman.machine.files import require_space
from dragoman.machine.json_files import to_json
from dragoman.machine.locks import lock_folder
from dragoman.machine.pointers import read_pointer
from dragoman.machine.processes import start_processes
from dragoman.machine.ram import peak_memory
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import read_recipe
from dragoman.settings.training_config import TrainingConfig
from dragoman.training import (
    checkpoint,
    gradient,
    loss,
    metrics_log,
    precision,
    recorder,
    run_folder,
    saver,
    train,
    trainer,
    training_state,
    validation,
)
from dragoman.training.checkpoint import saved_steps
from dragoman.training.length import Length
from dragoman.training.stopping import StopRequest
from dragoman.training.trainer import Trainer
from dragoman.translator import Translator

pytestmark = pytest.mark.torch


def test_killed_again_and_again_it_ends_in_the_same_bits(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """`kill -9` after a few steps, dropout on; then the same command."""
    run = tmp_path / "run"
    for wait_for in ("step 4:", "step 23:", None):
        with forks.lines_of(forks.training, settings(corpus), str(run), folder=tmp_path) as (process, lines):
            for line in lines:
                if wait_for is not None and line.startswith(wait_for):
                    process.kill()
        assert process.exitcode == (0 if wait_for is None else -signal.SIGKILL)
    assert_same_training(reference, run)


def test_a_run_whose_text_changes_each_epoch_continues_to_the_same_bits(corpus: Path, tmp_path: Path) -> None:
    doses = {"augmentation": {"case": 0.5, "typos": 0.5, "spans": 0.5, "punctuation": 0.2}}
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    train({**settings(corpus), **doses}, whole, device="cpu")
    for n_steps in (17, 30):
        train({**settings(corpus, max_steps=n_steps), **doses}, halves, device="cpu")
    assert_same_training(whole, halves)
    plain = tmp_path / "plain"
    train(settings(corpus), plain, device="cpu")
    assert losses(plain) != losses(whole)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_saved(
    corpus: Path, reference: Path, tmp_path: Path, number: signal.Signals, exit_code: int
) -> None:
    run = tmp_path / "run"
    with forks.lines_of(forks.training, settings(corpus), str(run), folder=tmp_path) as (process, lines):
        for line in lines:
            if line.startswith("step 9:"):
                os.kill(process.pid or 0, number)
    assert process.exitcode in (exit_code, -number)
    assert saved_steps(run / "checkpoints")[-1] >= 9
    train(settings(corpus), run, device="cpu")
    assert_same_training(reference, run)


def test_a_speed_is_that_of_training_alone(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    shutil.rmtree(run / "checkpoints" / f"step-{saved_steps(run / 'checkpoints')[-1]}")
    resumed_after = saved_steps(run / "checkpoints")[-1]
    clock = SimpleNamespace(perf_counter=itertools.count().__next__, process_time=lambda: 0.0)  # a second for each look
    monkeypatch.setattr(recorder, "time", clock)
    train(settings(corpus), run, device="cpu")
    tokens, speeds = logged(run, "target_tokens"), logged(run, "target_tokens_per_second")
    for step in range(resumed_after + 1, 31):
        assert speeds[step] == tokens[step] - tokens[step - 1]


def test_a_finished_run_is_left_alone(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    before = {path: path.stat().st_mtime_ns for path in (run / "checkpoints").rglob("*")}
    train(settings(corpus), run, device="cpu")
    assert {path: path.stat().st_mtime_ns for path in (run / "checkpoints").rglob("*")} == before


def test_a_copy_that_followed_the_links_goes_on(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """As `cp -rL` and most clouds copy: `best` and `last` are whole bundles then. Nothing of them is lost."""
    run = shutil.copytree(reference, tmp_path / "run")
    for n_steps, copied in ((33, "copied-last"), (36, "copied-last1")):
        assert (run / "last").is_dir()
        assert not (run / "last").is_symlink()
        (run / "last" / "notes").write_text("mine", encoding="utf-8")
        train(settings(corpus, max_steps=n_steps), run, device="cpu")
        assert read_pointer(run / "last") == (run / "bundles" / f"step-{n_steps}").resolve()
        assert (run / copied / "notes").read_text(encoding="utf-8") == "mine"
        last = (run / "last").resolve()
        (run / "last").unlink()
        shutil.copytree(last, run / "last")


def test_a_damaged_newest_checkpoint_is_passed_over(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    weights_file = run / "checkpoints" / "step-30" / "model.safetensors"
    damaged = bytearray(weights_file.read_bytes())
    damaged[-1] ^= 1
    weights_file.write_bytes(damaged)
    train(settings(corpus), run, device="cpu")
    assert any("step-30" in line and "model.safetensors" in line for line in log_lines)
    assert_same_training(reference, run)
    for step in saved_steps(run / "checkpoints"):
        (run / "checkpoints" / f"step-{step}" / "MANIFEST.json").unlink()
    with pytest.raises(BundleError, match="every checkpoint is damaged"):
        train(settings(corpus), run, device="cpu")


def test_changed_settings_and_data_are_refused(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    with pytest.raises(ConfigError, match=r"training.lr: 0.01 \(then\), 0.02 \(now\)"):
        train(settings(corpus, lr=0.02), run, device="cpu")
    train(settings(corpus, max_steps=33), run, device="cpu")
    assert "training.max_steps: 30 -> 33" in log_lines
    assert saved_steps(run / "checkpoints")[-1] == 33


def test_a_start_without_its_length_keeps_it_and_a_finished_run_asks(
    corpus: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    """Two epochs were asked for once; the same text without them must not train on, with another rate."""
    asked, run = settings(corpus, schedule="cosine"), tmp_path / "a run"
    del asked["training"]["max_steps"], asked["training"]["warmup_steps"]
    short = {**asked, "training": {**asked["training"], "max_epochs": 2}}
    with pytest.MonkeyPatch.context() as patch:
        _kill_in(patch, "train_step", after=9)
        with pytest.raises(Killed):
            train(short, run, device="cpu")
    assert not any("the learning rate" in line for line in log_lines)
    train(asked, run, device="cpu")
    train(short, tmp_path / "undisturbed", device="cpu")
    assert_same_training(tmp_path / "undisturbed", run)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for again in (asked, short, read_recipe(run / "config.yaml")):
        log_lines.clear()
        train(again, run, device="cpu")
        (line,) = (line for line in log_lines if "finished" in line)
        assert line.startswith("this run is finished: 2 epochs, 12 steps; to train longer: dragoman train --output '")
        assert "a run' --set training.max_epochs=4 (the learning rate goes up at once from 0 to 0.00" in line
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    log_lines.clear()
    train({**asked, "training": {**asked["training"], "max_epochs": 4}}, run, device="cpu")
    (line,) = (line for line in log_lines if "the learning rate" in line)
    rates = logged(run, "lr")
    jump = f"goes up at once from 0 to {rates[13]:.2g}, then to 0 at the last, step 24"
    assert line == f"12 -> 24 steps: the learning rate {jump}"
    assert rates[12] == rates[24] == 0 < rates[13]


@pytest.mark.parametrize(
    ("training", "before", "told"),
    [
        ({"schedule": "constant", "lr": 0.5}, 20, "stays 0.5"),
        ({"schedule": "inverse_sqrt", "lr": 0.5}, 20, "goes on from 0.35 to 0.25 at the last, step 40"),
        ({"schedule": "linear", "lr": 0.5}, 20, "goes up at once from 0 to 0.32, then to 0 at the last, step 40"),
        ({"schedule": "cosine", "lr": 0.5}, 40, "goes on from 0.35 to 0 at the last, step 40"),
        ({"schedule": "linear", "lr": 0.5}, 100, "goes down at once from 0.44 to 0.32, then to 0 at the last, step 40"),
        ({"schedule": "constant", "lr": 0.5, "warmup_steps": 40}, 20, "goes on from 0.26 to 0.5 at the last, step 40"),
    ],
)
def test_what_a_new_length_does_to_the_rate_is_told(training: dict[str, Any], before: int, told: str) -> None:
    longer = TrainingConfig(**{"warmup_steps": 10, "max_steps": 40, **training})
    assert Length(longer, Epochs(7), 16).describe_rates(20, before) == f"the learning rate {told}"


def test_each_limit_is_raised_to_train_longer() -> None:
    for max_epochs, told in (
        (100, "run --set training.max_steps=60 ("),
        (5, "max_epochs=9 --set training.max_steps=60 ("),
    ):
        both = TrainingConfig(max_steps=30, max_epochs=max_epochs, schedule="constant")
        assert told in Length(both, Epochs(7), 16).describe_end(30, Path("run"))


def test_settings_edited_in_the_run_folder_are_refused(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """The checkpoint knows with which it was made: neither an edit nor damage of config.yaml is taken for them."""
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    text = (run / "config.yaml").read_text(encoding="utf-8")
    assert "lr: 0.01\n" in text
    (run / "config.yaml").write_text(text.replace("lr: 0.01\n", "lr: 0.03\n"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"the configuration of this run changed since step 30: .*run; put it back"):
        train(read_recipe(run / "config.yaml"), run, device="cpu")
    longer = text.replace("max_steps: 30\n", "max_steps: 31\n").replace("beam_size: 5", "beam_size: 2")
    (run / "config.yaml").write_text(longer, encoding="utf-8")
    train(read_recipe(run / "config.yaml"), run, device="cpu")
    assert saved_steps(run / "checkpoints")[-1] == 31


def test_a_run_shorter_than_its_warm_up_says_so_and_goes_on_by_its_folder_alone(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    data = settings(corpus)["data"]
    command = ["train", "--source", data["source"], "--target", data["target"], "-o", str(folder), "--device", "cpu"]
    command += [word for key in ("d_model=16", "d_ff=32", "n_heads=2") for word in ("--set", f"model.{key}")]
    command += ["--set", "model.n_encoder_layers=1", "--set", "model.n_decoder_layers=1"]
    command += ["--set", "tokenizer.kind=words", "--set", "training.max_steps=2", "--set", "training.warmup_steps=9"]
    for again in (command, command, ["train", "-o", str(folder), "--device", "cpu"]):
        assert run(again) == 0
        told = capsys.readouterr().err
        assert "warning: all 2 steps are warm-up" in told
        assert "training.warmup_steps below 9" in told


def test_changed_text_is_refused_by_name(corpus: Path, tmp_path: Path) -> None:
    text, run = shutil.copytree(corpus, tmp_path / "text"), tmp_path / "run"
    train(settings(text, max_steps=12), run, device="cpu")
    (text / "rows.up").write_text((text / "rows.up").read_text(encoding="utf-8").replace("A", "B"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"SHA-256 of train target: .* \(then\)"):
        train(settings(text, max_steps=12), run, device="cpu")


def test_a_run_whose_checkpoints_were_taken_away_does_not_start_anew(
    corpus: Path, reference: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(BundleError, match="checkpoints are missing"):
        train(settings(corpus), run, device="cpu")
    assert (run / "best" / "model.safetensors").exists()
    shutil.rmtree(run / "bundles")  # nor if it had no bundle yet: steps were logged
    with pytest.raises(BundleError, match="checkpoints are missing"):
        train(settings(corpus), run, device="cpu")
    assert max(losses(run)) == 30


def test_a_folder_of_something_else_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data: {}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.yaml of something else"):
        train(settings(corpus), tmp_path, device="cpu")
    assert (tmp_path / "config.yaml").read_text(encoding="utf-8") == "data: {}\n"


def test_a_damaged_older_checkpoint_and_log_do_no_harm(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(settings(corpus, max_steps=14, keep_checkpoints=4), run, device="cpu")
    (run / "checkpoints" / "step-7" / "state.json").write_bytes(b"{}")
    with open(run / "metrics.jsonl", "ab") as log:
        log.write(b'{"step": 15, "lo\xff')
    train(settings(corpus, keep_checkpoints=4), run, device="cpu")
    assert_same_training(reference, run)


def test_a_validation_cut_short_by_a_signal_is_done_by_the_next_start(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    real = trainer.validate

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return real(*arguments)

    monkeypatch.setattr(trainer, "validate", interrupted)
    with pytest.raises(SystemExit, match="143"):
        train(settings(corpus), run, device="cpu")
    assert saved_steps(run / "checkpoints")[-1] == 20
    assert not logged(run, "validation_loss")
    monkeypatch.setattr(trainer, "validate", real)
    for _ in range(2):
        train(settings(corpus), run, device="cpu")
        assert_same_training(reference, run)
        assert logged(run, "validation_loss") == logged(reference, "validation_loss")
        assert read_pointer(run / "best").name == read_pointer(reference / "best").name


def test_a_signal_while_the_processes_agree_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = start_processes()
    real = processes.max

    def interrupted(number: int, device: torch.device) -> int:
        agreed = real(number, device)
        signal.raise_signal(signal.SIGTERM)
        return agreed

    with StopRequest() as stop:
        monkeypatch.setattr(type(processes), "max", lambda self, number, device: interrupted(number, device))
        assert not stop.agree(processes, torch.device("cpu"))
        monkeypatch.undo()
        assert stop.agree(processes, torch.device("cpu"))


def not_finite_from(first: int) -> Callable[..., tuple[Tensor, Tensor]]:
    """The loss, which is not a number from its call number `first` on."""
    calls, real = itertools.count(1), gradient.batch_loss

    def loss(*arguments: Any) -> tuple[Tensor, Tensor]:
        total, nll = real(*arguments)
        return (total * math.nan if next(calls) >= first else total), nll

    return loss


def test_skipped_steps_are_not_saved(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """They changed nothing, and would push out what was saved before something went wrong."""
    run = tmp_path / "run"
    monkeypatch.setattr(gradient, "batch_loss", not_finite_from(8))
    with pytest.raises(DivergedError, match="were not finite"):
        train(settings(corpus, save_every=1, max_skipped_steps=5), run, device="cpu")
    skipped = {int(line.split()[2].rstrip(":")) for line in log_lines if "the step is skipped" in line}
    assert len(skipped) >= 5
    assert saved_steps(run / "checkpoints")
    assert not skipped.intersection(saved_steps(run / "checkpoints"))


def test_a_validation_without_a_loss_is_a_divergence(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = validation.batch_loss
    monkeypatch.setattr(
        validation, "batch_loss", lambda *details, **more: tuple(each * math.inf for each in real(*details, **more))
    )
    with pytest.raises(DivergedError, match="validation loss is not finite at step 20"):
        train(settings(corpus), tmp_path / "run", device="cpu")


def test_saving_by_time_changes_nothing_but_what_a_kill_costs(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """A minute for each step: after any step, a kill costs at most as many as minutes were asked for."""
    run, minutes = tmp_path / "run", itertools.count(0, 60)
    monkeypatch.setattr(saver, "time", SimpleNamespace(monotonic=lambda: next(minutes)))
    train(settings(corpus, save_every=1000, save_minutes=9, keep_checkpoints=30), run, device="cpu")
    saved = [int(line.split()[-1]) for line in log_lines if line.startswith("saved step")]
    assert len(saved) >= 4
    assert max(late - early for early, late in itertools.pairwise([0, *saved])) <= 9
    assert not {step for step in saved if step % 9 == 0}.issuperset(saved)  # a validation saves, and counts
    assert_same_training(reference, run)
    for step in saved[1::-1]:  # a run that goes on from a checkpoint that time made ends in the same bits
        for later in saved_steps(run / "checkpoints"):
            if later > step:
                shutil.rmtree(run / "checkpoints" / f"step-{later}")
        train(settings(corpus, save_minutes=2.5, keep_checkpoints=30), run, device="cpu")
        assert_same_training(reference, run)


def test_a_full_disk_is_not_asked_again_at_once(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    run, minutes = tmp_path / "run", itertools.count(0, 60)
    monkeypatch.setattr(saver, "time", SimpleNamespace(monotonic=lambda: next(minutes)))
    monkeypatch.setattr(checkpoint, "save_folder", failing_once(checkpoint.save_folder, after=1))
    train(settings(corpus, save_every=1000, save_minutes=6), run, device="cpu")
    failed = next(int(re.findall(r"step (\d+): not saved", line)[0]) for line in log_lines if "not saved" in line)
    saved = next(int(line.split()[-1]) for line in log_lines if line.startswith("saved step"))
    assert saved - failed >= 5
    assert_same_training(reference, run)


def test_a_skipped_step_is_not_saved_for_the_time(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    monkeypatch.setattr(gradient, "batch_loss", not_finite_from(8))
    with pytest.raises(DivergedError, match="were not finite"):
        train(settings(corpus, save_minutes=1e-9, max_skipped_steps=5), tmp_path / "run", device="cpu")
    assert [line for line in log_lines if line.startswith("saved step")] == [f"saved step {n}" for n in range(1, 8)]


class Killed(BaseException):
    """Stands for `kill -9` at a chosen call."""


def _kill_in(monkeypatch: pytest.MonkeyPatch, name: str, *, after: int) -> None:
    """Let the `after`-th call of a method of the trainer die."""
    original = getattr(Trainer, name)
    calls = iter(range(1, 10**6))

    def dying(self: Trainer, *arguments: Any) -> Any:
        if next(calls) == after:
            raise Killed
        return original(self, *arguments)

    monkeypatch.setattr(Trainer, name, dying)


def test_killed_between_a_bundle_and_its_checkpoint(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`best` and `last` never name a bundle that is not there, and the run still ends in the same bits."""
    run = tmp_path / "run"
    for name, after in (("_save", 3), ("train_step", 3), ("_validate", 2)):
        with monkeypatch.context() as patch:
            _kill_in(patch, name, after=after)
            with pytest.raises(Killed):
                train(settings(corpus), run, device="cpu")
        for pointer in ("best", "last"):
            assert not (run / pointer).is_symlink() or (run / pointer / "MANIFEST.json").exists()
    train(settings(corpus), run, device="cpu")
    assert_same_training(reference, run)
    assert (run / "best").resolve() == (run / "bundles" / (reference / "best").resolve().name)


def test_the_log_is_exact_between_its_lines_too(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rare = settings(corpus, log_every=10)
    train(rare, tmp_path / "whole", device="cpu")
    with monkeypatch.context() as patch:
        _kill_in(patch, "train_step", after=17)
        with pytest.raises(Killed):
            train(rare, tmp_path / "killed", device="cpu")
    train(rare, tmp_path / "killed", device="cpu")
    assert list(losses(tmp_path / "whole")) == [10, 20, 30]
    assert losses(tmp_path / "whole") == losses(tmp_path / "killed")


def test_other_data_in_the_same_folder_is_refused(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    other = shutil.copytree(corpus, tmp_path / "corpus")
    with open(other / "rows.low", "a", encoding="utf-8") as low, open(other / "rows.up", "a", encoding="utf-8") as up:
        low.write("a b\n")
        up.write("A B\n")
    changed = settings(other, max_steps=33)
    prepare(parse_config(changed), run, overwrite=True)
    with pytest.raises(ConfigError, match="the data of this run changed since step 30"):
        train(changed, run, device="cpu")


def test_a_full_disk_keeps_the_last_checkpoint(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    """A real limit on the size of files, which the weights exceed: exit code 5, and then it continues."""
    resource = pytest.importorskip("resource")
    run = tmp_path / "run"
    train(settings(corpus, max_steps=12), run, device="cpu")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    largest = (run / "checkpoints" / "step-12" / "optimizer.safetensors").stat().st_size
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, hard))
        with pytest.raises(DragomanError) as caught:
            train(settings(corpus, save_every=2), run, device="cpu")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert caught.value.exit_code == 5
    assert sum("the last checkpoint is intact" in line for line in log_lines) == 2  # the third failure ends it
    assert saved_steps(run / "checkpoints")[-1] == 12
    assert not list(run.rglob(".dragoman-step-*"))
    train(settings(corpus), run, device="cpu")
    assert_same_training(reference, run)


def test_a_run_goes_on_elsewhere_without_its_text(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """The run folder is copied; the corpus stays behind. The folder alone says all that is needed."""
    first, there, text = tmp_path / "here", tmp_path / "there" / "run", tmp_path / "text"
    shutil.copytree(corpus, text)
    train(settings(text, max_steps=12), first, device="cpu")
    shutil.move(first, there)
    shutil.rmtree(text)
    assert run(["train", "--output", str(there), "--set", "training.max_steps=30", "--device", "cpu"]) == 0
    assert_same_training(reference, there)


def test_a_disk_that_is_full_for_a_while_costs_nothing(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """The log, a bundle and a checkpoint cannot be written; later they can."""
    run = tmp_path / "run"
    for module, name in ((metrics_log, "append_file"), (run_folder, "save_bundle"), (checkpoint, "save_folder")):
        monkeypatch.setattr(module, name, failing_once(getattr(module, name), after=name == "save_folder"))
    train(settings(corpus, save_every=3), run, device="cpu")
    assert sum("the last checkpoint is intact" in line for line in log_lines) == 3
    assert_same_training(reference, run)
    assert logged(run, "validation_loss").keys() == {30}  # the one of step 20 could not be kept, nor could it be best


def test_validations_that_cannot_be_noted_do_not_fill_the_disk(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their bundles take more space than the checkpoint for which there is none."""
    run, n_bundles = tmp_path / "run", list[int]()

    def full(folder: Path, state: Any) -> None:
        n_bundles.append(len(saved_steps(run / "bundles")))
        if len(n_bundles) in (3, 4):
            raise ResourceError("no space left on the device")
        save(folder, state)

    save = run_folder.save_checkpoint
    monkeypatch.setattr(run_folder, "save_checkpoint", full)
    train(settings(corpus, save_every=1000, validate_every=3), run, device="cpu")
    assert len(n_bundles) == 11
    assert max(n_bundles) <= 4  # best and last, of the last checkpoint and now
    assert len(saved_steps(run / "bundles")) <= 2 * 2


def failing_once(function: Callable[..., Any], after: int) -> Callable[..., Any]:
    """The same function, but the call after so many finds a full disk."""
    calls = itertools.count()

    def fails(*args: Any, **options: Any) -> Any:
        if next(calls) == after:
            raise ResourceError("no space left on the device")
        return function(*args, **options)

    return fails


def test_a_save_that_will_not_fit_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"1,152,921,504,606,846,976 bytes needed, .* free"):
        require_space(tmp_path, 2**60)


def test_a_run_folder_has_one_trainer(corpus: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    program = (
        "import sys, time; from pathlib import Path; from dragoman.machine.locks import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(RunFolderError, match="in use by process"):
            train(settings(corpus), tmp_path, device="cpu")
        other.kill()
    assert time.monotonic() - started < 30
    with lock_folder(tmp_path):
        pass


def test_numbers_that_are_not_finite_are_never_saved(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    monkeypatch.setattr(gradient, "batch_loss", not_finite_from(20))
    with pytest.raises(DivergedError, match=r"lower training\.lr") as caught:
        train(
            settings(
                corpus,
                lr=1000.0,
                warmup_steps=0,
                clip_norm=None,
                schedule="constant",
                max_steps=400,
                max_skipped_steps=3,
            ),
            run,
            device="cpu",
        )
    assert caught.value.exit_code == 4
    assert saved_steps(run / "checkpoints")
    for step in saved_steps(run / "checkpoints"):
        tensors = load_file(run / "checkpoints" / f"step-{step}" / "model.safetensors")
        assert all(tensor.isfinite().all() for tensor in tensors.values())


def without_memory(limit: int) -> Callable[..., Any]:
    """`batch_loss`, on a machine that has memory for `limit` tokens."""

    def batch_loss(model: Any, batch: Any, *options: float, **more: float) -> Any:
        if batch.target_ids.numel() > limit:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")
        return loss.batch_loss(model, batch, *options, **more)

    return batch_loss


def test_out_of_memory_halves_the_batch_and_keeps_the_gradient(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """The same training as with micro-batches of that size from the start; also when it is continued."""
    plain = settings(corpus, max_steps=6, warmup_steps=1)
    train({**plain, "training": {**plain["training"], "micro_batch_tokens": 50}}, tmp_path / "small", device="cpu")
    monkeypatch.setattr(gradient, "batch_loss", without_memory(70))
    train({**plain, "training": {**plain["training"], "max_steps": 3}}, tmp_path / "run", device="cpu")
    assert [line for line in log_lines if "out of memory" in line] == [
        "warning: step 1: out of memory; going on in micro-batches of 100 tokens",
        "warning: step 1: out of memory; going on in micro-batches of 50 tokens",
    ]
    train(plain, tmp_path / "run", device="cpu")
    assert_same_training(tmp_path / "run", tmp_path / "small")


def test_a_run_keeps_the_precision_that_was_chosen_for_it(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """On a processor of another kind, too."""
    for n_steps, chosen in ((1, "bfloat16"), (2, "float32")):
        monkeypatch.setattr(precision, "choose_precision", lambda *_, chosen=chosen: (chosen, "a reason"))
        log_lines.clear()
        plain = settings(corpus, max_steps=n_steps, warmup_steps=1, precision="auto")
        train(plain, tmp_path / "run", device="cpu")
        assert [line for line in log_lines if line.startswith("precision: ")] == ["precision: bfloat16 (a reason)"][
            : 2 - n_steps
        ]
        checkpoint = tmp_path / "run" / "checkpoints" / f"step-{n_steps}"
        assert json.loads((checkpoint / "state.json").read_bytes())["precision"] == "bfloat16"


def test_micro_batches_that_are_set_anew_win_over_what_the_memory_allowed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    run, seen, real = tmp_path / "run", list[int | None](), Batches.share

    def watched(self: Batches, index: int, cut: Cut = WHOLE) -> Any:
        if cut.micro_batch_tokens is not None:  # it is not a validation
            seen.append(cut.micro_batch_tokens)
        return real(self, index, cut)

    with monkeypatch.context() as patch:
        patch.setattr(gradient, "batch_loss", without_memory(70))
        train(settings(corpus, max_steps=2, warmup_steps=1), run, device="cpu")
    monkeypatch.setattr(Batches, "share", watched)
    for asked, expected in ((None, 50), (150, 150)):
        more = {"micro_batch_tokens": asked} if asked else {}
        steps = 4 if asked is None else 6
        train(settings(corpus, max_steps=steps, warmup_steps=1, **more), run, device="cpu")
        assert set(seen[-2:]) == {expected}
        assert any("no longer bit-exact" in line for line in log_lines) == (asked is not None)


def test_without_its_compiled_functions_a_continuation_is_another(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    if training_state.library() is None:
        pytest.skip("needs compiled functions")
    train(settings(corpus, max_steps=2, warmup_steps=1), tmp_path / "run", device="cpu")
    monkeypatch.setattr(training_state, "library", lambda: None)
    train(settings(corpus, max_steps=3, warmup_steps=1), tmp_path / "run", device="cpu")
    assert any(line.startswith("warning: compiled functions: fused") and "bit-exact" in line for line in log_lines)


def test_no_memory_at_all_ends_it_resumable(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradient, "batch_loss", without_memory(1))
    with pytest.raises(ResourceError, match="out of memory at step 1"):
        train(settings(corpus), tmp_path / "run", device="cpu")
    assert saved_steps(tmp_path / "run" / "checkpoints") == [0]


def test_a_model_beyond_the_machine_is_refused_before_it_is_built(corpus: Path, tmp_path: Path) -> None:
    huge = settings(corpus)
    huge["model"] |= {"d_model": 32_768, "d_ff": 131_072, "n_encoder_layers": 40, "n_decoder_layers": 40}
    before = peak_memory(torch.device("cpu")) or 0.0
    with pytest.raises(ConfigError, match=r"parameters take [\d,.]+ MiB to train"):
        train(huge, tmp_path / "run", device="cpu")
    assert (peak_memory(torch.device("cpu")) or 0.0) < before + 50


def test_nothing_depends_on_the_clock(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """Every file of the run is from another time, and the newest checkpoint from long ago."""
    run = tmp_path / "run"
    train(settings(corpus, max_steps=15), run, device="cpu")
    dice = random.Random(1)
    for path in run.rglob("*"):
        when = dice.randrange(2**33)
        os.utime(path, (when, when), follow_symlinks=False)
    os.utime(run / "checkpoints" / f"step-{saved_steps(run / 'checkpoints')[-1]}", (0, 0))
    train(settings(corpus), run, device="cpu")
    assert_same_training(reference, run)


def test_a_folder_that_cannot_be_written_is_told(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*details: Any, **more: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(locks, "open", read_only, raising=False)
    with pytest.raises(RunFolderError, match=r"cannot write \(Read-only file system\): .*lock; check") as caught:
        train(settings(corpus), tmp_path / "run", device="cpu")
    assert caught.value.exit_code == 1


def test_data_that_cannot_be_read_any_more_ends_it_resumable(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are no worker processes; batches come from a thread, and so do its errors."""
    run, real = tmp_path / "run", Batches.share

    def failing(self: Batches, index: int, cut: Cut = WHOLE) -> Any:
        if index == 16:
            raise DataError("the disk with the corpus is gone")
        return real(self, index, cut)

    with monkeypatch.context() as patch:
        patch.setattr(Batches, "share", failing)
        with pytest.raises(DataError, match="is gone"):
            train(settings(corpus), run, device="cpu")
    assert saved_steps(run / "checkpoints")[-1] == 14
    train(settings(corpus), run, device="cpu")
    assert_same_training(reference, run)


@pytest.mark.parametrize(("number", "end"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_the_second_signal_stops_at_once(number: signal.Signals, end: type[BaseException]) -> None:
    before = signal.getsignal(number)
    with StopRequest() as stop:
        signal.raise_signal(number)
        assert stop.is_asked()
        with pytest.raises(end):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


def test_a_terminal_that_closes_hangs_up_twice() -> None:
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        assert stop.is_asked()
        with pytest.raises(SystemExit, match="129"):
            stop.leave()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_is_ignored_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)  # as a shell does for its background jobs, and nohup
    try:
        with StopRequest() as stop:
            signal.raise_signal(number)
            assert not stop.is_asked()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_a_stop_in_the_last_validation_waits_for_it(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    run = tmp_path / "run"

    def asked(*arguments: Any) -> Any:
        if saved_steps(run / "checkpoints")[-1] > 20:  # the next one is the last
            signal.raise_signal(signal.SIGTERM)
        return validate(*arguments)

    validate = trainer.validate
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "validate", asked)
        log_lines.clear()
        with pytest.raises(SystemExit):
            train(settings(corpus), run, device="cpu")
    assert next(line for line in log_lines if "stopped" in line).endswith(", the last")  # nothing is left to continue
    best = read_pointer(run / "best")
    log_lines.clear()
    assert train(settings(corpus), run, device="cpu") == best
    assert not [line for line in log_lines if "validation at" in line]
    assert_same_training(reference, run)


def test_a_training_cut_short_is_validated_where_it_stands(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    train(settings(corpus, max_steps=9, validate_every=30), run, device="cpu")
    shutil.rmtree(run / "bundles")
    for name in ("best", "last"):
        (run / name).unlink()
    state = run / "checkpoints" / "step-9" / "state.json"
    progress = json.loads(state.read_text()) | {"best_step": None, "best_score": None, "last_validation": None}
    state.write_bytes(to_json(progress))
    remake_manifest(state.parent)
    train(settings(corpus, max_steps=5, validate_every=30), run, device="cpu")
    assert (run / "best" / "model.safetensors").is_file()


def test_a_run_without_a_step_may_start_with_other_settings(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importlib.import_module("dragoman.training.budget"), "available_memory", lambda device: 1000)
        with pytest.raises(ConfigError, match="choose a smaller model"):
            train(settings(corpus), tmp_path / "run", device="cpu")
    train(settings(corpus, max_steps=2), tmp_path / "run", device="cpu")


def test_one_pair_is_enough_to_train_and_translate(tmp_path: Path) -> None:
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("one line\n", encoding="utf-8")
    settings_ = settings(tmp_path, max_steps=2, warmup_steps=1, validate_every=2)
    settings_["data"] = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de")}
    best = train(settings_, tmp_path / "run", device="cpu")
    assert Translator.load(best, device="cpu").translate("one line").text is not None


def test_no_pair_at_all_is_told(tmp_path: Path) -> None:
    for text, what in (("", "no pairs"), ("\n\n", "none of 2 pairs"), ("long " * 300 + "\n", "no train pair is left")):
        for name in ("a.en", "a.de"):
            (tmp_path / name).write_text(text, encoding="utf-8")
        settings_ = settings(tmp_path)
        settings_["data"] = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de")}
        with pytest.raises(DataError, match=what) as caught:
            train(settings_, tmp_path / "run", device="cpu")
        assert caught.value.exit_code == 1
        assert not list((tmp_path / "run").glob("[!l]*"))


@pytest.mark.parametrize("model", [{}, settings(Path())["model"]], ids=["chosen", "given"])
def test_a_longer_training_keeps_what_was_chosen_for_it(corpus: Path, tmp_path: Path, model: dict[str, Any]) -> None:
    """The warm-up is chosen by the length of the training; that it goes on longer must not be refused for that."""
    plain = {"data": settings(corpus)["data"], "model": model, "training": {"max_steps": 4, "lr": None}}
    chosen = {}
    for n_steps in (4, 12):
        plain["training"]["max_steps"] = n_steps
        train(plain, tmp_path / "run", device="cpu")
        chosen[n_steps] = read_recipe(tmp_path / "run" / "config.yaml")["training"]["warmup_steps"]
    assert chosen[4] == chosen[12] == 1
    assert saved_steps(tmp_path / "run" / "checkpoints")[-1] == 12


def test_a_finished_run_does_not_take_a_wrong_name_for_its_text(corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(settings(corpus, max_steps=1), run, device="cpu")
    before = (run / "config.yaml").read_bytes()
    wrong = settings(corpus, max_steps=1)
    wrong["data"]["source"] = str(corpus / "nope")
    with pytest.raises(DataError, match=r"file not found: .*nope; the run in .* was prepared from other files"):
        train(wrong, run, device="cpu")
    assert (run / "config.yaml").read_bytes() == before


def test_a_run_without_its_text_goes_on_and_notes_what_it_was_told(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    """The test text counts too; and what the run is told now is what other processes and later starts read."""
    place, run = tmp_path / "corpus", tmp_path / "run"
    shutil.copytree(corpus, place)
    shutil.copy(corpus / "rows.low", place / "test.low")
    shutil.copy(corpus / "rows.up", place / "test.up")

    def recipe(max_steps: int) -> dict[str, Any]:
        chosen = settings(place, max_steps=max_steps)
        chosen["data"] |= {"test_source": str(place / "test.low"), "test_target": str(place / "test.up")}
        return chosen

    train(recipe(2), run, device="cpu")
    for name, steps in (("test.low", 4), ("rows.low", 6)):
        (place / name).unlink()
        log_lines.clear()
        train(recipe(steps), run, device="cpu")
        assert any("is not here; going on with the corpus that was prepared" in line for line in log_lines)
        assert parse_config(read_recipe(run / "config.yaml")).training.max_steps == steps
        assert saved_steps(run / "checkpoints")[-1] == steps


def test_a_best_bundle_that_was_removed_gives_its_place_to_the_next(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `best` would name what is not there, until a better one came."""
    scores, run = iter([9.0, 5.0, 7.0, 6.0]), tmp_path / "run"

    def worse(*_: object) -> validation.Validation:
        shutil.rmtree(run / "bundles" / "step-2", ignore_errors=True)
        return validation.Validation(loss=1.0, bleu=next(scores))

    monkeypatch.setattr(trainer, "validate", worse)
    train(settings(corpus, max_steps=8, validate_every=2), run, device="cpu")
    assert read_pointer(run / "best").name == "step-6"
    assert (run / "best" / "model.safetensors").is_file()
