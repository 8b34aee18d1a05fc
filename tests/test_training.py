"""Training as a whole: it learns, it stops politely, and it continues to the same bits."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from dragoman.cli.program import run
from dragoman.data.prepare import prepare
from dragoman.errors import BundleError, ConfigError, DivergedError, DragomanError, ResourceError, RunFolderError
from dragoman.recipe import parse_config
from dragoman.storage import lock_folder, require_space
from dragoman.training import checkpoint, metrics, run_folder, train
from dragoman.training.checkpoint import saved_steps
from dragoman.training.plan import plan
from dragoman.training.trainer import Trainer

ROWS = 240
LETTERS = "abcdefgh"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short rows of letters and the same rows in capitals."""
    folder = tmp_path_factory.mktemp("corpus")
    generator = torch.Generator().manual_seed(1)
    rows = [
        " ".join(
            LETTERS[i]
            for i in torch.randint(8, (int(torch.randint(2, 7, (1,), generator=generator)),), generator=generator)
        )
        for _ in range(ROWS)
    ]
    (folder / "rows.low").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    (folder / "rows.up").write_text("".join(f"{row.upper()}\n" for row in rows), encoding="utf-8")
    return folder


def settings(corpus: Path, **training: Any) -> dict[str, Any]:
    return {
        "data": {"source": str(corpus / "rows.low"), "target": str(corpus / "rows.up"), "validation_size": 20},
        "tokenizer": {"kind": "words", "joint": False},
        "model": {
            "d_model": 16,
            "d_ff": 32,
            "n_heads": 2,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "dropout": 0.1,
        },
        "training": {
            "batch_tokens": 200,
            "max_steps": 30,
            "warmup_steps": 10,
            "lr": 0.01,
            "ema": 0.9,
            "precision": "float32",
            "save_every": 7,
            "log_every": 1,
            "validate_every": 20,
            **training,
        },
    }


def logged(run: Path, key: str) -> dict[int, float]:
    """One figure of each logged step; fails when a step is logged twice."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = [(record["step"], float(record[key])) for record in records if key in record]
    assert len(dict(figures)) == len(figures)
    return dict(figures)


def losses(run: Path) -> dict[int, float]:
    """Each logged step's loss, exactly."""
    return logged(run, "loss")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "checkpoints" / f"step-{saved_steps(run / 'checkpoints')[-1]}" / "model.safetensors")


def assert_same_training(one: Path, other: Path) -> None:
    assert losses(one) == losses(other)
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def assert_equal_but_for_rounding(one: Path, other: Path) -> None:
    """The same losses and gradient norms to 1e-6, and the same weights where the gradient is more than rounding.

    A bias of keys adds the same to all scores of a query, so it has no gradient; Adam scales its noise up.
    """
    for key in ("loss", "grad_norm"):
        assert logged(one, key) == pytest.approx(logged(other, key), rel=1e-6)
    first, second = weights(one), weights(other)
    for name in first:
        if not name.endswith("key_projection.bias"):
            assert torch.allclose(first[name], second[name], rtol=1e-3, atol=1e-5), name


@pytest.fixture(scope="module")
def reference(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 30 steps that nothing disturbed."""
    run = tmp_path_factory.mktemp("reference") / "run"
    train(settings(corpus), run, device="cpu", report=lambda line: None)
    return run


def test_a_run_leaves_what_is_needed_to_use_it(reference: Path) -> None:
    assert (reference / "config.yaml").exists()
    assert saved_steps(reference / "checkpoints") == [28, 30]
    assert (reference / "best" / "model.safetensors").exists()
    assert (reference / "last").resolve().name == "step-30"
    assert list(losses(reference)) == list(range(1, 31))


def test_the_same_seed_gives_the_same_bits(corpus: Path, reference: Path, tmp_path: Path) -> None:
    train(settings(corpus), tmp_path / "run", device="cpu", report=lambda line: None)
    assert_same_training(reference, tmp_path / "run")


def _command(corpus: Path, run: Path) -> list[str]:
    program = (
        "import json, sys; from pathlib import Path; from dragoman.training import train\n"
        "train(json.loads(sys.argv[1]), Path(sys.argv[2]), device='cpu', report=lambda line: print(line, flush=True))"
    )
    return [sys.executable, "-c", program, json.dumps(settings(corpus)), str(run)]


def test_killed_again_and_again_it_ends_in_the_same_bits(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """`kill -9` after a few steps, dropout on; then the same command."""
    run = tmp_path / "run"
    for wait_for in ("step 4:", "step 12:", "step 23:", None):
        with subprocess.Popen(_command(corpus, run), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if wait_for is not None and line.startswith(wait_for):
                    process.kill()
        assert process.returncode == (0 if wait_for is None else -signal.SIGKILL)
    assert_same_training(reference, run)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_saved(
    corpus: Path, reference: Path, tmp_path: Path, number: signal.Signals, exit_code: int
) -> None:
    run = tmp_path / "run"
    with subprocess.Popen(_command(corpus, run), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("step 9:"):
                process.send_signal(number)
    assert process.returncode in (exit_code, -number)
    assert saved_steps(run / "checkpoints")[-1] >= 9
    train(settings(corpus), run, device="cpu", report=lambda line: None)
    assert_same_training(reference, run)


def test_micro_batches_change_nothing(corpus: Path, reference: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    plain = settings(corpus, max_steps=5, warmup_steps=1, clip_norm=None)
    plain["model"]["dropout"] = 0.0
    train(plain, whole, device="cpu", report=lambda line: None)
    plain["training"]["micro_batch_tokens"] = 40
    train(plain, cut, device="cpu", report=lambda line: None)
    assert_equal_but_for_rounding(whole, cut)


def test_two_processes_give_the_gradient_of_one(corpus: Path, tmp_path: Path) -> None:
    """torchrun with two processes on the CPU, dropout off: the same data, losses, gradients and weights."""
    plain = settings(corpus, max_steps=4, warmup_steps=1, validate_every=4, clip_norm=None)
    plain["model"]["dropout"] = 0.0
    train(plain, tmp_path / "one", device="cpu", report=lambda line: None)
    program = tmp_path / "two.py"
    program.write_text(
        "import json, sys; from pathlib import Path; from dragoman.training import train\n"
        "train(json.loads(sys.argv[1]), Path(sys.argv[2]), device='cpu')",
        encoding="utf-8",
    )
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    subprocess.run(
        [*launcher, str(program), json.dumps(plain), str(tmp_path / "two")],
        check=True,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert_equal_but_for_rounding(tmp_path / "one", tmp_path / "two")


def test_a_finished_run_is_left_alone(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    before = {path: path.stat().st_mtime_ns for path in (run / "checkpoints").rglob("*")}
    train(settings(corpus), run, device="cpu", report=lambda line: None)
    assert {path: path.stat().st_mtime_ns for path in (run / "checkpoints").rglob("*")} == before


def test_a_damaged_newest_checkpoint_is_passed_over(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    weights_file = run / "checkpoints" / "step-30" / "model.safetensors"
    damaged = bytearray(weights_file.read_bytes())
    damaged[-1] ^= 1
    weights_file.write_bytes(damaged)
    lines: list[str] = []
    train(settings(corpus), run, device="cpu", report=lines.append)
    assert any("step-30" in line and "model.safetensors" in line for line in lines)
    assert_same_training(reference, run)
    for step in saved_steps(run / "checkpoints"):
        (run / "checkpoints" / f"step-{step}" / "MANIFEST.json").unlink()
    with pytest.raises(BundleError, match="every checkpoint is damaged"):
        train(settings(corpus), run, device="cpu", report=lines.append)


def test_changed_settings_and_data_are_refused(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    with pytest.raises(ConfigError, match=r"training.lr: 0.01 \(then\), 0.02 \(now\)"):
        train(settings(corpus, lr=0.02), run, device="cpu", report=lambda line: None)
    lines: list[str] = []
    train(settings(corpus, max_steps=33), run, device="cpu", report=lines.append)
    assert "training.max_steps: 30 -> 33" in lines
    assert saved_steps(run / "checkpoints")[-1] == 33
    changed = shutil.copytree(corpus, tmp_path / "corpus")
    with (
        open(changed / "rows.low", "a", encoding="utf-8") as low,
        open(changed / "rows.up", "a", encoding="utf-8") as up,
    ):
        low.write("a b\n")
        up.write("A B\n")
    run = shutil.copytree(reference, tmp_path / "again", symlinks=True)
    with open(corpus / "rows.low", "rb") as original:
        kept = original.read()
    try:
        shutil.copy(changed / "rows.low", corpus / "rows.low")
        kept_up = (corpus / "rows.up").read_bytes()
        shutil.copy(changed / "rows.up", corpus / "rows.up")
        with pytest.raises(ConfigError):
            train(settings(corpus), run, device="cpu", report=lambda line: None)
    finally:
        (corpus / "rows.low").write_bytes(kept)
        (corpus / "rows.up").write_bytes(kept_up)


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
    for name, after in (("_save", 3), ("_train_step", 3), ("_validate", 2)):
        with monkeypatch.context() as patch:
            _kill_in(patch, name, after=after)
            with pytest.raises(Killed):
                train(settings(corpus), run, device="cpu", report=lambda line: None)
        for pointer in ("best", "last"):
            assert not (run / pointer).is_symlink() or (run / pointer / "MANIFEST.json").exists()
    train(settings(corpus), run, device="cpu", report=lambda line: None)
    assert_same_training(reference, run)
    assert (run / "best").resolve() == (run / "bundles" / (reference / "best").resolve().name)


def test_the_log_is_exact_between_its_lines_too(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rare = settings(corpus, log_every=10)
    train(rare, tmp_path / "whole", device="cpu", report=lambda line: None)
    with monkeypatch.context() as patch:
        _kill_in(patch, "_train_step", after=17)
        with pytest.raises(Killed):
            train(rare, tmp_path / "killed", device="cpu", report=lambda line: None)
    train(rare, tmp_path / "killed", device="cpu", report=lambda line: None)
    assert list(losses(tmp_path / "whole")) == [10, 20, 30]
    assert losses(tmp_path / "whole") == losses(tmp_path / "killed")


def test_other_data_in_the_same_folder_is_refused(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = shutil.copytree(reference, tmp_path / "run", symlinks=True)
    other = shutil.copytree(corpus, tmp_path / "corpus")
    with open(other / "rows.low", "a", encoding="utf-8") as low, open(other / "rows.up", "a", encoding="utf-8") as up:
        low.write("a b\n")
        up.write("A B\n")
    changed = settings(other, max_steps=33)
    prepare(parse_config(changed), run, overwrite=True, report=lambda line: None)
    with pytest.raises(ConfigError, match="the data of this run changed since step 30"):
        train(changed, run, device="cpu", report=lambda line: None)


def test_a_full_disk_keeps_the_last_checkpoint(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """A real limit on the size of files, which the weights exceed: exit code 5, and then it continues."""
    resource = pytest.importorskip("resource")
    run = tmp_path / "run"
    train(settings(corpus, max_steps=12), run, device="cpu", report=lambda line: None)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    told: list[str] = []
    largest = (run / "checkpoints" / "step-12" / "optimizer.safetensors").stat().st_size
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, hard))
        with pytest.raises(DragomanError) as caught:
            train(settings(corpus, save_every=2), run, device="cpu", report=told.append)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert caught.value.exit_code == 5
    assert sum("the last checkpoint is intact" in line for line in told) == 2  # the third failure ends it
    assert saved_steps(run / "checkpoints")[-1] == 12
    assert not list(run.rglob("tmp.step-*"))
    train(settings(corpus), run, device="cpu", report=lambda line: None)
    assert_same_training(reference, run)


def test_a_run_goes_on_elsewhere_without_its_text(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """The run folder is copied; the corpus stays behind. The folder alone says all that is needed."""
    first, there, text = tmp_path / "here", tmp_path / "there" / "run", tmp_path / "text"
    shutil.copytree(corpus, text)
    train(settings(text, max_steps=12), first, device="cpu", report=lambda line: None)
    shutil.move(first, there)
    shutil.rmtree(text)
    assert run(["train", "--output", str(there), "--set", "training.max_steps=30", "--device", "cpu"]) == 0
    assert_same_training(reference, there)


def test_a_disk_that_is_full_for_a_while_costs_nothing(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log, a bundle and a checkpoint cannot be written; later they can."""
    run, told = tmp_path / "run", list[str]()
    for module, name in ((metrics, "append_file"), (run_folder, "save_bundle"), (checkpoint, "save_folder")):
        monkeypatch.setattr(module, name, failing_once(getattr(module, name)))
    train(settings(corpus, save_every=3), run, device="cpu", report=told.append)
    assert sum("the last checkpoint is intact" in line for line in told) == 3
    assert_same_training(reference, run)
    assert logged(run, "validation_loss").keys() == {30}  # the one of step 20 could not be kept, nor could it be best


def failing_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but the first call finds a full disk."""
    calls = itertools.count()

    def fails(*args: Any, **options: Any) -> Any:
        if next(calls) == 0:
            raise ResourceError("no space left on the device")
        return function(*args, **options)

    return fails


def test_what_will_not_fit_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"1,152,921,504,606,846,976 bytes needed, .* free"):
        require_space(tmp_path, 2**60)


def test_a_run_folder_has_one_trainer(corpus: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    program = (
        "import sys, time; from pathlib import Path; from dragoman.storage import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(RunFolderError, match="in use by process"):
            train(settings(corpus), tmp_path, device="cpu", report=lambda line: None)
        other.kill()
    assert time.monotonic() - started < 30
    with lock_folder(tmp_path):
        pass


def test_numbers_that_are_not_finite_are_never_saved(corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
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
            report=lambda line: None,
        )
    assert caught.value.exit_code == 4
    assert saved_steps(run / "checkpoints")
    for step in saved_steps(run / "checkpoints"):
        tensors = load_file(run / "checkpoints" / f"step-{step}" / "model.safetensors")
        assert all(tensor.isfinite().all() for tensor in tensors.values())


def test_fine_tuning_starts_from_the_bundle(corpus: Path, reference: Path, tmp_path: Path) -> None:
    data = {"data": settings(corpus)["data"]}
    tuning = {
        **data,
        "training": {
            "max_steps": 2,
            "warmup_steps": 1,
            "lr": 1e-6,
            "batch_tokens": 200,
            "log_every": 1,
            "label_smoothing": 0.0,
        },
    }
    lines: list[str] = []
    train(tuning, tmp_path / "run", init_from=reference / "last", device="cpu", report=lines.append)
    start = load_file(reference / "last" / "model.safetensors")
    tuned = load_file(tmp_path / "run" / "last" / "model.safetensors")
    assert all(torch.allclose(start[name], tuned[name], atol=1e-4) for name in start)
    with pytest.raises(ConfigError, match="differs from the bundle"):
        train({**tuning, "model": {"d_ff": 64}}, tmp_path / "other", init_from=reference / "last", device="cpu")
    with pytest.raises(ConfigError, match=r"tokenizer.min_count differs from the bundle"):
        train({**tuning, "tokenizer": {"min_count": 5}}, tmp_path / "other", init_from=reference / "last", device="cpu")


def test_tensorboard_gets_the_same_figures(corpus: Path, tmp_path: Path) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tmp_path / "run"
    train(settings(corpus, max_steps=3, warmup_steps=1, tensorboard=True), run, device="cpu", report=lambda line: None)
    events = event_accumulator.EventAccumulator(str(run / "tensorboard")).Reload()
    board = {event.step: event.value for event in events.Scalars("loss")}
    assert board == pytest.approx(losses(run))


def test_the_plan_fits_the_corpus_and_yields_to_the_person() -> None:
    latin = [("a big brown dog runs over the field to its left", "ein großer brauner Hund läuft über das Feld")] * 10
    chosen, reasons = plan({}, 20_000, latin)
    assert chosen["model"]["preset"] == "tiny"
    assert len(reasons) >= 2
    assert plan({}, 5_000_000, latin)[0]["model"]["preset"] == "base"
    assert plan({}, 20_000, [("a dog runs", "狗在跑")] * 10)[0]["tokenizer"] == {"joint": False}
    chosen, _ = plan({"model": {"d_model": 64}, "training": {"max_steps": 7}}, 20_000, latin)
    assert chosen["model"] == {"d_model": 64}
    assert "max_epochs" not in chosen["training"]
