"""Libraries of C, compiled when dragoman is installed, if there is a C compiler, once for each kind of processor.

What was not compiled, or does not fit this system, this processor or this source, is left out; who asks for a library
has another way for when there is none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


def usable_libraries(
    folder: Path, names: Sequence[str], interface: Sequence[int], *which: int
) -> Iterator[tuple[str, ctypes.CDLL]]:
    """The libraries that this processor can run, the fastest first.

    Args:
        folder: where they are, the file of each named after it with an underscore before.
        names: of libraries of one source, the slowest first. It runs everywhere, and its `processor` has a bit for each
            that runs here.
        interface: what the source calls `interface`: a number that changes with the arguments of its functions, and the
            sizes of its structures.
        which: what `processor` is called with.
    """
    base = load(folder / f"_{names[0]}", interface)
    if base is not None:
        runs_here = base["processor"](*map(ctypes.c_int64, which))
        for place, name in reversed(list(enumerate(names))):
            library = load(folder / f"_{name}", interface) if runs_here >> place & 1 else None
            if library is not None:
                yield name, library


def load(path: Path, interface: Sequence[int]) -> ctypes.CDLL | None:
    """The library at a path without its suffix, if it is there, can be loaded, and has this interface."""
    for file in (path.with_name(path.name + suffix) for suffix in EXTENSION_SUFFIXES):
        if file.exists():
            try:
                library = ctypes.CDLL(str(file))
                found = (ctypes.c_int64 * len(interface)).in_dll(library, "interface")
            except (OSError, ValueError):  # of another system, or older
                return None
            return library if list(found) == list(interface) else None
    return None
