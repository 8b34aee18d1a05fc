"""Marian's `.bin` files. All numbers are little-endian:

version              uint64, 1
number of tensors    uint64
for each tensor      its bytes of name, kind, axes, and bytes of data: 4 uint64
all names            each ends with a zero
all shapes           int32
padding              uint64, its bytes, and these
all data             each may end with up to 256 bytes that mean nothing
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from dragoman.errors import BundleError
from dragoman.imports.marian_tensors import MOST_TENSORS, Kind, MarianTensor, n_bytes

_VERSION, _ENCRYPTED = 1, 2
_HEAD = struct.Struct("<4Q")
_MOST_NAME, _MOST_AXES = 1_000, 8
#: Data begins and ends at multiples of this.
_ALIGNMENT = 256
#: The numbers by which Marian names kinds. Two forks of it have different ones for intgemm.
_KINDS: dict[int, Kind] = {0x404: "float32", 0x402: "float16", 0x101: "int8", 0x4101: "intgemm8", 0x10001: "intgemm8"}
#: Parts of the numbers of kinds that a processor or a library packs in its own order.
_PACKED = {0x800: "FBGEMM's", 0x10000: "a processor's", 0x4000: "16-bit"}


def is_binary(head: bytes) -> bool:
    """Return True if the first bytes of a file are those of Marian's."""
    return len(head) >= 16 and struct.unpack_from("<Q", head)[0] in (_VERSION, _ENCRYPTED)


def binary_tensors(content: bytes, path: Path) -> dict[str, MarianTensor]:
    """Return the tensors of a file, by name; their data is not copied.

    Raises:
        BundleError: the file is damaged, or has a kind of numbers that is not read.
    """
    try:
        tensors = {tensor.name: tensor for tensor in _Reader(content).tensors()}
    except (ValueError, struct.error) as error:
        raise BundleError(f"not a model file of Marian ({error})", path, advice="use another copy") from None
    return tensors


class _Reader:
    """Reads a file from its beginning to its end."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self._place = 0

    def tensors(self) -> Iterator[MarianTensor]:
        """Yield all tensors; a ValueError says what is wrong."""
        version, count = self._numbers(2)
        if version != _VERSION:
            raise ValueError("it is encrypted" if version == _ENCRYPTED else f"version {version:,} instead of 1")
        if count > MOST_TENSORS:
            raise ValueError(f"{count:,} tensors")
        heads = [_HEAD.unpack(self._take(_HEAD.size)) for _ in range(count)]
        names = [self._name(head[0]) for head in heads]
        if len({*names}) != count:
            raise ValueError("two tensors have one name")
        shapes = [self._shape(name, head[2]) for name, head in zip(names, heads, strict=True)]
        self._take(self._numbers(1)[0])
        for name, shape, (_, kind, _, size) in zip(names, shapes, heads, strict=True):
            yield self._tensor(name, shape, kind, size)
        if self._place != len(self._content):
            raise ValueError(f"{len(self._content) - self._place:,} bytes follow the last tensor")

    def _take(self, size: int) -> memoryview:
        start, self._place = self._place, self._place + size
        if self._place > len(self._content):
            raise ValueError(f"it ends before byte {self._place:,}")
        return self._content[start : self._place]

    def _numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", self._take(8 * count))

    def _name(self, size: int) -> str:
        if not 1 < size <= _MOST_NAME:
            raise ValueError(f"a name of {size:,} bytes")
        name = bytes(self._take(size))
        if name.find(b"\0") != size - 1:
            raise ValueError("a name does not end with a zero")
        return name[:-1].decode()

    def _shape(self, name: str, n_axes: int) -> tuple[int, ...]:
        if not 1 <= n_axes <= _MOST_AXES:
            raise ValueError(f"{name!r} has {n_axes:,} axes")
        shape = struct.unpack(f"<{n_axes}i", self._take(4 * n_axes))
        if min(shape) < 1:
            raise ValueError(f"{name!r} has the shape {shape}")
        return shape

    def _tensor(self, name: str, shape: tuple[int, ...], number: int, size: int) -> MarianTensor:
        if (kind := _KINDS.get(number)) is None:
            raise ValueError(f"{name!r} has numbers of {_kind_name(number)}; convert it from its .npz with intgemm8")
        needed = n_bytes(kind, shape)
        if not needed <= size <= needed + _ALIGNMENT:
            raise ValueError(f"{name!r} has {size:,} bytes, and its shape {needed:,}")
        return MarianTensor(name, kind, shape, self._take(size)[:needed])


def _kind_name(number: int) -> str:
    packed = next((name for bit, name in _PACKED.items() if number & bit), None)
    return f"the kind {number:#x}" if packed is None else f"{packed} order ({number:#x})"
