"""Records with hashes, sorted in RAM that does not grow with their number.

They go to files by the first bits of a hash, and each file is sorted by itself.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import ResourceError

_BITS = 6


class Partitions:
    """Records on disk, as long as the context lasts.

    Args:
        key: the field of a record, a hash of 64 bits, by which equal ones come together.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._closing = contextlib.ExitStack()
        self._folder = Path(self._closing.enter_context(TemporaryDirectory(prefix="dragoman-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def add(self, records: NDArray[Any]) -> None:
        """Write some records; their order changes.

        Raises:
            ResourceError: the disk of temporary files is full.
        """
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

    def sorted(self, dtype: np.dtype[Any], order: Sequence[str]) -> Iterator[NDArray[Any]]:
        """Yield all records, those with equal keys in one array, each array sorted by the fields of `order`."""
        for path in sorted(self._folder.iterdir()):
            records = np.fromfile(path, dtype)
            records.sort(order=list(order))
            yield records
