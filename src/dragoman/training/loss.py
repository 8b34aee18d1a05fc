"""Cross-entropy with label smoothing, as a sum and a count of target tokens.

The trainer divides by the count over all micro-batches and processes of a step, so that how a step is cut changes
nothing. P passes over a batch (one, or two for R-Drop), M target tokens, D model width, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.data.batches import Batch
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.native import fused

#: Tokens whose scores are held at once, of thousands in a batch. With fewer, adding up the gradient of the weights
#: costs more than its products; with more, the scores of small vocabularies leave the processor's cache.
CHUNK_TOKENS = 512
#: The same on a GPU, whose large products are the fast ones: 250 MiB of scores for 32,000 words in 16 bits.
GPU_CHUNK_TOKENS = 4096


def chunk_tokens(device: str) -> int:
    """Return the number of tokens whose scores are held at once, given the type of a device."""
    return CHUNK_TOKENS if device == "cpu" else GPU_CHUNK_TOKENS


def token_losses(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the two sums that training needs, from logits (M, V) and targets (M,), written plainly.

    Returns:
        The sum of the smoothed loss (section 5.4; Szegedy et al. 2016), in which the target has probability
        1 - smoothing and smoothing is spread evenly over all V tokens; and the sum of -log p(target), in nats.
    """
    log_probs = logits.log_softmax(dim=-1)
    nll = -log_probs.gather(-1, targets[:, None]).sum()
    return (1 - smoothing) * nll - smoothing * log_probs.mean(dim=-1).sum(), nll


@dataclass(frozen=True)
class Labels:
    """The labels that M positions are scored on.

    Args:
        ids: of the target tokens, (M,).
        smoothing: share of the probability that is spread over all tokens.
        r_drop: weight of R-Drop, for two passes.
        counted: (M,), 1 for each target, and 0 for padding, whose hidden vectors are zeros; None counts all.
    """

    ids: Tensor
    smoothing: float
    r_drop: float = 0.0
    counted: Tensor | None = None


class _ChunkedLoss(torch.autograd.Function):
    """`token_losses` of a projection, a few hundred tokens at a time, with its gradients computed on the way.

    The loss of a token is log(sum(exp(scores))) less the mean of the scores under the smoothed labels. The gradient of
    the first by the scores is their softmax, known as soon as a chunk's scores are, so that no chunk is kept for the
    backward pass. The second is linear in the weights, and needs no scores at all. Several passes count as their mean.
    PyTorch 2.13 has `linear_cross_entropy` for it, which returns only one of the two sums, and knows no R-Drop.

    Products, and the scores between them, are in the type that autocast wants, all sums at least in float32. Without
    the compiled functions, a probability too small for a float counts as the smallest one: such a token has 87 nats,
    and its loss is one that is too small, but the gradient is right.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Labels) -> tuple[Tensor, Tensor]:
        """hidden (P, M, D), weight (V, D), bias (V,) -> the sums of the loss and of -log p(target)."""
        smoothing, counted = labels.smoothing, labels.counted
        (n_passes, n_tokens, n_inputs), vocab_size, kind = hidden.shape, weight.size(0), hidden.device.type
        wide = torch.promote_types(hidden.dtype, torch.float32)
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        n_rows = chunk_tokens(kind) // n_passes
        offset = weight.new_zeros(vocab_size) if bias is None else bias
        with torch.autocast(kind, enabled=False):  # it would compute each softmax in float32
            hidden_grad, weight_grad, bias_grad = _label_gradients(hidden, weight, labels)
            rows, matrix = hidden.to(narrow), weight.to(narrow)
            if narrow == torch.bfloat16 and kind == "cpu" and n_tokens > n_rows:
                # PyTorch compiles such a product for each shape, so the last chunk has the shape of the others.
                rows = F.pad(rows, (0, 0, 0, -n_tokens % n_rows))
            uniform = weight.mean(dim=0, keepdim=True), offset.mean(dim=0, keepdim=True)
            log_vocab_size = math.log(vocab_size)
            # Allocating these anew would cost more than the products that fill them.
            buffer = rows.new_empty(min(n_passes * rows.size(1), n_passes * n_rows), vocab_size)
            product = None if narrow == weight_grad.dtype else torch.empty_like(matrix)
            loss, nll = hidden.new_zeros((), dtype=wide), hidden.new_zeros((), dtype=wide)
            for span in (slice(start, start + n_rows) for start in range(0, n_tokens, n_rows)):
                target, chunk = labels.ids[None, span].expand(n_passes, -1), rows[:, span].flatten(0, 1)
                scores = torch.mm(chunk, matrix.T, out=buffer[: len(chunk)]).unflatten(0, (n_passes, -1))
                probs, log_probs, normalisers, divergence = _softmax(scores, bias, target, labels.r_drop)
                means = F.linear(hidden[:, span], *uniform).squeeze(-1)
                gaps = torch.maximum(normalisers, means + log_vocab_size) - means  # at least that: Jensen
                real_probs = probs[:, : target.size(1)]
                if counted is not None:
                    log_probs, gaps = log_probs * counted[span], gaps * counted[span]
                nll -= log_probs.sum()
                loss += smoothing * gaps.sum() - (1 - smoothing) * log_probs.sum() + divergence
                if bias is not None:
                    bias_grad += (
                        real_probs.sum(dim=(0, 1))
                        if counted is None
                        else (counted[span].to(probs.dtype) @ real_probs).sum(dim=0)
                    )
                flat = probs.flatten(0, 1)
                hidden_grad[:, span] += (flat @ matrix).view(n_passes, -1, n_inputs)[:, : target.size(1)]
                _add_product(weight_grad, flat.T, chunk, product)
        ctx.save_for_backward(hidden_grad, weight_grad, None if bias is None else bias_grad)
        ctx.n_passes = n_passes
        loss, nll = loss / n_passes, nll / n_passes
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        hidden_grad, weight_grad, bias_grad = ctx.saved_tensors
        scale = grads[0] / ctx.n_passes
        return hidden_grad * scale, weight_grad * scale, None if bias_grad is None else bias_grad * scale, None


def _add_product(total: Tensor, left: Tensor, right: Tensor, product: Tensor | None) -> None:
    """Add the product of two matrices to `total`, with `product` as working space if its type is another one."""
    if product is None:
        total.addmm_(left, right)
    elif fused.is_supported(left) and total.dtype == torch.float32:
        fused.add_(total, torch.mm(left, right, out=product))
    else:
        total += torch.mm(left, right, out=product)


def _label_gradients(hidden: Tensor, weight: Tensor, labels: Labels) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the second part, -(1 - smoothing) score(target) - smoothing / V sum(scores), over all
    tokens.

    hidden (P, M, D), weight (V, D) -> by hidden (P, M, D), by weight (V, D), by bias (V,).
    """
    (n_passes, n_tokens, _), vocab_size = hidden.shape, weight.size(0)
    targets, smoothing, counted = labels.ids, labels.smoothing, labels.counted
    n_counted = n_tokens if counted is None else counted.sum()
    ones = weight.new_ones(n_tokens) if counted is None else counted.to(weight.dtype)
    wanted = weight[targets].mul_(1 - smoothing).add_(weight.mean(dim=0), alpha=smoothing)
    # Not `bincount`, which reads a number from the GPU. Hidden vectors of padding are zeros, and add nothing.
    summed, counts = hidden.sum(dim=0), weight.new_zeros(vocab_size).index_add_(0, targets, ones) * n_passes
    weight_grad = torch.zeros_like(weight).index_add_(0, targets, summed, alpha=smoothing - 1)
    weight_grad -= smoothing / vocab_size * summed.sum(dim=0)
    bias_grad = counts * (smoothing - 1) - smoothing / vocab_size * n_passes * n_counted
    return -wanted.expand_as(hidden), weight_grad, bias_grad


def _softmax(
    scores: Tensor, bias: Tensor | None, targets: Tensor, r_drop: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the softmax of scores (P, R, V) plus bias (V,), of which the first M rows have targets (P, M).

    Returns:
        Their softmax (P, R, V), pulled together for R-Drop; log p(target) and log(sum(exp(scores + bias))), (P, M),
        in float32 at least; and R-Drop's part of the loss.
    """
    wide, places, n_tokens = torch.promote_types(scores.dtype, torch.float32), targets[..., None], targets.size(1)
    if fused.is_supported(scores):
        wanted = scores[:, :n_tokens].gather(-1, places).squeeze(-1).to(wide)
        wanted = wanted if bias is None else wanted + bias[targets]
        normalisers, divergence = fused.softmax_(scores, bias, r_drop)
        normalisers = normalisers[:, :n_tokens]
        return scores, wanted - normalisers, normalisers, r_drop * divergence
    scores = scores if bias is None else scores.add_(bias)
    all_probs = scores.softmax(dim=-1)
    probs = all_probs[:, :n_tokens]
    log_probs = probs.gather(-1, places).to(wide).clamp_min_(torch.finfo(wide).tiny).log_()
    normalisers = scores[:, :n_tokens].gather(-1, places).to(wide) - log_probs
    divergence = scores.new_zeros((), dtype=wide)
    if r_drop:
        scores = scores[:, :n_tokens]
        gap = (scores[0] - scores[1]).to(wide) - (normalisers[0] - normalisers[1])
        wide_probs = probs.to(wide)
        divergence, gradient = _divergence(wide_probs, gap)
        probs.copy_(wide_probs.add_(gradient, alpha=r_drop))
    return all_probs, log_probs.squeeze(-1), normalisers.squeeze(-1), r_drop * divergence


def _divergence(probs: Tensor, gap: Tensor) -> tuple[Tensor, Tensor]:
    """Return the divergence of two distributions, (KL(p, q) + KL(q, p)) / 2, summed, and its gradient by their scores.

    The gradient of KL(p, q) is p (log p - log q - KL(p, q)) by the scores of p, and q - p by those of q.

    Args:
        probs: p and q, (2, M, V).
        gap: log p - log q, (M, V).
    """
    p, q = probs
    weighted = torch.stack((p * gap, q * -gap))
    divergences = weighted.sum(dim=-1, keepdim=True)
    difference = p - q
    pull = weighted.addcmul_(probs, divergences, value=-1)
    pull[0] += difference
    pull[1] -= difference
    return divergences.sum() / 2, pull.div_(2)


def batch_loss(
    model: Transformer, batch: Batch, smoothing: float, r_drop: float = 0.0, *, is_static: bool = False
) -> tuple[Tensor, Tensor]:
    """Teacher forcing on one batch: the decoder reads all but the last target id, and is scored on all but the first.

    Args:
        model: while it trains, a second pass draws other dropout masks than the first.
        batch: B pairs.
        smoothing: that of the labels.
        r_drop: above 0, every pair is read twice, and the two distributions of each target token are pulled together
            with this weight (Liang et al. 2021, equation 4, here divided by the two passes). Without gradients there
            is one reading, and no such part.
        is_static: for gradients; padding goes through the output layer too, so that no shape depends on the ids.

    Returns:
        The sums of `token_losses` over the target tokens that are not padding.
    """
    pad_id, n_passes = model.special_ids.target.pad, 2 if r_drop and torch.is_grad_enabled() else 1
    source, target = batch.source_ids.repeat(n_passes, 1), batch.target_ids.repeat(n_passes, 1)
    hidden = model.decode(target[:, :-1], model.encode(source), padding_mask(source, model.special_ids.source.pad))
    real, targets = target[:, 1:] != pad_id, batch.target_ids[:, 1:]
    of_batch = real[: len(targets)]
    if is_static:
        hidden, targets, counted = hidden.masked_fill(~real[..., None], 0.0), targets.flatten(), of_batch.flatten()
    else:
        hidden, targets, counted = hidden[real], targets[of_batch], None
    projection = model.output_projection
    if not torch.is_grad_enabled():
        n_chunk = chunk_tokens(hidden.device.type)
        chunks = zip(hidden.split(n_chunk), targets.split(n_chunk), strict=True)
        losses, nlls = zip(
            *(token_losses(projection(chunk), target, smoothing) for chunk, target in chunks), strict=True
        )
        return torch.stack(losses).sum(), torch.stack(nlls).sum()
    passes = hidden.view(n_passes, len(targets), hidden.size(-1))
    labels = Labels(targets, smoothing, r_drop, counted)
    sums: tuple[Tensor, Tensor] = _ChunkedLoss.apply(passes, projection.weight, projection.bias, labels)  # type: ignore[no-untyped-call]
    return sums


def n_target_tokens(batch: Batch, pad_id: int) -> int:
    """Return the number of target tokens that `batch_loss` scores."""
    return int((batch.target_ids[:, 1:] != pad_id).sum())
