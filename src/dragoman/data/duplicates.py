"""Pairs that occur twice, found in RAM that does not grow with the corpus."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from hashlib import blake2b
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dragoman.data.partitions import Partitions
from dragoman.text.cleaning import comparable

_RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("index", "<i8")])
_BUFFER = 100_000


@dataclass(frozen=True)
class Duplicates:
    """Repeated pairs of a corpus."""

    #: True for a pair that came before: bool (n_pairs,).
    repeated: NDArray[np.bool_]
    n_repeated: int
    #: Pairs, each counted once, whose source came before with another target.
    n_other_target: int


def text_hash(text: str) -> int:
    """Return a hash of 64 bits, the same for texts that look the same."""
    return int.from_bytes(blake2b(comparable(text).encode(), digest_size=8).digest(), "big")


class DuplicateFinder:
    """Takes the pairs of a corpus in order, then finds the repeated ones.

    Two pairs count as the same if 128 bits of hashes are the same.
    """

    def __init__(self) -> None:
        self._sources, self._targets = array("Q"), array("Q")
        self._n_pairs = 0
        self._partitions = Partitions("source")

    def __enter__(self) -> Self:
        self._partitions.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._partitions.__exit__(kind, error, trace)

    def add(self, source_hash: int, target: str) -> int:
        """Take the next pair, and return the hash of its target.

        Raises:
            ResourceError: the disk of temporary files is full.
        """
        self._sources.append(source_hash)
        target_hash = text_hash(target)
        self._targets.append(target_hash)
        self._n_pairs += 1
        if len(self._sources) >= _BUFFER:
            self._spill()
        return target_hash

    def find(self) -> Duplicates:
        """Sort the hashes, and return the repeated pairs."""
        self._spill()
        repeated = np.zeros(self._n_pairs, bool)
        n_other_target = 0
        for records in self._partitions.sorted(_RECORD, ("source", "target", "index")):
            same_source = records["source"][1:] == records["source"][:-1]
            same_pair = same_source & (records["target"][1:] == records["target"][:-1])
            repeated[records["index"][1:][same_pair]] = True
            n_other_target += int((same_source & ~same_pair).sum())
        return Duplicates(repeated, int(repeated.sum()), n_other_target)

    def _spill(self) -> None:
        records = np.empty(len(self._sources), _RECORD)
        records["source"], records["target"] = self._sources, self._targets
        records["index"] = np.arange(self._n_pairs - len(records), self._n_pairs)
        self._sources, self._targets = array("Q"), array("Q")
        self._partitions.add(records)
