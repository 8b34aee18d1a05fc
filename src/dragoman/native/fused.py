"""Functions of a training step with gradients: those of `fused.h` read RAM once, and PyTorch many times.

Each gives the same as a few lines of PyTorch in `dragoman.model.operations` or `dragoman.training.loss`, on a CPU, in
float32 or bfloat16 with sums in float32. B batch, H heads, T queries, S keys, K and W widths of a key and a value, D
model width, V vocabulary, P passes, R rows.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dragoman.native.fused_library import NUMBERS, Library, array, header, library, n_threads


def is_supported(*tensors: Tensor) -> bool:
    """Return True if the functions apply to these tensors and were compiled."""
    return all(x.device.type == "cpu" and x.dtype in NUMBERS for x in tensors) and library() is not None


def can_fuse(*tensors: Tensor) -> bool:
    """Return True if the functions apply to these tensors and gradients are needed."""
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors) and is_supported(*tensors)


def _library() -> Library:
    compiled = library()
    assert compiled is not None, "`is_supported` was not asked"
    return compiled


def _call(name: str, *arguments: object, rows: Tensor, threads: int | None = None) -> None:
    """Call a function of `fused.h` for all vectors along the last dimension of `rows`."""
    n_rows, threads = rows.numel() // rows.size(-1), threads or n_threads(rows.numel())
    _library().call(name, *arguments, rows.size(-1), n_rows, threads)


def _floats(*shape: int) -> Tensor:
    """Return an empty tensor of float32 on the CPU, whatever PyTorch's defaults are."""
    return torch.empty(shape, dtype=torch.float32, device="cpu")


# Dropout


def _dropout(seed: int, n_dropped: int) -> ctypes.Structure:
    return header().structure("Dropout", seed=seed, n_dropped=n_dropped, scale=65536 / (65536 - n_dropped))


class _AddDropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, n_dropped: int) -> Tensor:
        seed = int(torch.randint(2**63 - 1, (), device="cpu"))
        ctx.dropout, ctx.dtype = _dropout(seed, n_dropped), y.dtype
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x, dtype=torch.promote_types(x.dtype, y.dtype))
        _call("add_dropped", array(x), array(y), array(out), ctx.dropout, rows=x)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        grad = grad.contiguous()
        by_y = torch.empty_like(grad, dtype=ctx.dtype)
        _call("drop_rows", array(grad), array(by_y), ctx.dropout, rows=grad)
        return grad, by_y, None


def add_dropped(x: Tensor, y: Tensor, n_dropped: int) -> Tensor:
    """x + dropout(y), both of one shape (..., D); `n_dropped` of 65,536 values of 16 random bits drop a number.

    The mask is never stored: the backward pass draws it again.
    """
    if x.shape != y.shape:
        raise ValueError(f"shapes {tuple(x.shape)} and {tuple(y.shape)} differ")
    out: Tensor = _AddDropped.apply(x, y, n_dropped)  # type: ignore[no-untyped-call]
    return out


# Layer norm


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gain: Tensor, bias: Tensor | None, eps: float, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        rows = x.contiguous()
        out, moments = torch.empty_like(rows, dtype=dtype), _floats(*x.shape[:-1], 2)
        gain, bias = gain.float(), None if bias is None else bias.float()
        _call("normalise", array(rows), gain, bias, array(out), moments, float(eps), rows=rows)
        ctx.save_for_backward(rows, gain, moments)
        ctx.has_bias = bias is not None
        ctx.set_materialize_grads(False)
        return out, x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, kept: Tensor | None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return kept, None, None, None, None
        x, gain, moments = ctx.saved_tensors
        grad, kept = grad.contiguous(), None if kept is None else kept.contiguous()
        by_x, threads = torch.empty_like(x), n_threads(x.numel())
        sums = _floats(threads, 2, len(gain)).zero_()
        arrays = array(grad), array(kept), array(by_x)
        _call("normalise_gradient", array(x), gain, moments, *arrays, sums, rows=x, threads=threads)
        by_gain, by_bias = sums.sum(dim=0)
        return by_x, by_gain, by_bias if ctx.has_bias else None, None, None


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor | None, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Layer norm of x (..., D), with gain and bias (D,), in the given type; and x.

    A residual sum that takes this x has both gradients of x added in one pass.

    Raises:
        ValueError: gain or bias is not as long as the vectors of x.
    """
    if any(weight is not None and weight.shape != x.shape[-1:] for weight in (gain, bias)):
        raise ValueError(f"gain and bias do not fit vectors of {x.size(-1)} numbers")
    normed_and_x: tuple[Tensor, Tensor] = _LayerNorm.apply(x, gain, bias, eps, dtype)  # type: ignore[no-untyped-call]
    return normed_and_x


# Attention. In tensors (B, H, T, K), all heads of a position lie side by side, as the linear maps read and write them.


def _empty_like(x: Tensor) -> Tensor:
    """Return an empty tensor of the shape of x, (B, H, T, K)."""
    return x.new_empty(x.size(0), x.size(2), x.size(1), x.size(3)).transpose(1, 2)


def _readable(x: Tensor) -> Tensor:
    """Return x with a contiguous last dimension."""
    return x if x.stride(-1) == 1 else x.contiguous()


class _Rotate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor) -> Tensor:
        ctx.table = table
        return _rotate(x, table, back=False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _rotate(grad, ctx.table, back=True), None


def _rotate(x: Tensor, table: Tensor, *, back: bool) -> Tensor:
    x, out, step = _readable(x), _empty_like(x), 0 if len(table) == 1 else table.stride(0)
    arguments = array(x), array(out), table, step, back, *x.shape[1:]
    _library().call("rotate", *arguments, len(x), n_threads(x.numel()))
    return out


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotary positions: x (B, H, T, K), table (T or 1, K) of sines and then cosines -> (B, H, T, K), in the type of x.

    Raises:
        ValueError: the shapes do not fit each other.
    """
    if len(table) not in (1, x.size(2)) or table.size(1) != x.size(3):
        raise ValueError(f"a table of shape {tuple(table.shape)} does not fit {tuple(x.shape)}")
    rotated: Tensor = _Rotate.apply(x, table.float().contiguous())  # type: ignore[no-untyped-call]
    return rotated


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        queries, keys, values = map(_readable, (queries, keys, values))
        (batch, n_heads, n_queries, _), (n_keys, value_width) = queries.shape, values.shape[2:]
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"a mask of type {mask.dtype}, not torch.bool")
            mask = _readable(mask.expand(batch, 1, n_queries, n_keys))
        weights = _floats(batch, n_heads, n_queries, -(-n_keys // _library().lanes) * _library().lanes)
        out = _empty_like(values.new_empty(()).expand(batch, n_heads, n_queries, value_width))
        attention = _attention(queries, keys, values, mask, weights)
        _library().call("attend", attention, array(out), batch, n_threads(queries.numel()))
        ctx.save_for_backward(queries, keys, values, weights)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        queries, keys, values, weights = ctx.saved_tensors
        grad, by_queries, by_keys, by_values = _readable(grad), *map(_empty_like, (queries, keys, values))
        arrays = map(array, (grad, by_queries, by_keys, by_values))
        attention = _attention(queries, keys, values, None, weights)
        _library().call("attend_gradient", attention, *arrays, len(grad), n_threads(grad.numel()))
        return by_queries, by_keys, by_values, None


def _attention(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, weights: Tensor) -> ctypes.Structure:
    if queries.shape[:2] != keys.shape[:2] or keys.shape[:3] != values.shape[:3] or queries.size(3) != keys.size(3):
        shapes = ", ".join(str(tuple(x.shape)) for x in (queries, keys, values))
        raise ValueError(f"queries, keys and values of shapes {shapes} do not fit each other")
    sizes = ("n_heads", "n_queries", "n_keys", "key_width", "value_width")
    numbers = (*queries.shape[1:3], keys.size(2), keys.size(3), values.size(3))
    arrays = {"queries": array(queries), "keys": array(keys), "values": array(values), "mask": array(mask)}
    fields = dict(zip(sizes, numbers, strict=True)) | arrays
    return header().structure("Attention", **fields, weights=weights.data_ptr())


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(K)) V: queries (B, H, T, K), keys (B, H, S, K), values (B, H, S, W) -> (B, H, T, W).

    The weights are kept for the backward pass. The mask (B or 1, 1, T or 1, S), of type bool, is True where a query may
    attend. A query with nothing to attend to gets zeros.

    Raises:
        ValueError: the shapes do not fit each other.
        TypeError: the mask is of another type.
    """
    attended: Tensor = _Attend.apply(queries, keys, values, mask)  # type: ignore[no-untyped-call]
    return attended


# The loss over the vocabulary. The functions have no gradients: `training/loss.py` computes them.


def softmax_(scores: Tensor, bias: Tensor | None, r_drop: float) -> tuple[Tensor, Tensor]:
    """Scores (P, R, V) plus bias (V,) become their softmax -> log(sum(exp(scores + bias))), (P, R), and a divergence.

    With r_drop, which takes two passes, to the probabilities p and q of a row is added what R-Drop adds to the gradient
    by its scores: r_drop times that of (KL(p, q) + KL(q, p)) / 2, whose sum over all rows is the divergence.
    """
    if r_drop and len(scores) != 2:
        raise ValueError(f"R-Drop compares two passes, not {len(scores)}")
    threads, bias = n_threads(scores.numel()), None if bias is None else bias.float()
    normalisers, divergences = _floats(*scores.shape[:2]), _floats(threads).zero_()
    rows = scores[0] if r_drop else scores  # the rows of the second pass lie behind those of the first
    _call("softmax", array(scores), bias, normalisers, divergences, float(r_drop), rows=rows, threads=threads)
    return normalisers, divergences.sum()


def add_(totals: Tensor, numbers: Tensor) -> None:
    """totals += numbers: (R, D), the first in float32. PyTorch would convert the second first."""
    _call("add_rows", totals, array(numbers), rows=totals)
