"""The arithmetic of `dragoman.model` in NumPy, for translating on a CPU: no gradients, no dropout.

Vectors of all positions lie in one matrix: X rows of width D. B batch, H heads, T queries, S keys, K head width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from dragoman.bundle.layout import FeedForwardLayout, LinearLayout, NormLayout, SSRULayout
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig
from oracles.embedding import PositionTable, centred
from oracles.parameters import NormParameters, joined_linears

Weights = Mapping[str, Floats]
Map = Callable[[Floats], Floats]
#: Sums of exponentials outside this range are computed again, from scores minus their highest.
TINY, HUGE = np.float32(1e-20), np.float32(1e30)


class Linear:
    """x A^T + b; of several maps of the same input, their outputs side by side. See `joined_linears`."""

    def __init__(self, weights: Weights, *linears: LinearLayout, first_scale: float = 1.0) -> None:
        self.weight, self.bias = joined_linears(weights, *linears, first_scale=first_scale)

    def __call__(self, x: Floats, out: Floats | None = None) -> Floats:
        """x (X, I) -> (X, O), written to `out` if that is given."""
        product = np.matmul(x, self.weight, out=out)
        if self.bias is not None:
            product += self.bias
        return product


class Norm:
    """The norm that `config.norm_kind` names; see `NormParameters`."""

    def __init__(self, weights: Weights, layout: NormLayout, config: ModelConfig) -> None:
        self._parameters = NormParameters(weights, layout, config)

    def __call__(self, x: Floats) -> Floats:
        """x (X, D) -> (X, D)."""
        norm = self._parameters
        if norm.is_centring:
            x = centred(x)
        squares: Floats = np.einsum("xd,xd->x", x, x)[:, None] * norm.square_factor
        normed: Floats = x / (np.sqrt(squares + norm.inner_epsilon) + norm.outer_epsilon)
        if norm.gain is not None:
            normed *= norm.gain
        if norm.bias is not None:
            normed += norm.bias
        return normed


class FeedForward:
    """The two maps of equation 2, with the activation that `config` names in between."""

    def __init__(self, weights: Weights, layout: FeedForwardLayout, config: ModelConfig) -> None:
        self._inner, self._outer = Linear(weights, layout.inner), Linear(weights, layout.outer)
        self._gate = None if layout.gate is None else Linear(weights, layout.gate)
        self._activation = {"relu": _relu, "gelu": _gelu, "silu": _silu, "swiglu": _silu}[config.activation]

    def __call__(self, x: Floats) -> Floats:
        """x (X, D) -> (X, D)."""
        inner = self._activation(self._inner(x))
        if self._gate is not None:
            inner *= self._gate(x)
        return self._outer(inner)


class RecurrentUnit:
    """The simpler simple recurrent unit, as `dragoman.model.ssru` has it."""

    def __init__(self, weights: Weights, layout: SSRULayout) -> None:
        self._input, self._forget = Linear(weights, layout.input), Linear(weights, layout.forget)

    def __call__(self, x: Floats, before: Floats) -> Floats:
        """x (B * N, D), the states that each token follows, (B, N, D) -> the next states (B, N, D)."""
        kept = (1 / (1 + np.exp(-self._forget(x)))).reshape(before.shape)
        states: Floats = kept * before + (1 - kept) * self._input(x).reshape(before.shape)
        return states


class Residual:
    """x + sublayer(x), with a norm before the sublayer or after the sum."""

    def __init__(self, weights: Weights, norm: NormLayout, config: ModelConfig) -> None:
        self._norm = Norm(weights, norm, config)
        self._pre_norm = config.norm == "pre"

    def __call__(self, x: Floats, sublayer: Map) -> Floats:
        """x (X, D) -> (X, D)."""
        if self._pre_norm:
            return x + sublayer(self._norm(x))
        return self._norm(x + sublayer(x))


class Rotary:
    """Turns pairs of dimensions by an angle that grows with the position, as `dragoman.model.positions` does."""

    def __init__(self, max_length: int, d_k: int) -> None:
        self.angles = PositionTable(max_length, d_k, halves=True)

    def __call__(self, x: Floats, positions: slice) -> Floats:
        """x (B, H, T, K) at `positions`, one for each or one for all -> (B, H, T, K)."""
        sin, cos = np.split(self.angles.rows(positions), 2, axis=1)
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = np.empty(x.shape, dtype=np.float32)
        turned[..., 0::2] = even * cos - odd * sin
        turned[..., 1::2] = even * sin + odd * cos
        return turned


def split_heads(x: Floats, n_sequences: int, n_heads: int) -> Floats:
    """x (B * T, H * K) -> (B, H, T, K)."""
    return x.reshape(n_sequences, -1, n_heads, x.shape[1] // n_heads).transpose(0, 2, 1, 3)


def attend(queries: Floats, keys: Floats, values: Floats, mask_bias: Floats | None) -> Floats:
    """Attention of scaled queries (B, H, T, K) over keys and values (B, H, S, K or W) -> (B * T, H * W)."""
    return merge_heads(attention_weights(queries, keys, mask_bias) @ values)


def merge_heads(x: Floats) -> Floats:
    """x (B, H, T, W) -> (B * T, H * W)."""
    n_sequences, n_heads, n_queries, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(n_sequences * n_queries, n_heads * width)


def attention_weights(queries: Floats, keys: Floats, mask_bias: Floats | None) -> Floats:
    """Return the weights (B, H, T, S) of keys (B, H, S, K) for scaled queries (B, H, T, K).

    Args:
        mask_bias: added to the scores, broadcast to (B, H, T, S): 0 or `MASKED`, which may not be all of a row.
    """
    scores = queries @ keys.swapaxes(2, 3)
    if mask_bias is not None:
        scores += mask_bias
    return softmax(scores)


def softmax(scores: Floats) -> Floats:
    """scores (..., S) -> (..., S)."""
    weights, total, _ = exponentials(scores)
    weights /= total
    return weights


def exponentials(scores: Floats, out: Floats | None = None) -> tuple[Floats, Floats, Floats | float]:
    """exp(scores - shift) (..., S), written to `out` if that is given, their sums (..., 1), and the shift (..., 1).

    The scores of a trained model are small numbers. Only where they are not, the highest is subtracted first.
    """
    weights = np.exp(scores, out=out)
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    if np.minimum.reduce(total, axis=None) > TINY and np.maximum.reduce(total, axis=None) < HUGE:
        return weights, total, 0.0
    highest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - highest, out=out)
    return weights, np.add.reduce(weights, axis=-1, keepdims=True), highest


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0, out=x)


def _silu(x: Floats) -> Floats:
    silu: Floats = x / (1 + np.exp(-x))
    return silu


def _gelu(x: Floats) -> Floats:
    """x (1 + erf(x / sqrt(2))) / 2, with erf to 1.5e-7 by Abramowitz and Stegun (1964), formula 7.1.26."""
    size = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(coefficient)) * t
    erf = np.copysign(1 - series * np.exp(-size * size), x)
    gelu: Floats = x * (1 + erf) / 2
    return gelu
