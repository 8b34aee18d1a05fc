"""The compiled functions of `fused.c`: its structures, the library that fits this processor."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from dragoman.native.libraries import usable_libraries

#: The kinds of fused.c, the slowest first.
LIBRARIES = "fused", "fused_avx2", "fused_avx512"
#: As in fused.c.
INTERFACE = 3
#: What it reads and writes.
NUMBERS = torch.float32, torch.bfloat16
#: Numbers that one thread is done with about as soon as another one is awake.
WORTH_SHARING = 100_000

Int, Pointer, Double = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double


class ArrayStruct(ctypes.Structure):
    """`Array` of fused.c."""

    _fields_ = [("data", Pointer), ("is_narrow", Int), ("strides", Int * 3)]


class DropoutStruct(ctypes.Structure):
    """`Dropout` of fused.c."""

    _fields_ = [("seed", ctypes.c_uint64), ("n_dropped", Int), ("scale", Double)]


class AttentionStruct(ctypes.Structure):
    """`Attention` of fused.c."""

    _fields_ = [
        ("n_heads", Int),
        ("n_queries", Int),
        ("n_keys", Int),
        ("key_width", Int),
        ("value_width", Int),
        ("queries", ArrayStruct),
        ("keys", ArrayStruct),
        ("values", ArrayStruct),
        ("mask", ArrayStruct),
        ("weights", Pointer),
    ]


STRUCTURES = ArrayStruct, DropoutStruct, AttentionStruct


def array(tensor: Tensor | None) -> ArrayStruct:
    """A tensor as fused.c reads it: the numbers of the last dimension side by side. It must outlive the call.

    Raises:
        TypeError: it is of a type that is not read there.
    """
    if tensor is None:
        return ArrayStruct(None, 0, (Int * 3)(0, 0, 0))
    if tensor.dtype not in (*NUMBERS, torch.bool) or tensor.device.type != "cpu":
        raise TypeError(f"{tensor.dtype} on {tensor.device} is nothing that fused.c reads")
    strides = tensor.stride()[:-1][-3:]
    return ArrayStruct(
        tensor.data_ptr(), tensor.dtype == torch.bfloat16, (Int * 3)(*(0,) * (3 - len(strides)), *strides)
    )


class Library:
    """The functions of fused.c; see there."""

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self.name, self._library = name, library
        self.lanes: int = library["lanes"]()  # floats of a vector: attention weights lie in whole ones

    def call(self, name: str, *arguments: object) -> None:
        """Call a function.

        Raises:
            MemoryError: there was not enough.
        """
        if self._library[name](*map(_as_ctypes, arguments)):
            raise MemoryError("not enough memory")


def n_threads(n_numbers: int) -> int:
    """How many threads share work on so many numbers: PyTorch's, if it is worth waking them."""
    return torch.get_num_threads() if n_numbers >= WORTH_SHARING else 1


def _as_ctypes(argument: object) -> object:
    match argument:
        case None:
            return Pointer(None)
        case Tensor() if argument.dtype == torch.float32 and argument.is_contiguous() and argument.is_cpu:
            return Pointer(argument.data_ptr())
        case ctypes.Structure():
            return ctypes.byref(argument)
        case float():
            return Double(argument)
        case int():
            return Int(argument)
    raise TypeError(f"a {type(argument).__name__} that fused.c does not take")


@functools.cache
def library() -> Library | None:
    """The fastest one; None if there is none."""
    return next((Library(name, library) for name, library in usable()), None)


def usable() -> Iterator[tuple[str, ctypes.CDLL]]:
    """Those that were compiled and that this processor can run, with their names, the fastest first."""
    return usable_libraries(Path(__file__).parent, LIBRARIES, [INTERFACE, *map(ctypes.sizeof, STRUCTURES)])
