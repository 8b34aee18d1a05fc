"""The hashes of a corpus's pairs, sorted in RAM that does not grow with the corpus.

They go to files by the first bits of one side's hash, and each file is sorted by itself.
"""

from __future__ import annotations

import contextlib
import errno
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import ResourceError
from dragoman.text.cleaning import comparable

RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("n_bytes", "<u8"), ("index", "<i8")])
_BUFFER = 100_000
_BITS = 6


def text_hash(text: str) -> int:
    """Return a hash of 64 bits, the same for texts that look the same."""
    return int.from_bytes(blake2b(comparable(text).encode(), digest_size=8).digest(), "big")


class HashedPairs:
    """Records of pairs in temporary files, which are there as long as the context lasts.

    Args:
        key: the side by whose hash the records are grouped.
    """

    def __init__(self, key: Literal["source", "target"]) -> None:
        self._key = key
        #: Hashes of source and target and `n_bytes` of the pairs that are not in the files yet, one after the other.
        self._waiting = array("Q")
        self._n_written = 0
        self._closing = contextlib.ExitStack()
        self._folder = Path(self._closing.enter_context(TemporaryDirectory(prefix="dragoman-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def __len__(self) -> int:
        return self._n_written + len(self._waiting) // 3

    def add(self, source_hash: int, target_hash: int, n_bytes: int = 0) -> None:
        """Take the next pair of the corpus.

        Args:
            source_hash, target_hash: of `text_hash`.
            n_bytes: the length of the target's UTF-8, where that is needed.

        Raises:
            ResourceError: the disk of temporary files is full.
        """
        self._waiting.extend((source_hash, target_hash, n_bytes))
        if len(self._waiting) >= 3 * _BUFFER:
            self._write()

    def groups(self) -> Iterator[NDArray[Any]]:
        """Yield the records, those of one key together: `RECORD` (n,), in order of the key, the other hash, the index.

        Raises:
            ResourceError: as `add`.
        """
        self._write()
        other = "target" if self._key == "source" else "source"
        for path in sorted(self._folder.iterdir()):
            records = np.fromfile(path, RECORD)
            records.sort(order=[self._key, other, "index"])
            yield records

    def _write(self) -> None:
        values = np.array(self._waiting, np.uint64).reshape(-1, 3)
        self._waiting = array("Q")
        records = np.empty(len(values), RECORD)
        for name, column in zip(("source", "target", "n_bytes"), values.T, strict=True):
            records[name] = column
        records["index"] = np.arange(self._n_written, self._n_written + len(records))
        self._n_written += len(records)
        records.sort(order=self._key)
        partitions = records[self._key] >> np.uint64(64 - _BITS)
        bounds = np.searchsorted(partitions, np.arange((1 << _BITS) + 1, dtype=np.uint64))
        try:
            for number in range(1 << _BITS):
                part = records[bounds[number] : bounds[number + 1]]
                if len(part):
                    with open(self._folder / f"{number:02d}", "ab") as file:
                        file.write(part.tobytes())
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            advice = "free some space, or let TMPDIR name a folder on another disk"
            raise ResourceError("no space left for temporary files", self._folder, advice=advice) from None
