"""Lines that a corpus repeats many times, such as "All rights reserved."."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.hashed_pairs import HashedPairs

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


def find_repeats(pairs: HashedPairs) -> Repeats:
    """Return the pairs of lines that are repeated many times.

    Args:
        pairs: grouped by target, with the number of bytes of each target.

    Raises:
        ResourceError: the disk of temporary files is full.
    """
    is_repeat = np.zeros(len(pairs), bool)
    largest: list[tuple[int, int]] = []
    for records in pairs.groups():
        repeats, lines = _repeats(records)
        is_repeat[records["index"][repeats]] = True
        largest = heapq.nlargest(_N_EXAMPLES, [*largest, *lines])
    return Repeats(is_repeat, tuple(sorted(-first for _, first in largest)))


def _repeats(records: NDArray[Any]) -> tuple[NDArray[np.bool_], list[tuple[int, int]]]:
    """Return True for records of repeated lines, bool (n,), and (number of pairs, -index of the first) of each line.

    Args:
        records: `RECORD` (n,), at least one, in order of target, source and index.
    """
    begins_target = np.append(True, records["target"][1:] != records["target"][:-1])
    begins_pair = begins_target | np.append(True, records["source"][1:] != records["source"][:-1])
    target_of, pair_of = np.cumsum(begins_target) - 1, np.cumsum(begins_pair) - 1
    n_sources, n_times = np.bincount(target_of[begins_pair]), np.bincount(pair_of)
    has_many_sources = (n_sources >= _MANY_SOURCES) & (records["n_bytes"][begins_target] >= _MIN_BYTES)
    occurs_often = (n_times >= _MANY_TIMES) & ~has_many_sources[target_of[begins_pair]]
    repeats = has_many_sources[target_of] | (occurs_often[pair_of] & ~begins_pair)
    sizes = [np.bincount(target_of)[has_many_sources], n_times[occurs_often]]
    starts = [np.flatnonzero(begins_target)[has_many_sources], np.flatnonzero(begins_pair)[occurs_often]]
    first = -records["index"][np.concatenate(starts)]
    return repeats, list(zip(np.concatenate(sizes).tolist(), first.tolist(), strict=True))
