"""The maps of attention in the form that the graphs of ONNX multiply with.

Every head is padded with zeros to one width M, for keys and for values: the runtimes' caches have one. Queries are
divided by sqrt(K) beforehand. With rotary positions, the pairs of dimensions that are turned lie half a head apart.
D model width, H heads, K width of a key, W of a value, M padded width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dragoman.bundle.layout import AttentionLayout, LinearLayout
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig


class AttentionMaps(NamedTuple):
    """Matrices as (inputs, outputs), each with its bias or None."""

    query: tuple[Floats, Floats | None]
    key: tuple[Floats, Floats | None]
    value: tuple[Floats, Floats | None]
    output: tuple[Floats, Floats | None]


def padded_width(config: ModelConfig) -> int:
    """Return M, which is even if dimensions are turned in pairs."""
    width = max(config.head_widths)
    return width + width % 2 if config.positions == "rotary" else width


def attention_maps(
    attention: AttentionLayout, weights: Mapping[str, Floats], config: ModelConfig, *, is_turned: bool
) -> AttentionMaps:
    """Return the maps of one attention.

    Args:
        is_turned: rotary positions turn its queries and keys.
    """
    keys, _ = config.head_widths
    scale = 1 / math.sqrt(keys)

    def reading(linear: LinearLayout, scale: float = 1.0) -> tuple[Floats, Floats | None]:
        turned = is_turned and linear is not attention.value
        rows = _heads(weights[linear.weight.name] * np.float32(scale), config, is_turned=turned)
        if linear.bias is None:
            return rows.T, None
        return rows.T, _heads(weights[linear.bias.name] * np.float32(scale), config, is_turned=turned)

    rows = _heads(weights[attention.output.weight.name].T, config, is_turned=False)
    bias = None if attention.output.bias is None else weights[attention.output.bias.name]
    return AttentionMaps(
        reading(attention.query, scale), reading(attention.key), reading(attention.value), (rows, bias)
    )


def turning_tables(config: ModelConfig, n_positions: int) -> tuple[Floats, Floats]:
    """Return cosines and sines of the angles of rotary positions, (positions, M / 2); padding is not turned."""
    width, half = config.head_widths[0], padded_width(config) // 2
    angles = np.arange(n_positions)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    angles = np.pad(angles, ((0, 0), (0, half - width // 2)))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _heads(rows: Floats, config: ModelConfig, *, is_turned: bool) -> Floats:
    """Pad the rows of each head: (H * K, ...) -> (H * M, ...)."""
    heads = rows.reshape(config.n_heads, -1, *rows.shape[1:])
    width = padded_width(config)
    if is_turned:
        parts = [_filled(heads[:, first::2], width // 2) for first in (0, 1)]
        heads = np.concatenate(parts, axis=1)
    return _filled(heads, width).reshape(config.n_heads * width, *rows.shape[1:])


def _filled(heads: Floats, width: int) -> Floats:
    missing = [(0, 0), (0, width - heads.shape[1]), *[(0, 0)] * (heads.ndim - 2)]
    return np.pad(heads, missing)
