"""The arithmetic of `dragoman.model` in NumPy, for translating on a CPU: no gradients, no dropout.

Vectors of all positions lie in one matrix: X rows of width D. B batch, H heads, T queries, S keys, K head width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from dragoman.decoding.scores import Floats
from dragoman.runtime.folding import can_fold
from dragoman.settings.model_config import ModelConfig

Weights = Mapping[str, Floats]
Map = Callable[[Floats], Floats]
#: Sums of exponentials beyond these are not trusted, and computed again from scores less their highest.
TINY, HUGE = np.float32(1e-20), np.float32(1e30)
#: What is added to the score of a key that a query must not see: no exponential is left of it.
UNSEEN = np.float32(-1e9)


class Linear:
    """x W + b; of several maps of the same input, their results side by side.

    Args:
        weights: all weights of a model by name.
        names: modules with a `weight` (out, in) and perhaps a `bias`.
        first_scale: multiplies the first of them.
    """

    def __init__(self, weights: Weights, *names: str, first_scale: float = 1.0) -> None:
        scales = [np.float32(first_scale)] + [np.float32(1.0)] * (len(names) - 1)
        matrices = [weights[f"{name}.weight"] * scale for name, scale in zip(names, scales, strict=True)]
        # As (in, out), products of few rows read memory in order.
        self.weight = np.ascontiguousarray(np.concatenate(matrices).T)
        self.bias = None
        if f"{names[0]}.bias" in weights:
            biases = [weights[f"{name}.bias"] * scale for name, scale in zip(names, scales, strict=True)]
            self.bias = np.concatenate(biases)

    def __call__(self, x: Floats, out: Floats | None = None) -> Floats:
        """x (X, in) -> (X, out), written to `out` if that is given."""
        product = np.matmul(x, self.weight, out=out)
        if self.bias is not None:
            product += self.bias
        return product


class Norm:
    """Layer norm, RMS norm, or the norm with the unbiased standard deviation, as `config.norm_kind` says.

    Where its gain and bias are folded away (`dragoman.runtime.folding`), so is the mean it would take off.
    """

    def __init__(self, weights: Weights, name: str, config: ModelConfig) -> None:
        n, kind, folded = config.d_model, config.norm_kind, can_fold(config)
        self.gain = None if folded else weights[f"{name}.weight"]
        self.bias = None if folded else weights.get(f"{name}.bias")
        self.is_centring = kind != "rms" and not folded
        self.part_of_squares = np.float32(1 / max(n - 1, 1) if kind == "std" else 1 / n)
        self.outside = np.float32(1e-6 if kind == "std" else 0)  # what is added to the size, against division by zero
        self.inside = np.float32({"layer": 1e-5, "rms": 1e-6, "std": 0}[kind])  # and to its square

    def __call__(self, x: Floats) -> Floats:
        """x (X, D) -> (X, D)."""
        if self.is_centring:
            x = centred(x)
        squares: Floats = np.einsum("xd,xd->x", x, x)[:, None] * self.part_of_squares
        normed: Floats = x / (np.sqrt(squares + self.inside) + self.outside)
        if self.gain is not None:
            normed *= self.gain
        if self.bias is not None:
            normed += self.bias
        return normed


def centred(x: Floats) -> Floats:
    """Rows less their means: x (X, D) -> (X, D)."""
    total: Floats = np.add.reduce(x, axis=1, keepdims=True)
    return x - total * np.float32(1 / x.shape[1])


class FeedForward:
    """The two maps of equation 2, with the activation that `config` names in between."""

    def __init__(self, weights: Weights, name: str, config: ModelConfig) -> None:
        self._inner = Linear(weights, f"{name}.inner")
        self._gate = Linear(weights, f"{name}.gate") if config.activation == "swiglu" else None
        self._outer = Linear(weights, f"{name}.outer")
        self._activation = {"relu": _relu, "gelu": _gelu, "swiglu": _swish}[config.activation]

    def __call__(self, x: Floats) -> Floats:
        """x (X, D) -> (X, D)."""
        inner = self._activation(self._inner(x))
        if self._gate is not None:
            inner *= self._gate(x)
        return self._outer(inner)


class Residual:
    """x + sublayer(x), and a norm before or after it."""

    def __init__(self, weights: Weights, name: str, config: ModelConfig) -> None:
        self._norm = Norm(weights, f"{name}.norm", config)
        self._pre_norm = config.norm == "pre"

    def __call__(self, x: Floats, sublayer: Map) -> Floats:
        """x (X, D) -> (X, D)."""
        if self._pre_norm:
            return x + sublayer(self._norm(x))
        return self._norm(x + sublayer(x))


class PositionTable:
    """Rows of sines and cosines, computed as far as a sequence has gone: the longest possible may be a million tokens.

    Threads may share one: `rows` returns rows of a table that nobody changes; a longer one takes its place.

    Args:
        max_length: the most rows.
    """

    def __init__(self, max_length: int, width: int, *, halves: bool) -> None:
        self._max_length, self._width, self._halves = max_length, width, halves
        self._table = np.empty((0, width), dtype=np.float32)

    def rows(self, positions: slice) -> Floats:
        """The rows of `positions`, (T, width), which must outlive their address.

        Raises:
            IndexError: the model has no such positions.
        """
        table = self._table
        if positions.stop > len(table):
            if positions.stop > self._max_length:
                raise IndexError(f"position {positions.stop - 1} of a model that has {self._max_length}")
            n_rows = min(max(2 * len(table), positions.stop), self._max_length)
            more = sinusoidal_table(range(len(table), n_rows), self._width, halves=self._halves)
            self._table = table = np.concatenate((table, more))
        return table[positions]


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


def sinusoidal_table(positions: range, width: int, *, halves: bool) -> Floats:
    """Rows of the table of `dragoman.model.positions`, (T, width)."""
    angles = np.arange(positions.start, positions.stop)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    waves = np.sin(angles), np.cos(angles)
    table = np.concatenate(waves, axis=1) if halves else np.stack(waves, axis=2).reshape(len(positions), -1)
    return table.astype(np.float32)


def split_heads(x: Floats, n_sequences: int, n_heads: int) -> Floats:
    """x (B * T, H * K) -> (B, H, T, K)."""
    return x.reshape(n_sequences, -1, n_heads, x.shape[1] // n_heads).transpose(0, 2, 1, 3)


def attend(queries: Floats, keys: Floats, values: Floats, unseen: Floats | None) -> Floats:
    """Attention of queries (B, H, T, K), scaled already, over keys and values (B, H, S, K or W) -> (B * T, H * W).

    Args:
        unseen: added to the scores, broadcast to (B, H, T, S): 0 or `UNSEEN`, which may not be all of a row.
    """
    scores = queries @ keys.swapaxes(2, 3)
    if unseen is not None:
        scores += unseen
    attended = softmax(scores) @ values
    n_sequences, n_heads, n_queries, width = attended.shape
    return attended.transpose(0, 2, 1, 3).reshape(n_sequences * n_queries, n_heads * width)


def softmax(scores: Floats) -> Floats:
    """scores (..., S) -> (..., S)."""
    weights, total, _ = exponentials(scores)
    weights /= total
    return weights


def exponentials(scores: Floats, out: Floats | None = None) -> tuple[Floats, Floats, Floats | float]:
    """exp(scores - shift) (..., S), written to `out` if that is given, their sums (..., 1), and the shift (..., 1).

    Scores of a trained model are small numbers: only where that is not so must the highest be taken out first.
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


def _swish(x: Floats) -> Floats:
    swish: Floats = x / (1 + np.exp(-x))
    return swish


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
