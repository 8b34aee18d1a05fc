"""Files of a stranger's folder, compressed by gzip or not: read whole, within limits."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from dragoman.errors import BundleError
from dragoman.machine.json_files import read_at_most

#: A file may expand to this many times its size, and a small one to `_FREE_BYTES`. Weights hardly shrink, and text to a
#: fifth; more is a trap.
MOST_TIMES, _FREE_BYTES = 20, 1_000_000
GZIP = ".gz"


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
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BundleError(f"cannot be read ({error})", path, advice="use another copy") from None
