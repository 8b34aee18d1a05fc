"""The pairs that are held out for validation: those whose sources have the smallest hashes."""

from __future__ import annotations

import heapq
from array import array

#: At most one of so many pairs is taken out of the training data for validation.
HELD_OUT_SHARE = 10


class SmallestHashes:
    """The smallest different hashes of a stream and the pairs that have them, in RAM for these alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._negated: list[int] = []
        self._pairs: dict[int, array[int]] = {}

    def add(self, number: int, pair: int) -> None:
        """Take the next hash. A hash among the smallest at the end was among the smallest at every step before."""
        if number in self._pairs:
            self._pairs[number].append(pair)
        elif len(self._negated) < self._size:
            heapq.heappush(self._negated, -number)
            self._pairs[number] = array("q", (pair,))
        elif self._size and number < -self._negated[0]:
            del self._pairs[-heapq.heapreplace(self._negated, -number)]
            self._pairs[number] = array("q", (pair,))

    def least(self, size: int, n_pairs: int) -> list[array[int]]:
        """Return the pairs of at most `size` hashes, `n_pairs` in all; of a tenth of the hashes if these are all.

        A hash with more pairs than are left is skipped.
        """
        if len(self._pairs) < self._size:
            size = min(size, len(self._pairs) // HELD_OUT_SHARE)
        least: list[array[int]] = []
        for number in sorted(self._pairs):
            pairs = self._pairs[number]
            if len(least) < size and len(pairs) <= n_pairs:
                least.append(pairs)
                n_pairs -= len(pairs)
        return least
