"""Training in float16: nearly the losses of float32, a scale that follows from the steps, and the same bits again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from runs import assert_same_training, losses, settings
from torch import Tensor

from dragoman.training import train
from dragoman.training.checkpoint import Progress, saved_steps
from dragoman.training.gradient import Gradients
from dragoman.training.loss_scale import LossScale
from dragoman.training.trainer import Trainer

pytestmark = pytest.mark.torch


def half(corpus: Path, **training: Any) -> dict[str, Any]:
    return settings(corpus, precision="float16", **training)


def state(run: Path) -> dict[str, Any]:
    newest = run / "checkpoints" / f"step-{saved_steps(run / 'checkpoints')[-1]}"
    loaded: dict[str, Any] = json.loads((newest / "state.json").read_text())
    return loaded


def test_float16_learns_what_float32_does(corpus: Path, tmp_path: Path) -> None:
    plain, narrow = settings(corpus, max_steps=12), half(corpus, max_steps=12)
    for each in (plain, narrow):
        each["model"]["dropout"] = 0.0
    train(plain, tmp_path / "plain", device="cpu")
    train(narrow, tmp_path / "narrow", device="cpu")
    assert losses(tmp_path / "narrow") != losses(tmp_path / "plain")
    assert losses(tmp_path / "narrow") == pytest.approx(losses(tmp_path / "plain"), rel=0.01)
    assert state(tmp_path / "narrow")["loss_scale"] == 2.0**16
    assert state(tmp_path / "narrow")["loss_scale_steps"] == 12
    assert state(tmp_path / "plain")["loss_scale"] is None


def test_the_scale_changes_no_gradient(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32, whose range every scale leaves alone."""
    found: dict[float | None, list[Tensor]] = {}

    def watched(trainer: Trainer, micro_batches: Any) -> None:
        model = trainer.state.model
        for scale in (None, 1.0, 2.0**10):
            used = None if scale is None else LossScale(model, Progress(loss_scale=scale))
            Gradients(model, trainer.training, trainer.processes).of_batch(micro_batches, "float32", used)
            found[scale] = [parameter.grad.clone() for parameter in model.parameters()]  # type: ignore[union-attr]
            model.zero_grad()
        trainer.state.progress.step += 1

    chosen = settings(corpus, max_steps=1, warmup_steps=1)
    chosen["model"]["dropout"] = 0.0
    monkeypatch.setattr(Trainer, "train_step", watched)
    train(chosen, tmp_path / "run", device="cpu")
    for scale in (1.0, 2.0**10):
        assert all(torch.equal(one, other) for one, other in zip(found[None], found[scale], strict=True))


def test_a_gradient_that_is_not_finite_halves_the_scale(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is skipped; a run that is stopped there goes on with the halved scale, to the same bits."""
    real = Gradients.of_batch
    n_calls = 0

    def overflowing(gradients: Gradients, micro_batches: Any, precision: str, scale: Any = None) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:
            monkeypatch.setattr(scale, "scale", lambda loss: loss * torch.inf)
        return real(gradients, micro_batches, precision, scale)

    monkeypatch.setattr(Gradients, "of_batch", overflowing)
    train(half(corpus, max_steps=9), tmp_path / "whole", device="cpu")
    assert state(tmp_path / "whole")["skipped_steps"] >= 1
    assert state(tmp_path / "whole")["loss_scale"] < 2.0**16


def test_a_stopped_run_goes_on_to_the_same_bits(corpus: Path, tmp_path: Path) -> None:
    train(half(corpus, max_steps=14), tmp_path / "whole", device="cpu")
    train(half(corpus, max_steps=7, schedule="constant"), tmp_path / "other", device="cpu")
    train(half(corpus, max_steps=14, schedule="constant"), tmp_path / "other", device="cpu")
    train(half(corpus, max_steps=14, schedule="constant"), tmp_path / "unbroken", device="cpu")
    assert state(tmp_path / "other")["loss_scale_steps"] == 14
    assert_same_training(tmp_path / "other", tmp_path / "unbroken")
