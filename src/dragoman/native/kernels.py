"""The binding of the engine (`dragoman.h`): its functions, and the library that fits this processor.

Without a library that fits, the search runs in PyTorch.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import BundleError, DragomanError, ResourceError
from dragoman.machine.arrays import Ints
from dragoman.machine.devices import Precision
from dragoman.native.header import Header
from dragoman.native.libraries import usable_libraries

#: The libraries of the engine for each precision, the slowest first. The first of each is that of float32: it runs
#: everywhere, and finds the others that do.
LIBRARIES: dict[Precision, tuple[str, ...]] = {
    "float32": ("kernels", "kernels_avx2", "kernels_avx512"),
    "bfloat16": ("kernels", "kernels_bfloat16"),
    "int8": (
        *("kernels", "kernels_int8_avx2", "kernels_int8_vnni", "kernels_int8_avx512", "kernels_int8_bfloat16"),
        *("kernels_int8_neon", "kernels_int8_dotprod"),
    ),
}


@functools.cache
def header() -> Header:
    """Return the interface of the engine."""
    return Header(Path(__file__).with_name("dragoman.h"))


class Kernels:
    """The functions of one library of the engine, documented in dragoman.h, without their prefix."""

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self.name = name
        self._functions = header().bind(library)
        geometry = header().type("Geometry")()
        self._functions["dragoman_geometry"](ctypes.byref(geometry))
        self.lanes: int = geometry.lanes  # floats of a vector: keys and values lie in whole ones
        self.largest_weight: int = geometry.largest_weight  # of integer weights; 0 for other weights
        self.pack: int = geometry.pack  # operands of attention in one instruction: 1 float32 or 2 bfloat16
        self.operand: type[np.generic] = np.float32 if geometry.operand_bytes == 4 else np.uint16
        self.read_sources = self._checked("read_sources")
        self.decode = self._checked("decode")
        self.best_scores = self._checked("best_scores")
        self.all_scores = self._checked("all_scores")
        self.translate = self._functions["dragoman_translate"]
        self.candidates = self._functions["dragoman_candidates"]
        self.nodes = self._functions["dragoman_nodes"]
        self.free_translation = self._functions["dragoman_free_translation"]
        self.score = self._checked("score")

    def load(
        self, config: ctypes.Structure, file: bytes | NDArray[np.uint8], *, allows_nan: bool = False
    ) -> EngineObject:
        """Load a model from the bytes of a safetensors file; what was read of a mapped file leaves RAM.

        Raises:
            BundleError: they are damaged, or of another model.
            ResourceError: there is not enough RAM.
        """
        problem = (ctypes.c_char * header().constants["PROBLEM_LENGTH"])()
        model = ctypes.c_void_p()
        load = self._functions["dragoman_load"]
        content, is_mapped = np.frombuffer(file, np.uint8), isinstance(file, np.memmap)
        places = address(content), len(content), allows_nan, is_mapped
        status = load(ctypes.byref(config), *places, problem, ctypes.byref(model))
        if status == header().constants["DAMAGED"]:
            raise BundleError(f"weights: {problem.value.decode()}", advice="use another copy")
        check(status)
        return EngineObject(model, self._functions["dragoman_free"])

    def make_short_list(self, model: EngineObject, lists: Sequence[Ints]) -> EngineObject:
        """Return a short-list for a loaded model: the output layer for the ids on some lists, none of them empty.

        Raises:
            IndexError: an id is not in the vocabulary.
            ResourceError: there is not enough RAM.
        """
        ids, ends = np.concatenate(lists).astype(np.int64), np.cumsum([len(ids) for ids in lists], dtype=np.int64)
        pointer = ctypes.c_void_p()
        make = self._functions["dragoman_make_short_list"]
        check(make(model.pointer, address(ids), address(ends), len(lists), ctypes.byref(pointer)))
        return EngineObject(pointer, self._functions["dragoman_free_short_list"], owner=model)

    def _checked(self, name: str) -> Callable[..., None]:
        function = self._functions[f"dragoman_{name}"]

        def call(*arguments: object) -> None:
            check(function(*arguments))

        return call


class EngineObject:
    """A model or a short-list that the engine made, freed when nobody holds it.

    Args:
        pointer: for the functions of the library that made it.
        free: the function that frees it.
        owner: an object that must live as long.
    """

    def __init__(
        self, pointer: ctypes.c_void_p, free: Callable[[ctypes.c_void_p], None], owner: EngineObject | None = None
    ) -> None:
        self.pointer, self._free, self._owner = pointer, free, owner

    def __del__(self) -> None:
        self._free(self.pointer)


def check(status: int) -> None:
    """Raise the error that a function's status stands for.

    Raises:
        ResourceError, IndexError, ValueError, DragomanError: see the statuses in dragoman.h.
    """
    constants = header().constants
    if status == constants["OK"]:
        return
    if status == constants["NO_MEMORY"]:
        raise ResourceError("not enough memory", advice="use a smaller --batch-size, or fewer --workers")
    if status == constants["NO_SUCH_ID"]:
        raise IndexError("an id that is not in the vocabulary")
    if status == constants["NOT_A_NUMBER"]:
        raise DragomanError("the model gives probabilities that are not numbers (NaN)")
    raise ValueError(f"the engine refuses its arguments ({status})")


def usable_kernels(precision: Precision = "float32") -> tuple[Kernels, ...]:
    """Return the libraries that were compiled and run on this processor, the fastest first.

    Those of the `precision` come before those of float32, if the processor has such products.
    """
    own = tuple(kernels for kernels in _usable(precision) if kernels.name not in LIBRARIES["float32"])
    return own + _usable("float32")


@functools.cache
def _usable(precision: Precision) -> tuple[Kernels, ...]:
    """Return those of `LIBRARIES`, the fastest first."""
    folder, names = Path(__file__).parent, LIBRARIES[precision]
    number = get_args(Precision).index(precision)
    libraries = usable_libraries(folder, names, header().digest, "dragoman_processor", number)
    return tuple(Kernels(name, library) for name, library in libraries)


def address(array: NDArray[Any]) -> int:
    """Return the address of a contiguous array."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type] # arrays are buffers
    except (TypeError, ValueError):  # a read-only or empty array: the same, three times slower
        return array.ctypes.data
