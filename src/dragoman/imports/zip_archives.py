"""Zip archives of a stranger, whose list of files is bounded before Python's reader builds it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import BinaryIO

#: All that reading a damaged archive raises; RuntimeError: a password, or a version of zip that Python lacks.
DAMAGED = (ValueError, OSError, EOFError, LookupError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error)
#: The ways of compression that are read.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Bytes of a list of files; each takes 46 and its name.
_MOST_BYTES = 5_000_000
#: The last records of a file: one for archives with many or large files, the place of that one, and the usual one.
_LARGE_END, _LARGE_PLACE, _END = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL"), struct.Struct("<4s4H2LH")


def opened_archive(file: BinaryIO, most_files: int) -> zipfile.ZipFile:
    """Open an archive.

    Raises:
        ValueError: it has more files, one twice, a longer list of them than any archive needs, or a comment.
        BadZipFile, struct.error: it is damaged.
    """
    if _list_bytes(file) > _MOST_BYTES:
        raise ValueError("its archive has too many files")
    archive = zipfile.ZipFile(file)
    names = archive.namelist()
    if len(names) > most_files or len({*names}) < len(names):
        raise ValueError("its archive has too many files, or one twice")
    return archive


def _list_bytes(file: BinaryIO) -> int:
    """Return the size of the list of files, which is read from where Python's reader reads it."""
    size = file.seek(0, 2)
    start = max(0, size - _LARGE_END.size - _LARGE_PLACE.size - _END.size)
    file.seek(start)
    tail = file.read()
    signature, *_, n_bytes, _, n_comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\5\6" or n_comment:
        raise ValueError("it is no zip archive, or has a comment")
    place = tail[-_LARGE_PLACE.size - _END.size : -_END.size]
    if not place.startswith(b"PK\6\7"):
        return int(n_bytes)
    signature, *_, n_bytes, _ = _LARGE_END.unpack(tail[: _LARGE_END.size])
    if signature != b"PK\6\6" or _LARGE_PLACE.unpack(place)[2] != start:
        raise ValueError("the end of its archive is damaged")
    return int(n_bytes)
