"""C libraries, compiled once for each kind of processor when dragoman is installed, if there is a C compiler.

A library that was not compiled, or does not fit this system, processor or source, is left out. Callers fall back on
other code.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

#: The suffix of a library's file, which setup.py gives it.
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

#: Functions of a library by name.
Library = Mapping[str, Callable[..., Any]]


def usable_libraries(
    folder: Path, names: Sequence[str], interface: int, processor: str, *processor_arguments: int
) -> Iterator[tuple[str, ctypes.CDLL]]:
    """Yield the libraries that this processor can run, with their names, the fastest first.

    Args:
        folder: of the libraries; the file of a library is an underscore and its name.
        names: of the libraries of one source, the slowest first. The first runs everywhere.
        interface: the digest of the header that they must have been compiled with.
        processor: the function of the first that returns a bit for each that runs here, given `processor_arguments`.
    """
    base = load(folder / f"_{names[0]}", interface)
    if base is not None:
        runs_here = base[processor](*map(ctypes.c_int64, processor_arguments))
        for index, name in reversed(list(enumerate(names))):
            library = load(folder / f"_{name}", interface) if runs_here >> index & 1 else None
            if library is not None:
                yield name, library


def load(path: Path, interface: int) -> ctypes.CDLL | None:
    """Return the library at a path without its suffix, if it can be loaded and has this interface."""
    try:
        library = ctypes.CDLL(str(path.with_name(path.name + SUFFIX)))
        actual = ctypes.c_uint64.in_dll(library, "interface").value
    except (OSError, ValueError):  # not compiled, for another system, or an older version
        return None
    return library if actual == interface else None


def loaded_openmp() -> str | None:
    """Return the path of the OpenMP that was loaded, PyTorch's if there are several.

    The libraries for training use it and are not linked with one of their own, which would start more threads.
    """
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    text = maps.read_text(encoding="utf-8", errors="surrogateescape")
    found = re.findall(r"/.*/lib(?:gomp|omp|iomp5)\b.*\.so[.\d]*$", text, re.MULTILINE)
    return min(found, key=lambda path: "/torch" not in path, default=None)
