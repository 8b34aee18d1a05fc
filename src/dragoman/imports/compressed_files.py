"""Files of a stranger's folder, compressed by gzip or not: read whole or hashed, within limits."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path

from dragoman.errors import BundleError
from dragoman.machine.files import sha256
from dragoman.machine.json_files import read_at_most

#: A file may expand to this many times its size, and a small one to `_FREE_BYTES`. Weights hardly shrink, and text to a
#: fifth; more is a trap.
MOST_TIMES, _FREE_BYTES = 20, 1_000_000
GZIP = ".gz"
#: What reading a gzip file raises if it is damaged.
_DAMAGED = (OSError, EOFError, zlib.error)
_CHUNK = 1 << 20


def largest_expanded(size: int) -> int:
    """Return the most bytes that a compressed file of `size` bytes may expand to."""
    return MOST_TIMES * size + _FREE_BYTES


def plain_name(path: Path) -> str:
    """Return the name of a file without `.gz`."""
    return path.name.removesuffix(GZIP)


def file_content(path: Path, limit: int) -> bytes:
    """Return the content of a file, expanded if its name ends in `.gz`.

    Raises:
        BundleError: it cannot be read, or has more than `limit` bytes, or expands to more than `MOST_TIMES` its size.
    """
    try:
        size = path.stat().st_size
        if path.suffix != GZIP:
            if size > limit:
                raise ValueError(f"larger than {limit:,} bytes")
            return read_at_most(path, size)  # which takes as much RAM as it may read
        limit = min(limit, largest_expanded(size))
        with gzip.open(path) as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            raise ValueError(f"expands to more than {limit:,} bytes")
        return content
    except (*_DAMAGED, ValueError) as error:
        raise BundleError(f"cannot be read ({error})", path, advice="use another copy") from None


def content_hash(path: Path) -> str | None:
    """Return the SHA-256 of a file's content, expanded if its name ends in `.gz`.

    Returns:
        None if it cannot be expanded, or expands to more than `MOST_TIMES` its size.
    """
    if path.suffix != GZIP:
        return sha256(path)
    total, n_left = hashlib.sha256(), largest_expanded(path.stat().st_size)
    try:
        with gzip.open(path) as file:
            while n_left >= 0 and (chunk := file.read(_CHUNK)):
                total.update(chunk)
                n_left -= len(chunk)
    except _DAMAGED:
        return None
    return total.hexdigest() if n_left >= 0 else None
