"""The compiled functions of `fused.c`: its structures, the library that fits this processor, threads to share work."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import Tensor

from dragoman.compiled import usable_libraries
from dragoman.errors import ResourceError

#: The kinds of fused.c: a processor that runs one runs those before it.
LIBRARIES = "fused", "fused_avx2", "fused_avx512"
#: As in fused.c.
INTERFACE = 1
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
    """A tensor as fused.c reads it: up to four dimensions, the last one's numbers side by side.

    Of one row or one sentence for all, the stride is 0.
    """
    if tensor is None:
        return ArrayStruct(None, 0, (Int * 3)(0, 0, 0))
    strides = [0 if size == 1 else stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)][:-1]
    filled = (0,) * (3 - len(strides)) + tuple(strides)
    return ArrayStruct(tensor.data_ptr(), tensor.dtype == torch.bfloat16, (Int * 3)(*filled))


class Library:
    """The functions of fused.c; see there."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.lanes: int = library["lanes"]()  # floats of a vector: attention weights lie in whole ones

    def call(self, name: str, *arguments: object, n_rows: int, n_parts: int = 1) -> None:
        """Call a function for so many rows (or sentences), in parts of about as many, each in a thread of its own.

        Raises:
            ResourceError: there was not enough memory.
        """
        compiled, given = self._library[name], [_as_ctypes(argument) for argument in arguments]

        def run(part: int) -> int:
            first, last = n_rows * part // n_parts, n_rows * (part + 1) // n_parts
            status: int = compiled(*given, Int(part), Int(first), Int(last))
            return status

        others = [_threads().submit(run, part) for part in range(1, n_parts)]
        if any([run(0), *(other.result() for other in others)]):
            raise ResourceError("not enough memory", advice="use a smaller training.batch_tokens")


def n_parts(n_numbers: int) -> int:
    """In how many parts work on so many numbers is done: PyTorch's threads, if it is worth waking them."""
    return torch.get_num_threads() if n_numbers >= WORTH_SHARING else 1


def _as_ctypes(argument: object) -> object:
    match argument:
        case Tensor():
            return Pointer(argument.data_ptr())
        case ctypes.Structure():
            return ctypes.byref(argument)
        case float():
            return Double(argument)
        case int():
            return Int(argument)
    return Pointer(None)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="fused")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked child has none of them


@functools.cache
def library() -> Library | None:
    """The fastest one; None if there is none."""
    return next((Library(library) for _, library in usable()), None)


def usable() -> Iterator[tuple[str, ctypes.CDLL]]:
    """Those that were compiled and that this processor can run, with their names, the fastest first."""
    return usable_libraries(Path(__file__).parent, LIBRARIES, [INTERFACE, *map(ctypes.sizeof, STRUCTURES)])
