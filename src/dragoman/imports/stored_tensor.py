"""A tensor in a stranger's file, which is read when it is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman.machine.arrays import Floats

#: Kinds of floating-point numbers by the names of safetensors, and their types in NumPy; the first half of a float32
#: is a BF16.
KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def from_bfloat16(halves: NDArray[np.uint16]) -> Floats:
    """Return bfloat16 numbers, given as their 16 bits, in float32: of any shape, which stays."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a file: what kind of numbers it has, one of `KINDS` or another, and where they begin."""

    path: Path
    kind: str
    shape: tuple[int, ...]
    start: int

    def read(self) -> Floats:
        """Return it in float32; its kind is one of `KINDS`."""
        values = np.fromfile(self.path, np.dtype(KINDS[self.kind]), math.prod(self.shape), offset=self.start)
        if self.kind == "BF16":
            values = from_bfloat16(values)
        with np.errstate(over="ignore"):
            result: Floats = values.astype(np.float32).reshape(self.shape)
        return result
