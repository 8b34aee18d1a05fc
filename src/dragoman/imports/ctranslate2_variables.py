"""CTranslate2's `model.bin`, of which nothing is run. All numbers are little-endian; a text has its length, and a zero.

version              uint32
specification        text, and its revision, uint32
number of variables  uint32
for each variable    its name (text), number of axes (uint8), sizes (uint32), kind (uint8), bytes of data (uint32), data
number of aliases    uint32, from version 3 on
for each alias       its name and that of a variable (texts)

Before version 4 a variable has the bytes of a number in place of its kind, and how many numbers follow.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import BundleError
from dragoman.imports.stored_tensor import from_bfloat16
from dragoman.machine.arrays import Floats

VERSIONS = range(2, 7)
_WITH_ALIASES, _WITH_KINDS = 3, 4
_MOST_VARIABLES, _MOST_NAME, _MOST_AXES = 50_000, 1_000, 4
#: A file shows its numbers this many times at most: three tied matrices in int8 become twelve times their bytes.
_MOST_TIMES = 16
#: By the numbers of kinds; the first half of a float32 is a bfloat16, kept as uint16.
_KINDS = ("float32", "int8", "int16", "int32", "float16", "bfloat16")
_TYPES = {"float32": "<f4", "int8": "i1", "int16": "<i2", "int32": "<i4", "float16": "<f2", "bfloat16": "<u2"}
#: Kinds by the bytes of a number, before version 4.
_OLD_KINDS = {4: "float32", 2: "int16", 1: "int8"}
_SCALE = "_scale"


class Variable(NamedTuple):
    """The place of a variable's numbers in the file."""

    kind: str
    shape: tuple[int, ...]
    start: int

    @property
    def n_bytes(self) -> int:
        """Bytes of its numbers."""
        return math.prod(self.shape) * np.dtype(_TYPES[self.kind]).itemsize


@dataclass(frozen=True)
class Specification:
    """The name of a kind of models, and the variables of one, by their names and aliases; none is read yet."""

    path: Path
    version: int
    name: str
    revision: int
    variables: dict[str, Variable] = field(default_factory=dict)

    def floats(self, name: str) -> Floats:
        """Return a variable in float32; whole numbers are divided by their scales, one for each row or for all.

        Raises:
            BundleError: there is no scale, or one of another shape.
        """
        values = self._numbers(name)
        if values.dtype.kind != "i":
            return values.astype(np.float32)
        scale = self.variables.get(f"{name}{_SCALE}")
        if scale is None or scale.kind != "float32" or scale.shape not in ((), (1,), values.shape[:1]):
            raise BundleError(f"{name} has whole numbers without their scales", self.path, advice="use another copy")
        scales = self._numbers(f"{name}{_SCALE}").astype(np.float32)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            result: Floats = values.astype(np.float32) / scales.reshape(-1, *[1] * (values.ndim - 1))
        return result

    def number(self, name: str) -> float | None:
        """Return a variable without axes; None if there is no such variable.

        Raises:
            BundleError: it is no finite number.
        """
        variable = self.variables.get(name)
        if variable is None or math.prod(variable.shape) != 1:
            return None
        value = float(self._numbers(name).reshape(()))
        if not math.isfinite(value):
            raise BundleError(f"{name} is {value}", self.path, advice="use another copy")
        return value

    def text(self, name: str) -> str | None:
        """Return a variable that is a text in UTF-8, as settings were before version 6; None if it is none."""
        variable = self.variables.get(name)
        if variable is None or variable.kind != "int8" or variable.n_bytes > _MOST_NAME:
            return None
        return self._numbers(name).tobytes().decode(errors="replace")

    def _numbers(self, name: str) -> NDArray[np.generic]:
        variable = self.variables[name]
        type, count = np.dtype(_TYPES[variable.kind]), math.prod(variable.shape)
        values = np.fromfile(self.path, type, count, offset=variable.start)
        return (from_bfloat16(values) if variable.kind == "bfloat16" else values).reshape(variable.shape)


def read_specification(path: Path) -> Specification:
    """Read where the variables of a file are.

    Raises:
        BundleError: it is damaged, or of a version that is not read.
    """
    try:
        with open(path, "rb") as file:
            return _Reader(file, path).specification()
    except (OSError, ValueError) as error:
        raise BundleError(f"not a model file of CTranslate2 ({error})", path, advice="use another copy") from None


class _Reader:
    """Reads a file from its beginning to its end; a ValueError says what is wrong."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path, self._size = file, path, path.stat().st_size

    def specification(self) -> Specification:
        version = self._number("I")
        if version not in VERSIONS:
            raise ValueError(f"version {version:,}; {VERSIONS[0]} to {VERSIONS[-1]} are read")
        result = Specification(self._path, version, self._text(), self._number("I"))
        for name, variable in self._variables(version):
            if name in result.variables:
                raise ValueError(f"two variables have the name {name!r}")
            result.variables[name] = variable
        if version >= _WITH_ALIASES:
            self._add_aliases(result.variables)
        if rest := self._size - self._file.tell():
            raise ValueError(f"{rest:,} bytes follow its end")
        if 4 * sum(math.prod(variable.shape) for variable in result.variables.values()) > _MOST_TIMES * self._size:
            raise ValueError(f"its variables have more than {_MOST_TIMES} times its bytes")
        return result

    def _variables(self, version: int) -> Iterator[tuple[str, Variable]]:
        for _ in range(self._count()):
            name, n_axes = self._text(), self._number("B")
            if n_axes > _MOST_AXES:
                raise ValueError(f"{name!r} has {n_axes} axes")
            shape = struct.unpack(f"<{n_axes}I", self._take(4 * n_axes))
            kind_or_width, size = self._number("B"), self._number("I")
            if version >= _WITH_KINDS:
                kind = _KINDS[kind_or_width] if kind_or_width < len(_KINDS) else ""
            else:
                kind, size = _OLD_KINDS.get(kind_or_width, ""), size * kind_or_width
            if not kind:
                raise ValueError(f"{name!r} has numbers of the kind {kind_or_width}")
            variable = Variable(kind, shape, self._file.tell())
            if variable.n_bytes != size:
                raise ValueError(f"{name!r} has {size:,} bytes, and its shape {variable.n_bytes:,}")
            if variable.start + size > self._size:
                raise ValueError(f"it ends before byte {variable.start + size:,}")
            self._file.seek(size, 1)
            yield name, variable

    def _add_aliases(self, variables: dict[str, Variable]) -> None:
        """Add other names of variables, and of their scales."""
        own = variables.copy()
        for _ in range(self._count()):
            alias, name = self._text(), self._text()
            if name not in own or alias in variables:
                raise ValueError(f"{alias!r} stands for {name!r}: there is no such variable, or one with this name")
            variables[alias] = own[name]
            if f"{name}{_SCALE}" in own:
                variables.setdefault(f"{alias}{_SCALE}", own[f"{name}{_SCALE}"])

    def _count(self) -> int:
        if (count := self._number("I")) > _MOST_VARIABLES:
            raise ValueError(f"{count:,} variables or aliases")
        return count

    def _text(self) -> str:
        size = self._number("H")
        if not 1 < size <= _MOST_NAME:
            raise ValueError(f"a name of {size:,} bytes")
        content = self._take(size)
        if content.find(b"\0") != size - 1:
            raise ValueError("a name does not end with a zero")
        return content[:-1].decode()

    def _number(self, kind: str) -> int:
        return int(struct.unpack(f"<{kind}", self._take(struct.calcsize(f"<{kind}")))[0])

    def _take(self, size: int) -> bytes:
        content = self._file.read(size)
        if len(content) != size:
            raise ValueError(f"it ends before byte {self._file.tell() - len(content) + size:,}")
        return content
