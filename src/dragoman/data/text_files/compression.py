"""Compressed text, unpacked while it is read: gzip, bzip2, xz, and zstd if a package for it is installed.

The first bytes decide, and not the name, because no text in UTF-8 begins like a compressed file.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from dragoman.errors import ConfigError, DataError

#: Bytes read or unpacked at once.
BLOCK_BYTES = 1 << 16
#: First bytes by which a kind of file is recognised.
HEAD_BYTES = 4096
#: RAM that unpacking xz may take; `xz -9` needs a quarter of it, and a hostile file may ask for 4 GiB.
_XZ_RAM_BYTES = 1 << 28

Read = Callable[[], bytes]


class DamagedError(Exception):
    """A compressed stream that is cut off, damaged, or followed by something else."""


class _Format(NamedTuple):
    name: str
    suffix: str
    starts: tuple[bytes, ...]


# A bzip2 file begins with its block size and the first digits of pi, or of its root where there is no block.
_BZIP2_STARTS = tuple(b"BZh%d%s" % (size, mark) for size in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90"))
_FORMATS = (
    _Format("gzip", ".gz", (b"\x1f\x8b",)),
    _Format("bzip2", ".bz2", _BZIP2_STARTS),
    _Format("xz", ".xz", (b"\xfd7zXZ\0",)),
    _Format("zstd", ".zst", (b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18")),
)
#: Suffixes of compressed files.
COMPRESSED_SUFFIXES = tuple(kind.suffix for kind in _FORMATS)


def uncompressed_name(path: str | Path) -> Path:
    """Return a file name without the suffix of a compression: "a.tsv.gz" is "a.tsv"."""
    path = Path(path)
    return path.with_suffix("") if path.suffix in COMPRESSED_SUFFIXES else path


def unpacked(file: BinaryIO, name: str | Path) -> ByteStream:
    """Return the content of a file or pipe, unpacked if it is compressed.

    It waits for no more bytes than it needs, so the first line of a pipe can be read before its second is written.

    Raises:
        DamagedError: the suffix of `name` promises another content; also raised while the result is read.
        DataError: a package to unpack it is missing.
    """
    read: Read = partial(file.read1, BLOCK_BYTES)  # type: ignore[attr-defined]
    start, more = b"", b"more"
    while more and any(mark.startswith(start) and mark != start for kind in _FORMATS for mark in kind.starts):
        more = read()
        start += more
    packed = ByteStream(chain([start], iter(read, b"")))
    kind = next((kind for kind in _FORMATS if start.startswith(kind.starts)), None)
    if kind is not None:
        return ByteStream(_contents(kind, packed, name))
    suffix = Path(name).suffix
    if start and suffix in COMPRESSED_SUFFIXES:
        promised = next(kind.name for kind in _FORMATS if kind.suffix == suffix)
        raise DamagedError(f"damaged {promised} file (not a {promised} file)")
    return packed


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; none if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return io.BufferedReader(unpacked(file, path)).read(HEAD_BYTES)
    except (OSError, DamagedError, DataError):
        return b""


def packed_file(file: BinaryIO, suffix: str) -> BinaryIO | None:
    """Return a stream that compresses into `file` as the suffix says; None if the suffix names no compression.

    The same text gives the same bytes.

    Raises:
        ConfigError: files with this suffix are only read.
    """
    if suffix == ".gz":
        return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if suffix == ".bz2":
        return cast("BinaryIO", import_module("bz2").BZ2File(file, "wb"))
    if suffix == ".xz":
        return cast("BinaryIO", import_module("lzma").LZMAFile(file, "wb"))
    refuse_packing(suffix)
    return None


def refuse_packing(suffix: str) -> None:
    """Refuse an output with the suffix of a compression that is only read.

    Raises:
        ConfigError: it has one.
    """
    if suffix in COMPRESSED_SUFFIXES and suffix not in (".gz", ".bz2", ".xz"):
        raise ConfigError(f"an output cannot be a {suffix} file", advice="end its name in .gz, .bz2 or .xz")


class ByteStream(io.RawIOBase):
    """A stream of blocks; a read returns bytes of one block.

    `head` is the beginning of what was read, up to `HEAD_BYTES`.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest, self.head = blocks, b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
            self.head += block[: HEAD_BYTES - len(self.head)]
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes], self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return n_bytes


def _contents(kind: _Format, packed: ByteStream, name: str | Path) -> Iterator[bytes]:
    if kind.name == "gzip":
        return _from_gzip(packed)
    try:
        new = {"bzip2": _bzip2, "xz": _xz, "zstd": _zstd}[kind.name]()
    except ImportError:
        advice = f"unpack it first: {kind.name} -d"
        if kind.name == "zstd":
            advice += ", or install the Python package backports.zstd"
        raise DataError(
            f"this is a {kind.name} file, and no package is installed to read it", name, advice=advice
        ) from None
    return _from_members(kind.name, lambda: cast("bytes", packed.read(BLOCK_BYTES)), new)


def _from_gzip(packed: ByteStream) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=cast("BinaryIO", packed)) as file:
            while block := file.read1(BLOCK_BYTES):
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedError(f"damaged gzip file ({error})") from None


def _from_members(name: str, read: Read, new: Callable[[], Any]) -> Iterator[bytes]:
    """Unpack members one after the other; zeros between and after them are padding, anything else is damage.

    `bz2.BZ2File` and `lzma.LZMAFile` ignore anything that follows a member.
    """
    packed = read()
    while packed:
        member = new()
        while not member.eof:
            if member.needs_input and not packed:
                packed = read()
                if not packed:
                    raise DamagedError(f"damaged {name} file (it ends before its end mark)")
            try:
                block = member.decompress(packed, BLOCK_BYTES)
            except MemoryError:
                raise
            except Exception as error:  # each library has its own
                raise DamagedError(f"damaged {name} file ({error})") from None
            packed = b""
            yield block
        packed = member.unused_data.lstrip(b"\0")
        while not packed and (more := read()):
            packed = more.lstrip(b"\0")


def _bzip2() -> Any:
    return import_module("bz2").BZ2Decompressor


def _xz() -> Any:
    lzma = import_module("lzma")
    return partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_RAM_BYTES)


def _zstd() -> Any:
    for module in ("compression.zstd", "backports.zstd"):  # part of Python 3.14; a package for older ones
        with suppress(ImportError):
            return import_module(module).ZstdDecompressor
    raise ImportError
