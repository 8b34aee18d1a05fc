"""Operations with two implementations: a fused function of `dragoman.native`, and plain PyTorch.

Each chooses the fused one if it is faster: on a CPU, if it was compiled and gradients are needed. The layers call the
operation and need not choose. B batch, H heads, T queries, S keys, K head width, D model width.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.native import fused

#: Over more keys, PyTorch's fused attention is faster than ours, forward and backward.
MAX_KEYS_FUSED = 256
#: Over more keys, PyTorch's fused attention is faster than plain products on a CPU.
MAX_KEYS_UNFUSED = 64
#: Numbers in the widest vectors of a processor.
VECTOR_WIDTH = 16


def softmax(scores: Tensor) -> Tensor:
    """(..., S) -> (..., S). On a CPU, PyTorch is several times slower for rows that are shorter than a vector."""
    n_missing = VECTOR_WIDTH - scores.size(-1)
    if scores.device.type != "cpu" or n_missing <= 0:
        return scores.softmax(dim=-1)
    return F.pad(scores, (0, n_missing), value=-math.inf).softmax(dim=-1)[..., :-n_missing]


def fused_attention(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor | None:
    """softmax(Q K^T / sqrt(K)) V by our fused function or PyTorch's, or None where plain products are faster.

    A query with nothing to attend to gets zeros.
    """
    same_heads = queries.dim() == 4 and queries.shape[:2] == keys.shape[:2] == values.shape[:2]
    for_all_heads = mask is None or (mask.dim() == 4 and mask.size(1) == 1)
    if keys.size(-2) <= MAX_KEYS_FUSED and same_heads and for_all_heads and fused.can_fuse(queries, keys, values):
        return fused.attend(queries, keys, values, mask)
    # On Apple's GPUs, PyTorch before 2.13 misreads masks of one head for all, without an error.
    if keys.device.type == "mps" or (keys.device.type == "cpu" and keys.size(-2) <= MAX_KEYS_UNFUSED):
        return None
    attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    return attended if mask is None else attended.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Turn pairs of dimensions of x (B, H, T, K) by angles; table (T or 1, K): their sines, then their cosines."""
    if x.dim() == 4 and fused.can_fuse(x):
        return fused.rotate(x, table)
    sin, cos = table.chunk(2, dim=-1)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def layer_norm(
    x: Tensor, gain: Tensor, bias: Tensor | None, eps: float, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor]:
    """Return the layer norm of x (..., D), in `dtype` if that is given, and x.

    A residual sum that takes this x has both gradients of x added in one pass.
    """
    if fused.can_fuse(x):
        normed, x = fused.layer_norm(x, gain, bias, eps, x.dtype if dtype in (None, torch.float16) else dtype)
    else:
        normed = F.layer_norm(x, x.shape[-1:], gain, bias, eps)
    return normed if dtype is None else normed.to(dtype), x


def dropout(x: Tensor, p: float) -> Tensor:
    """Zero each number of x with probability p, and scale the others by 1 / (1 - p)."""
    return x * dropout_mask(x.shape, p, x.dtype) if x.device.type == "cpu" else F.dropout(x, p)


def add_dropped(x: Tensor, y: Tensor, p: float) -> Tensor:
    """x + dropout(y, p): both (..., D) -> (..., D)."""
    if p and x.shape == y.shape and fused.can_fuse(x, y):
        return fused.add_dropped(x, y, n_dropped(p))
    return x + (dropout(y, p) if p else y)


def n_dropped(p: float) -> int:
    """Return the number of the 65,536 values of 16 random bits that drop a number with probability p."""
    return min(65535, round(p * 65536))


def dropout_mask(shape: torch.Size, p: float, dtype: torch.dtype) -> Tensor:
    """Return 0 with probability p (to the nearest 1/65536), else 1 / (1 - p), independently for each element.

    PyTorch draws one random number after another, which takes a seventh of a training step of a small model. Here one
    draw of 64 bits serves four elements. The generator is PyTorch's.
    """
    n_elements, dropped = shape.numel(), n_dropped(p)
    if not dropped:
        return torch.ones(shape, dtype=dtype)
    draws = torch.empty(-(-n_elements // 4), dtype=torch.int64).random_(-(2**63), None)
    numbers, lowest_kept = draws.view(torch.int16)[:n_elements].view(shape), dropped - 32768
    # 0 where a number is below, else 1: comparisons take PyTorch twice as long.
    kept = numbers.clamp_(lowest_kept - 1, lowest_kept).sub_(lowest_kept - 1)
    scale = torch.tensor(65536 / (65536 - dropped), dtype=dtype)
    if dtype.itemsize == kept.itemsize:
        return kept.mul_(scale.view(torch.int16)).view(dtype)  # the bits of 0 or of the scale, without a conversion
    return kept.to(dtype).mul_(scale)
