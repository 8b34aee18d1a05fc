"""The training that is chosen for a GPU, by its memory and its speed. The GPU is made up: its steps are not made."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from runs import captured_log, settings

from dragoman.machine.locks import lock_folder
from dragoman.machine.processes import Processes
from dragoman.settings.presets import PRESETS
from dragoman.training import budget, timed
from dragoman.training.budget import fitting_micro_batch
from dragoman.training.checkpoint import Progress
from dragoman.training.resolve import ON_GPU, Resolved, resolve_run
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import GPU_SIZES, SIZES, best_batch_tokens, gpu_sizes_for_time, sizes_for
from dragoman.training.time_plan import GPU_VALIDATION_SHARE, Speed
from dragoman.training.timed import TimedStart
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState

pytestmark = pytest.mark.torch

GPU = torch.device("cuda")


@given(st.floats(0, 1), st.floats(1e-8, 1e-2), st.integers(5, 18))
def test_the_batch_is_the_one_that_teaches_most_in_a_second(start: float, each: float, log_critical: int) -> None:
    critical, sizes = 2**log_critical, [2**power for power in range(8, 17)]
    chosen = best_batch_tokens({n: start + each * n for n in (sizes[0], sizes[-1])}, critical)
    taught = {n: n / (n + critical) / (start + each * n) for n in sizes}
    assert chosen in sizes
    assert taught[chosen] >= 0.98 * max(taught.values())  # the best one lies between two powers


def test_without_launching_there_is_no_reason_for_large_batches() -> None:
    """On a CPU, whose time is all products; so the rule explains both tables."""
    assert best_batch_tokens({1024: 0.1, 16_384: 1.6}, 8192) == 1024
    assert best_batch_tokens({1024: 0.005, 16_384: 0.0052}, 8192) == 16_384


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A GPU whose steps take `launch` seconds and one for each `speed` tokens of 128 dimensions."""
    made_up = SimpleNamespace(launch=0.003, speed=2e6, memory=80 * 2**30, measured=[])

    def step(trainer: Trainer, seconds: float) -> float:
        model, n_tokens = trainer.state.model.config, trainer.training.batch_tokens
        made_up.measured.append((model.d_model, n_tokens))
        size = (model.d_model / 128) ** 1.5 * (model.n_encoder_layers + model.n_decoder_layers) / 8
        return float(made_up.launch + n_tokens * size / made_up.speed)

    real = timed.build_model
    monkeypatch.setattr(
        timed, "build_model", lambda config, prepared, device: real(config, prepared, torch.device("cpu"))
    )
    monkeypatch.setattr(timed, "seconds_of_step", step)
    monkeypatch.setattr(timed, "measure_speed", lambda trainer, prepared, s: Speed(step(trainer, s), 0.8))
    monkeypatch.setattr(timed, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(timed, "choose_precision", lambda config, device: ("bfloat16", ""))
    monkeypatch.setattr(budget, "choose_precision", lambda config, device: ("bfloat16", ""))
    monkeypatch.setattr(budget, "available_memory", lambda device: made_up.memory)
    return made_up


def plan_for(corpus: Path, run: Path, limit: float, **training: Any) -> tuple[Resolved, list[str]]:
    asked = {"data": settings(corpus)["data"], "tokenizer": {"kind": "characters"}, "training": training}
    with captured_log() as lines:
        resolved = TimedStart(asked, limit, RunFolder(run), None, GPU, began=0.0).resolve()
    return resolved, lines


def test_a_faster_gpu_and_more_time_give_a_larger_model(
    corpus: Path, tmp_path: Path, gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed, "gpu_sizes_for_time", lambda n_pairs: GPU_SIZES[:3])
    monkeypatch.setattr(timed.Size, "passes", lambda size, n_pairs: size.pairs_seen // 100)
    widths = []
    for number, (speed, limit) in enumerate([(2e4, 60), (2e6, 180), (2e7, 600), (2e7, 6000)]):
        gpu.speed = speed
        resolved, lines = plan_for(corpus, tmp_path / str(number), limit)
        model, training = resolved.config.model, resolved.config.training
        widths.append(model.d_model)
        row = next(size for size in GPU_SIZES if size.preset == resolved.chosen["model.preset"])
        assert resolved.chosen[ON_GPU]
        assert resolved.chosen["training.batch_tokens"] == training.batch_tokens
        assert training.optimizer == "muon"
        assert training.schedule == "cosine"
        assert training.warmup_steps <= resolved.chosen["training.max_steps"] / 4
        assert row.training["lr"] / 2 <= training.lr <= row.training["lr"] * 2
        n_validations = math.ceil(training.max_steps / training.validate_every)
        assert n_validations == 2 or n_validations * 0.8 <= GPU_VALIDATION_SHARE * limit + 0.8
        assert training.max_steps * gpu.launch < limit
        assert sum("are left; a step takes" in line for line in lines) == 1
        assert sum("model.preset=" in line for line in lines) == 1
    assert widths == sorted(widths)
    assert widths[0] == PRESETS["tiny"]["d_model"]
    assert widths[-1] > widths[0]


def test_a_batch_that_the_person_gives_stays(corpus: Path, tmp_path: Path, gpu: SimpleNamespace) -> None:
    resolved, _ = plan_for(corpus, tmp_path / "run", 60, batch_tokens=2048)
    assert resolved.config.training.batch_tokens == 2048
    assert {n_tokens for _, n_tokens in gpu.measured} == {2048}


@pytest.mark.parametrize(("gib", "n_tokens"), [(80, None), (24, None), (4, 8192), (0.8, 512)])
def test_micro_batches_fit_into_the_memory(
    corpus: Path, tmp_path: Path, gpu: SimpleNamespace, gib: float, n_tokens: int | None
) -> None:
    asked = {"data": settings(corpus)["data"], "tokenizer": {"kind": "characters"}, "model": {"preset": "base"}}
    config, prepared = resolve_run(asked | {"training": {"batch_tokens": 16_384}}, RunFolder(tmp_path / "run"), None)
    gpu.memory = round(gib * 2**30)
    size = fitting_micro_batch(config, prepared, GPU, Processes())
    assert (size or 16_384) <= (n_tokens or 16_384)
    assert (size is None) == (n_tokens is None)
    assert fitting_micro_batch(config, prepared, torch.device("cpu"), Processes()) is None


@pytest.mark.parametrize("limit", [None, 60.0])
def test_a_run_that_began_on_a_gpu_goes_on_anywhere(
    corpus: Path, tmp_path: Path, gpu: SimpleNamespace, limit: float | None
) -> None:
    """With the same settings, though the table for CPUs has others; a line tells the length, if no time says it."""
    asked = {"data": settings(corpus)["data"], "tokenizer": {"kind": "characters"}}
    run = RunFolder(tmp_path / "run")
    if limit is None:
        config, prepared = resolve_run(asked, run, None, on_gpu=True)
        chosen = {ON_GPU: True, "training.batch_tokens": config.training.batch_tokens}
        assert config.training.batch_tokens == GPU_SIZES[0].training["batch_tokens"]
    else:
        resolved, _ = plan_for(corpus, run.path, limit)
        config, prepared, chosen = resolved.config, resolved.prepared, dict(resolved.chosen)
    model = budget.build_model(config, prepared, torch.device("cpu"))
    progress = Progress(step=1, chosen_for_time=chosen)
    with lock_folder(run.path):
        run.save(TrainingState.at_start(model, config.training, progress).checkpoint(), 2)
    with captured_log() as lines:
        assert resolve_run(asked, run, None)[0] == config
    assert any("kept" in line and "training.max_epochs" in line for line in lines) == (limit is None)


def test_each_corpus_has_its_usual_row_on_a_gpu_too() -> None:
    for n_pairs in (100, 150_000, 500_000, 5_000_000, 10**8):
        rows, with_time = sizes_for(n_pairs, on_gpu=True), gpu_sizes_for_time(n_pairs)
        assert with_time[: len(rows)] == rows
        assert all(size.dropout == 0.3 for size in with_time[len(rows) :])
        assert ("big" in {size.preset for size in with_time}) == (n_pairs >= 1_000_000)
        assert sizes_for(n_pairs)[-1] in SIZES
