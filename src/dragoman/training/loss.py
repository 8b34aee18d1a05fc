"""Cross-entropy with label smoothing, as a sum and a count of target tokens.

The trainer divides by the count over all micro-batches and processes of a step, so that how a step is cut changes
nothing. P passes over a batch (one, or two for R-Drop), M target tokens, D model width, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.data.batches import Batch
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer

#: Scores held at once, in numbers. The whole (M, V) matrix never exists; a piece of it stays in the processor's cache.
CHUNK_SCORES = 1 << 20


def token_losses(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """The two sums the training works with, from logits (M, V) and targets (M,), written plainly.

    Returns:
        The sum of the smoothed loss (section 5.4; Szegedy et al. 2016), in which the target has probability
        1 - smoothing and smoothing is spread evenly over all V tokens; and the sum of -log p(target), in nats.
    """
    log_probs = logits.log_softmax(dim=-1)
    nll = -log_probs.gather(-1, targets[:, None]).sum()
    return (1 - smoothing) * nll - smoothing * log_probs.mean(dim=-1).sum(), nll


class _ChunkedLoss(torch.autograd.Function):
    """`token_losses` of a projection, a few hundred tokens at a time, with its gradients computed on the way.

    The gradient of the loss with respect to the scores is softmax - (1 - smoothing) * onehot - smoothing / V. Since it
    is known as soon as a chunk's scores are, the chunk need not be kept for the backward pass. Several passes count as
    their mean.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, r_drop: float
    ) -> tuple[Tensor, Tensor]:
        """hidden (P, M, D), weight (V, D), bias (V,), targets (M,) -> the sums of the loss and of -log p(target)."""
        vocab_size, kind, n_passes = weight.size(0), hidden.device.type, len(hidden)
        n_rows = max(1, CHUNK_SCORES // (n_passes * vocab_size))
        wide = torch.promote_types(hidden.dtype, torch.float32)  # sums and exponentials want at least float32
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype  # of the products
        loss, nll = hidden.new_zeros((), dtype=wide), hidden.new_zeros((), dtype=wide)
        hidden_grad, weight_grad = torch.empty_like(hidden), torch.zeros_like(weight)
        bias_grad = None if bias is None else torch.zeros_like(bias)
        hidden, matrix = hidden.to(narrow), weight.to(narrow)
        for start in range(0, len(targets), n_rows):
            chunk, target = hidden[:, start : start + n_rows], targets[None, start : start + n_rows, None]
            target = target.expand(n_passes, -1, 1)
            scores = F.linear(chunk, matrix, bias).to(wide)
            best, mean, expected = scores.amax(dim=-1, keepdim=True), scores.mean(dim=-1), scores.gather(-1, target)
            gap = scores[0] - scores[1] if r_drop else None
            grad = scores.sub_(best).exp_()  # one exponential serves the loss and the gradient
            total = grad.sum(dim=-1, keepdim=True)
            normaliser = (best + total.log())[..., 0]
            chunk_nll = (normaliser - expected[..., 0]).sum()
            nll += chunk_nll
            loss += (1 - smoothing) * chunk_nll + smoothing * (normaliser - mean).sum()
            grad /= total
            if gap is not None:
                gap -= (normaliser[0] - normaliser[1])[:, None]
                divergence, pull = _divergence(grad, gap)
                loss += r_drop * divergence
                grad.add_(pull, alpha=r_drop)
            if smoothing:
                grad -= smoothing / vocab_size
            grad.scatter_add_(-1, target, grad.new_full(target.shape, smoothing - 1))
            grad = grad.to(narrow)
            hidden_grad[:, start : start + n_rows] = grad @ matrix
            grad, chunk = grad.flatten(0, 1), chunk.flatten(0, 1)
            if bias_grad is not None:
                bias_grad += grad.sum(dim=0)
            if narrow == weight_grad.dtype:
                weight_grad.addmm_(grad.T, chunk)  # without a matrix in between
            else:
                weight_grad += grad.T @ chunk
        ctx.save_for_backward(hidden_grad, weight_grad, bias_grad)
        ctx.mark_non_differentiable(nll)
        ctx.n_passes = n_passes
        return loss / n_passes, nll / n_passes

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        hidden_grad, weight_grad, bias_grad = ctx.saved_tensors
        scale = grads[0] / ctx.n_passes
        return hidden_grad * scale, weight_grad * scale, None if bias_grad is None else bias_grad * scale, *[None] * 3


def _divergence(probs: Tensor, gap: Tensor) -> tuple[Tensor, Tensor]:
    """How far two distributions p, q are apart: (KL(p, q) + KL(q, p)) / 2, summed, and its gradient by their scores.

    The gradient of KL(p, q) is p (log p - log q - KL(p, q)) by the scores of p, and q - p by those of q.

    Args:
        probs: p and q, (2, M, V).
        gap: log p - log q, (M, V).
    """
    p, q = probs
    weighted = torch.stack((p * gap, q * -gap))
    each = weighted.sum(dim=-1, keepdim=True)
    apart = p - q
    pull = weighted.addcmul_(probs, each, value=-1)
    pull[0] += apart
    pull[1] -= apart
    return each.sum() / 2, pull.div_(2)


def batch_loss(model: Transformer, batch: Batch, smoothing: float, r_drop: float = 0.0) -> tuple[Tensor, Tensor]:
    """Teacher forcing on one batch: the decoder reads all but the last target id, and is scored on all but the first.

    Args:
        model: while it trains, a second pass draws other dropout masks than the first.
        batch: B pairs.
        smoothing: that of the labels.
        r_drop: above 0, every pair is read twice, and the two distributions of each target token are pulled together
            with this weight (Liang et al. 2021, equation 4, here divided by the two passes). Only with gradients.

    Returns:
        The sums of `token_losses` over the target tokens that are not padding.
    """
    pad_id, n_passes = model.config.pad_id, 2 if r_drop else 1
    source, target = batch.source_ids.repeat(n_passes, 1), batch.target_ids.repeat(n_passes, 1)
    hidden = model.decode(target[:, :-1], model.encode(source), padding_mask(source, pad_id))
    real = target[:, 1:] != pad_id
    hidden, targets = hidden[real], batch.target_ids[:, 1:][real[: len(batch.target_ids)]]
    projection = model.output_projection
    if not torch.is_grad_enabled():
        n_rows = max(1, CHUNK_SCORES // projection.out_features)
        chunks = zip(hidden.split(n_rows), targets.split(n_rows), strict=True)
        losses, nlls = zip(
            *(token_losses(projection(chunk), target, smoothing) for chunk, target in chunks), strict=True
        )
        return torch.stack(losses).sum(), torch.stack(nlls).sum()
    sums: tuple[Tensor, Tensor] = _ChunkedLoss.apply(  # type: ignore[no-untyped-call]
        hidden.view(n_passes, len(targets), -1), projection.weight, projection.bias, targets, smoothing, r_drop
    )
    return sums


def n_target_tokens(batch: Batch, pad_id: int) -> int:
    """How many target tokens `batch_loss` scores."""
    return int((batch.target_ids[:, 1:] != pad_id).sum())
