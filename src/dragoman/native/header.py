"""Structures and functions for ctypes, read from a C header.

The header is the only place that says which fields a structure has and which arguments a function takes. A library
carries the digest of the header that it was compiled with, so neither side can have another order of fields.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from pathlib import Path
from typing import Any

from dragoman.native.libraries import Library

_TYPES: dict[str, Any] = {
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "char": ctypes.c_char,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "void": None,
}


class Header:
    """A header with comments, enums, structures, types of functions, and functions.

    Attributes:
        constants: the value of each name in an enum.
        digest: 60 bits of the text's SHA-256, which setup.py gives to the compiler.

    Raises:
        ValueError: it has a declaration of another kind, or an unknown type.
    """

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self.digest = digest(text)
        self.constants: dict[str, int] = {}
        self._types = dict(_TYPES)
        self._names: dict[str, set[str]] = {}  # of the fields of each structure
        self._functions: dict[str, tuple[Any, list[Any]]] = {}
        code = re.sub(r"/\*.*?\*/|^#.*?$", " ", text, flags=re.S | re.M)
        for match in re.finditer(r"[^;{}]+(?:\{([^{}]*)\}([^;{}]*))?;", code):
            self._declare(" ".join(match[0].split()), match[1], (match[2] or "").strip())

    def structure(self, name: str, /, **fields: object) -> ctypes.Structure:
        """Return a structure with a value for every field.

        Raises:
            TypeError: a field is missing or unknown.
        """
        kind = self.type(name)
        if self._names[name] != fields.keys():
            raise TypeError(f"{name}: {sorted(self._names[name] ^ fields.keys())} missing or unknown")
        made: ctypes.Structure = kind(**fields)
        return made

    def type(self, name: str) -> Any:
        """Return the ctypes class of a structure or of a type of functions."""
        return self._types[name]

    def bind(self, library: ctypes.CDLL) -> Library:
        """Return the functions of a library by name, with the types of their arguments."""
        functions = {}
        for name, (result, arguments) in self._functions.items():
            function = library[name]
            function.restype, function.argtypes = result, arguments
            functions[name] = function
        return functions

    def _declare(self, declaration: str, body: str | None, name: str) -> None:
        if declaration.startswith("enum"):
            value = 0
            for constant, given in re.findall(r"(\w+)\s*(?:=\s*(-?\d+))?\s*(?:,|$)", (body or "").strip()):
                value = int(given) if given else value
                self.constants[constant], value = value, value + 1
        elif declaration.startswith("typedef struct") and body is not None:
            fields = [field for line in body.split(";") if line.strip() for field in self._fields(line)]
            self._types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
            self._names[name] = {field for field, _ in fields}
        elif opaque := re.fullmatch(r"typedef struct (\w+) \1;", declaration):
            self._types[opaque[1]] = None  # only pointers to it exist
        elif function := re.fullmatch(r"typedef (\w+) \(\*(\w+)\)\((.*)\);", declaration):
            arguments = [self._argument(each) for each in function[3].split(",")]
            self._types[function[2]] = ctypes.CFUNCTYPE(self._types[function[1]], *arguments)
        elif function := re.fullmatch(r"(\w+) (\w+)\((.*)\);", declaration):
            self._functions[function[2]] = (
                self._types[function[1]],
                [self._argument(each) for each in function[3].split(",") if each.strip() != "void"],
            )
        else:
            raise ValueError(f"not understood: {declaration}")

    def _fields(self, line: str) -> list[tuple[str, Any]]:
        match = re.fullmatch(r"(?:const )?(\w+)\s+(.+)", line.strip())
        if match is None:
            raise ValueError(f"not understood: {line.strip()}")
        return [self._field(match[1], each.strip()) for each in match[2].split(",")]

    def _field(self, kind: str, declared: str) -> tuple[str, Any]:
        match = re.fullmatch(r"(\**)(\w+)(?:\[(\d+)\])?", declared)
        if match is None or kind not in self._types:
            raise ValueError(f"not understood: {kind} {declared}")
        element = ctypes.c_void_p if match[1] else self._types[kind]
        return match[2], element * int(match[3]) if match[3] else element

    def _argument(self, declared: str) -> Any:
        return self._fields(declared)[0][1]


def digest(text: str) -> int:
    """Return the number that a library compiled with this header has in its symbol `interface`."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:15], 16)
