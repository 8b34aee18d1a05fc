"""The loss and the schedule against PyTorch and their formulas."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from models import sentences, small_model
from torch.utils._python_dispatch import TorchDispatchMode

from dragoman.data.batches import Batch
from dragoman.settings.training_config import TrainingConfig
from dragoman.training import loss as loss_module
from dragoman.training.loss import Labels, _ChunkedLoss, batch_loss, n_target_tokens, token_losses
from dragoman.training.schedule import learning_rate

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_token_losses_equal_pytorchs(smoothing: float) -> None:
    logits, targets = torch.randn(7, 11, dtype=torch.float64), torch.randint(0, 11, (7,))
    loss, nll = token_losses(logits, targets, smoothing)
    assert loss == pytest.approx(F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum").item())
    assert nll == pytest.approx(F.cross_entropy(logits, targets, reduction="sum").item())


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tie", ["none", "all"])
def test_the_chunked_loss_and_its_gradients_equal_pytorchs(
    smoothing: float, tie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", 2)
    model = small_model(tie=tie)
    batch = Batch(sentences([4, 5, 3], [6, 3]), sentences([2, 7, 8, 9, 3], [2, 4, 3]))
    read, expected = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
    logits = model(batch.source_ids, read).flatten(0, 1)
    plain = F.cross_entropy(logits, expected.flatten(), ignore_index=0, label_smoothing=smoothing, reduction="sum")
    grads = torch.autograd.grad(plain, list(model.parameters()))
    loss, nll = batch_loss(model, batch, smoothing)
    assert loss.item() == pytest.approx(plain.item(), rel=1e-6)  # sums are kept in float32
    assert nll.item() == pytest.approx(
        F.cross_entropy(logits, expected.flatten(), ignore_index=0, reduction="sum").item()
    )
    (3 * loss).backward()
    for parameter, grad in zip(model.parameters(), grads, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, 3 * grad, atol=1e-5)
    with torch.no_grad():
        assert batch_loss(model, batch, smoothing)[0].item() == pytest.approx(plain.item(), rel=1e-6)
    assert n_target_tokens(batch, 0) == 6


@pytest.mark.parametrize("chunk_tokens", [512, 10, 4])
@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_the_loss_in_bfloat16_is_near(r_drop: float, chunk_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its products take numbers of 8 bits precision, so each gradient is right to about 2 ** -8 of its size."""
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", chunk_tokens)
    batch = Batch(sentences([4, 5, 3], [6, 3]), sentences([2, 7, 8, 9, 3], [2, 4, 3]))
    found = {}
    for enabled in (False, True):
        hidden = torch.randn(2 if r_drop else 1, 6, 16, generator=torch.Generator().manual_seed(1), requires_grad=True)
        targets = batch.target_ids[:, 1:][batch.target_ids[:, 1:] != 0]
        weight, bias = (torch.randn(size, generator=torch.Generator().manual_seed(2)) for size in ((40, 16), (40,)))
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            loss, nll = _ChunkedLoss.apply(
                hidden, weight.requires_grad_(), bias.requires_grad_(), Labels(targets, 0.1, r_drop)
            )
        found[enabled] = loss, nll, *torch.autograd.grad(loss, (hidden, weight, bias))
    for coarse, fine in zip(found[True], found[False], strict=True):
        assert coarse.dtype == torch.float32
        assert 0 < (coarse - fine).norm() < 0.02 * fine.norm()


@pytest.mark.parametrize("is_compiled", [True, False])
def test_an_impossible_target_still_teaches(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_compiled:
        monkeypatch.setattr("dragoman.native.fused.library", lambda: None)
    hidden, weight = torch.tensor([[[1000.0]]], requires_grad=True), torch.tensor([[1.0], [0.0], [0.5]])
    loss, nll = _ChunkedLoss.apply(hidden, weight.requires_grad_(), None, Labels(torch.tensor([1]), 0.0))
    assert loss.item() == nll.item() == pytest.approx(1000.0 if is_compiled else 87.3, abs=0.1)
    hidden_grad, weight_grad = torch.autograd.grad(loss, (hidden, weight))
    assert hidden_grad.item() == 1.0
    assert weight_grad.flatten().tolist() == [1000.0, -1000.0, 0.0]


def test_a_loss_is_at_least_that_of_a_model_that_knows_nothing_but_the_smoothing() -> None:
    """Also where the target's probability is no float: -log p >= 0, and the mean over all tokens >= log V."""
    hidden, weight = torch.full((1, 1, 1), 1000.0, requires_grad=True), torch.linspace(-1, 1, 20)[:, None]
    loss, _ = _ChunkedLoss.apply(hidden, weight.requires_grad_(), None, Labels(torch.tensor([3]), 0.1))
    assert loss.item() > 0.1 * math.log(20)
    plain = F.cross_entropy(hidden[0] @ weight.T, torch.tensor([3]), label_smoothing=0.1)
    for found, expected in zip(
        torch.autograd.grad(loss, (hidden, weight)), torch.autograd.grad(plain, (hidden, weight)), strict=True
    ):
        assert torch.allclose(found, expected, rtol=1e-5)


def test_the_scores_of_a_batch_are_never_held_at_once() -> None:
    """Neither forwards nor backwards; only those of a chunk are."""

    class Largest(TorchDispatchMode):
        n_numbers = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            for tensor in result if isinstance(result, list | tuple) else [result]:
                if isinstance(tensor, torch.Tensor):
                    self.n_numbers = max(self.n_numbers, tensor.numel())
            return result

    n_tokens, vocab_size, width = 8 * loss_module.CHUNK_TOKENS, 4000, 8
    hidden, weight = torch.randn(1, n_tokens, width, requires_grad=True), torch.randn(vocab_size, width)
    targets = torch.randint(vocab_size, (n_tokens,))
    for counted in (None, torch.ones(n_tokens)):
        with Largest() as largest:
            args = hidden, weight.requires_grad_(), torch.zeros(vocab_size, requires_grad=True)
            _ChunkedLoss.apply(*args, Labels(targets, 0.1, counted=counted))[0].backward()
        assert largest.n_numbers <= loss_module.CHUNK_TOKENS * vocab_size


def test_only_the_loss_has_gradients() -> None:
    model = small_model()
    loss, nll = batch_loss(model, Batch(sentences([4, 3]), sentences([2, 7, 3])), 0.1)
    assert loss.requires_grad
    assert not nll.requires_grad


@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_a_batch_without_target_tokens_costs_nothing(r_drop: float) -> None:
    model = small_model()
    loss, nll = batch_loss(model, Batch(sentences([4, 3]), sentences([2, 0, 0])), 0.1, r_drop)
    assert loss.item() == nll.item() == 0
    loss.backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.parameters())


def test_without_gradients_a_batch_is_read_once() -> None:
    model, batch = small_model(dropout=0.3), Batch(sentences([4, 5, 3], [6, 3]), sentences([2, 7, 8, 3], [2, 4, 3]))
    with torch.no_grad():
        assert batch_loss(model.eval(), batch, 0.1, 5.0) == batch_loss(model, batch, 0.1)


@pytest.mark.parametrize("tie", ["none", "all"])
def test_r_drop_and_its_gradients_equal_the_formula(tie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", 4)  # two rows of each pass
    model = small_model(tie=tie, dropout=0.3).train()
    batch = Batch(sentences([4, 5, 3], [6, 3]), sentences([2, 7, 8, 9, 3], [2, 4, 3]))
    real = batch.target_ids[:, 1:] != 0
    expected = batch.target_ids[:, 1:][real]
    torch.manual_seed(5)
    twice = model(batch.source_ids.repeat(2, 1), batch.target_ids[:, :-1].repeat(2, 1))
    first, second = (each[real] for each in twice.chunk(2))
    losses = [F.cross_entropy(each, expected, label_smoothing=0.1, reduction="sum") for each in (first, second)]
    logs = first.log_softmax(-1), second.log_softmax(-1)
    divergences = [F.kl_div(q, p, log_target=True, reduction="sum") for p, q in (logs, logs[::-1])]
    plain = (sum(losses) + 5.0 * sum(divergences) / 2) / 2
    grads = torch.autograd.grad(plain, list(model.parameters()))
    torch.manual_seed(5)
    loss, nll = batch_loss(model, batch, 0.1, r_drop=5.0)
    assert divergences[0].item() > 0.1
    assert loss.item() == pytest.approx(plain.item(), rel=1e-6)
    assert nll.item() == pytest.approx(-sum(each.gather(-1, expected[:, None]).sum() for each in logs).item() / 2)
    (3 * loss).backward()
    for parameter, grad in zip(model.parameters(), grads, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, 3 * grad, atol=1e-5)


def test_the_papers_schedule() -> None:
    training = TrainingConfig(warmup_steps=4000)
    for step in (1, 100, 4000, 10_000, 100_000):
        formula = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(step, training, 512, 100_000) == pytest.approx(formula)


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "linear", "constant"])
def test_schedules_warm_up_to_the_peak_and_never_rise_again(schedule: str) -> None:
    training = TrainingConfig.model_validate({"schedule": schedule, "warmup_steps": 10, "lr": 0.5, "max_steps": 100})
    rates = [learning_rate(step, training, 512, 100) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([0.05 * step for step in range(1, 11)])
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates[9:]))
    end = {"inverse_sqrt": 0.5 * (10 / 100) ** 0.5, "cosine": 0.0, "linear": 0.0, "constant": 0.5}[schedule]
    assert rates[-1] == pytest.approx(end, abs=1e-9)
