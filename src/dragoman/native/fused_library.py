"""The binding of `fused.h`: its structures, and the library that fits this processor."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from dragoman.native.header import Header
from dragoman.native.libraries import loaded_openmp, usable_libraries

#: The kinds of the library, the slowest first.
LIBRARIES = "fused", "fused_avx2", "fused_avx512"
#: The types that it reads and writes.
NUMBERS = torch.float32, torch.bfloat16
#: One thread computes this many numbers in the time in which another wakes up.
WORTH_SHARING = 100_000

Int, Pointer, Double = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double


@functools.cache
def header() -> Header:
    """Return the interface of the compiled operations."""
    return Header(Path(__file__).with_name("fused.h"))


def array(tensor: Tensor | None) -> ctypes.Structure:
    """Describe a tensor for the compiled operations, with a contiguous last dimension. Keep it during the call.

    Raises:
        TypeError: they do not read its type.
    """
    if tensor is None:
        return header().structure("Array", data=None, is_bfloat16=0, strides=(0, 0, 0))
    if tensor.dtype not in (*NUMBERS, torch.bool) or tensor.device.type != "cpu":
        raise TypeError(f"{tensor.dtype} on {tensor.device} cannot be read by the compiled operations")
    strides = tensor.stride()[:-1][-3:]
    return header().structure(
        "Array",
        data=tensor.data_ptr(),
        is_bfloat16=tensor.dtype == torch.bfloat16,
        strides=(*(0,) * (3 - len(strides)), *strides),
    )


class Library:
    """The functions of fused.h."""

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self.name, self._functions = name, header().bind(library)
        self.lanes: int = self._functions["lanes"]()  # floats of a vector: attention weights lie in whole ones

    def call(self, name: str, *arguments: object) -> None:
        """Call a function.

        Raises:
            MemoryError: there is not enough RAM.
        """
        if self._functions[name](*map(_as_ctypes, arguments)):
            raise MemoryError("not enough memory")


def n_threads(n_numbers: int) -> int:
    """Return the number of threads for work on `n_numbers`: PyTorch's, or 1 if waking others costs more than it
    saves."""
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
    raise TypeError(f"a {type(argument).__name__} is no argument of a compiled operation")


@functools.cache
def library() -> Library | None:
    """Return the fastest library, or None if there is none."""
    return next((Library(name, library) for name, library in usable()), None)


def usable() -> Iterator[tuple[str, ctypes.CDLL]]:
    """Yield the libraries that were compiled and run on this processor, with their names, the fastest first."""
    openmp = loaded_openmp()
    if openmp is not None:
        with contextlib.suppress(OSError):  # it may be gone; then no library can be loaded
            ctypes.CDLL(openmp, mode=ctypes.RTLD_GLOBAL)  # some builds of PyTorch keep its functions to themselves
    yield from usable_libraries(Path(__file__).parent, LIBRARIES, header().digest, "processor")
