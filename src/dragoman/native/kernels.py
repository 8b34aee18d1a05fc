"""The binding of `kernels.c`: its structures, its functions, and the library that fits this processor.

Without a library that fits, the search runs in NumPy.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import ResourceError
from dragoman.machine.devices import Precision
from dragoman.native.libraries import usable_libraries

#: The libraries of kernels.c for each precision, the slowest first. The first of each is that of float32: it runs
#: everywhere, and finds the others that do.
LIBRARIES: dict[Precision, tuple[str, ...]] = {
    "float32": ("kernels", "kernels_avx2", "kernels_avx512"),
    "bfloat16": ("kernels", "kernels_bfloat16"),
    "int8": ("kernels", "kernels_int8_avx2", "kernels_int8_vnni", "kernels_int8_avx512", "kernels_int8_bfloat16"),
}
#: As in kernels.c.
INTERFACE = 6
NO_NORM, LAYER_NORM, RMS_NORM = range(3)
NO_MEMORY, NO_SUCH_ID = -1, -2
ACTIVATIONS = {"relu": 0, "gelu": 1, "swiglu": 2, "silu": 3}

Int, Pointer, Double, Byte = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, ctypes.c_char


class LinearStruct(ctypes.Structure):
    """`Linear` of linear.h."""

    _fields_ = [
        ("n_in", Int),
        ("n_out", Int),
        ("weight", Pointer),
        ("bias", Pointer),
        ("scales", Pointer),
        ("column_sums", Pointer),
    ]


class NormStruct(ctypes.Structure):
    """`Norm` of kernels.c."""

    _fields_ = [
        ("kind", Int),
        ("gain", Pointer),
        ("bias", Pointer),
        ("square_factor", Double),
        ("inner_epsilon", Double),
        ("outer_epsilon", Double),
    ]


class LayerStruct(ctypes.Structure):
    """`Layer` of kernels.c."""

    _fields_ = [
        ("self_projection", LinearStruct),
        ("self_output", LinearStruct),
        ("cross_query", LinearStruct),
        ("cross_memory", LinearStruct),
        ("cross_output", LinearStruct),
        ("inner", LinearStruct),
        ("gate", LinearStruct),
        ("outer", LinearStruct),
        ("self_norm", NormStruct),
        ("cross_norm", NormStruct),
        ("feed_forward_norm", NormStruct),
    ]


class ShapeStruct(ctypes.Structure):
    """`Shape` of kernels.c."""

    _fields_ = [
        ("d_model", Int),
        ("n_heads", Int),
        ("d_k", Int),
        ("d_v", Int),
        ("d_ff", Int),
        ("pre_norm", Int),
        ("activation", Int),
    ]


class EmbeddingStruct(ctypes.Structure):
    """`Embedding` of kernels.c."""

    _fields_ = [("tokens", Pointer), ("n_tokens", Int), ("scale", Double), ("centring", Int)]


class DecoderStruct(ctypes.Structure):
    """`Decoder` of kernels.c."""

    _fields_ = [
        ("shape", ShapeStruct),
        ("embedding", EmbeddingStruct),
        ("n_layers", Int),
        ("layers", Pointer),
        ("norm", NormStruct),
    ]


class KeyValueCacheStruct(ctypes.Structure):
    """`KeyValueCache` of kernels.c."""

    _fields_ = [("keys", Pointer), ("values", Pointer), ("blocks", Int)]


class SearchStateStruct(ctypes.Structure):
    """`SearchState` of kernels.c."""

    _fields_ = [
        ("source_length", Int),
        ("memory_caches", Pointer),
        ("target_caches", Pointer),
        ("memory_mask_bias", Pointer),
        ("cache_rows", Pointer),
    ]


class StepStruct(ctypes.Structure):
    """`Step` of kernels.c."""

    _fields_ = [
        ("ids", Pointer),
        ("slots", Pointer),
        ("n_slots", Int),
        ("n_rows", Int),
        ("n_read", Int),
        ("added", Pointer),
        ("angles", Pointer),
        ("mask_bias", Pointer),
        ("mask_stride", Int),
    ]


STRUCTURES = (
    *(LinearStruct, NormStruct, LayerStruct, ShapeStruct, EmbeddingStruct),
    *(DecoderStruct, KeyValueCacheStruct, SearchStateStruct, StepStruct),
)


class Kernels:
    """The functions of kernels.c, documented there, with the types of their arguments."""

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self.name = name

        def function(symbol: str, *types: type) -> Callable[..., None]:
            compiled = library[symbol]
            compiled.argtypes, compiled.restype = types, Int

            def call(*arguments: object) -> None:
                status = compiled(*arguments)
                if status == NO_MEMORY:
                    raise ResourceError("not enough memory", advice="use a smaller --batch-size, or fewer --workers")
                if status == NO_SUCH_ID:
                    raise IndexError("an id that is not in the vocabulary")

            return call

        self.lanes: int = library["lanes"]()  # floats of a vector: keys and values lie in whole ones
        self.inputs: int = library["inputs"]()  # the inputs of a linear map are filled up to a multiple of this
        self.input_pack: int = library["input_pack_size"]()  # inputs that are multiplied by one instruction
        self.largest_weight: int = library["largest_weight"]()  # of integer weights; 0 for other weights
        self.pack: int = library["pack_size"]()  # operands of attention in one instruction: 1 float32 or 2 bfloat16
        self.operand: type[np.generic] = np.float32 if self.pack == 1 else np.uint16
        self.weight: type[np.generic] = np.int8 if self.largest_weight else self.operand
        self.encode = function("encode", Pointer, Pointer, Pointer, Int, Int, Pointer, Pointer)
        self.read_memory = function("read_memory", Pointer, Pointer, Pointer, Int, Int, Pointer)
        self.decode = function("decode", Pointer, Pointer, Pointer, Pointer)
        self.normalise_rows = function("normalise_rows", Pointer, Pointer, Pointer, Int)
        self.best_scores = function("best_scores", Pointer, Pointer, Int, Pointer, Int, Int, Pointer, Pointer)
        self.all_scores = function("all_scores", Pointer, Pointer, Int, Pointer)


def usable_kernels(precision: Precision = "float32") -> tuple[Kernels, ...]:
    """Return the libraries that were compiled and run on this processor, the fastest first.

    Those of the `precision` come before those of float32, if the processor has such products.
    """
    own = tuple(kernels for kernels in _usable(precision) if kernels.name not in LIBRARIES["float32"])
    return own + _usable("float32")


@functools.cache
def _usable(precision: Precision) -> tuple[Kernels, ...]:
    """Return those of `LIBRARIES`, the fastest first."""
    names, interface = LIBRARIES[precision], [INTERFACE, *map(ctypes.sizeof, STRUCTURES)]
    libraries = usable_libraries(Path(__file__).parent, names, interface, get_args(Precision).index(precision))
    return tuple(Kernels(name, library) for name, library in libraries)


def address(array: NDArray[Any]) -> int:
    """Return the address of a contiguous array."""
    try:
        return ctypes.addressof(Byte.from_buffer(array))  # type: ignore[arg-type] # arrays are buffers
    except (TypeError, ValueError):  # a read-only or empty array: the same, three times slower
        return array.ctypes.data
