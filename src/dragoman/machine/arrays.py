"""Types of arrays, and rows of equal length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def padded(rows: Sequence[Sequence[int]], fill: int, unit: int = 1) -> Ints:
    """Return rows of equal length, a multiple of `unit`: (B, length)."""
    length = -(-max(map(len, rows), default=0) // unit) * unit
    filled = np.full((len(rows), length), fill, dtype=np.int64)
    for ids, row in zip(filled, rows, strict=True):
        ids[: len(row)] = row
    return filled
