"""Lines that a corpus repeats many times, such as "All rights reserved.", found in RAM that does not grow with it."""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dragoman.data.partitions import Partitions

_RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("index", "<i8"), ("is_long", "?")])
_BUFFER = 100_000
#: A pair that occurs so many times is repeated, and so is a target of so many different sources.
_MANY_TIMES, _MANY_SOURCES = 20, 50
#: A shorter target, such as "Yes.", has many sources by right; in bytes, of which a Chinese character has three.
_MIN_BYTES = 16
_N_EXAMPLES = 5


@dataclass(frozen=True)
class Repeats:
    """Pairs of lines that are repeated many times."""

    #: True for each pair whose target has many sources, and for each pair that occurs many times except its first: bool
    #: (n_pairs,).
    is_repeat: NDArray[np.bool_]
    #: The first pair of each of the most frequent lines.
    examples: tuple[int, ...]


class RepeatFinder:
    """Takes the pairs of a corpus in order, then finds the lines that are repeated many times."""

    def __init__(self) -> None:
        self._sources, self._targets, self._are_long = array("Q"), array("Q"), bytearray()
        self._n_pairs = 0
        self._partitions = Partitions("target")

    def __enter__(self) -> Self:
        self._partitions.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._partitions.__exit__(kind, error, trace)

    def add(self, source_hash: int, target_hash: int, target: str) -> None:
        """Take the next pair, and the hashes of its sides (`text_hash`).

        Raises:
            ResourceError: the disk of temporary files is full.
        """
        self._sources.append(source_hash)
        self._targets.append(target_hash)
        self._are_long.append(len(target.encode()) >= _MIN_BYTES)
        self._n_pairs += 1
        if len(self._sources) >= _BUFFER:
            self._spill()

    def find(self) -> Repeats:
        """Sort the hashes, and return the pairs of repeated lines."""
        self._spill()
        is_repeat = np.zeros(self._n_pairs, bool)
        largest: list[tuple[int, int]] = []
        for records in self._partitions.sorted(_RECORD, ("target", "source", "index")):
            repeats, groups = _repeats(records)
            is_repeat[records["index"][repeats]] = True
            largest = heapq.nlargest(_N_EXAMPLES, [*largest, *groups])
        return Repeats(is_repeat, tuple(sorted(-first for _, first in largest)))

    def _spill(self) -> None:
        records = np.empty(len(self._sources), _RECORD)
        records["source"], records["target"] = self._sources, self._targets
        records["index"] = np.arange(self._n_pairs - len(records), self._n_pairs)
        records["is_long"] = np.frombuffer(bytes(self._are_long), bool)
        self._sources, self._targets, self._are_long = array("Q"), array("Q"), bytearray()
        self._partitions.add(records)


def _repeats(records: NDArray[Any]) -> tuple[NDArray[np.bool_], list[tuple[int, int]]]:
    """Return True for records of repeated lines, bool (n,), and (number of pairs, -index of the first) of each line.

    Args:
        records: `_RECORD` (n,), at least one, in order of target, source and index.
    """
    begins_target = np.append(True, records["target"][1:] != records["target"][:-1])
    begins_pair = begins_target | np.append(True, records["source"][1:] != records["source"][:-1])
    target_of, pair_of = np.cumsum(begins_target) - 1, np.cumsum(begins_pair) - 1
    n_sources, n_times = np.bincount(target_of[begins_pair]), np.bincount(pair_of)
    has_many_sources = (n_sources >= _MANY_SOURCES) & records["is_long"][begins_target]
    occurs_often = (n_times >= _MANY_TIMES) & ~has_many_sources[target_of[begins_pair]]
    repeats = has_many_sources[target_of] | (occurs_often[pair_of] & ~begins_pair)
    sizes = [np.bincount(target_of)[has_many_sources], n_times[occurs_often]]
    starts = [np.flatnonzero(begins_target)[has_many_sources], np.flatnonzero(begins_pair)[occurs_often]]
    first = -records["index"][np.concatenate(starts)]
    return repeats, list(zip(np.concatenate(sizes).tolist(), first.tolist(), strict=True))
