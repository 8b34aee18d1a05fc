"""A tensor of Marian's own files, which are `.npz` or `.bin`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dragoman.machine.arrays import Floats

#: The tensor that has the model's settings, as YAML.
SETTINGS = "special:model.yml"
MOST_TENSORS = 20_000
#: The most numbers that a tensor may have along an axis, as in Marian, whose sizes are int32.
MOST_ALONG = 2**31 - 1
Kind = Literal["float32", "float16", "int8", "intgemm8"]
_TYPES = {"float32": "<f4", "float16": "<f2", "int8": "i1", "intgemm8": "i1"}


def n_bytes(kind: Kind, shape: tuple[int, ...]) -> int:
    """Return the bytes that a tensor takes. One of intgemm ends with its multiplier."""
    return math.prod(shape) * np.dtype(_TYPES[kind]).itemsize + (4 if kind == "intgemm8" else 0)


@dataclass(frozen=True)
class MarianTensor:
    """A tensor as it is stored.

    Args:
        shape: as Marian computes with it: a matrix is (inputs, outputs), and a table (tokens, width).
        data: its bytes. A matrix of intgemm is transposed, a table is not.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    data: memoryview

    @property
    def is_table(self) -> bool:
        """True for the vectors of tokens."""
        return "Wemb" in self.name

    def floats(self) -> Floats:
        """Return the numbers in float32, with the tensor's shape.

        Numbers of intgemm are divided by their multiplier, as Marian does.
        """
        stored: NDArray[np.generic] = np.frombuffer(self.data, np.dtype(_TYPES[self.kind]), math.prod(self.shape))
        if self.kind != "intgemm8":
            with np.errstate(over="ignore"):
                plain: Floats = stored.astype(np.float32).reshape(self.shape)
            return plain
        shape = self.shape if self.is_table else self.shape[::-1]
        multiplier = np.frombuffer(self.data, "<f4", 1, stored.nbytes)
        with np.errstate(divide="ignore", invalid="ignore"):
            values: Floats = (stored.astype(np.float32) / multiplier).reshape(shape)
        return values if self.is_table else values.T

    def text(self) -> str:
        """Return the text that a tensor of bytes has; it ends at the first zero.

        Raises:
            ValueError: it is not UTF-8.
        """
        return bytes(self.data).partition(b"\0")[0].decode()
