"""Slots: places in the batches of an epoch, each for one pair of one part of a corpus, by the weight of the part.

A part of weight 2.5 has two slots for each pair, and one more for every two pairs, which take turns. Pairs that take
turns have about the same cost, so the cost of a slot, the highest of its pairs, is the same in each epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: A key of the random order of pairs of one cost, different from the keys of epochs.
_TIES = 1


@dataclass(frozen=True)
class _Shared:
    """Slots that pairs fill in turn: the pairs by falling cost, and the number of slots."""

    pairs: NDArray[np.uint32]
    n_slots: int

    def costs(self, costs: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the highest cost in each slot: that of its first pair."""
        return costs[self.pairs[np.arange(self.n_slots) * len(self.pairs) // self.n_slots]]

    def filling(self, epoch: int) -> NDArray[np.uint32]:
        """Return the pair in each slot.

        The sequence floor(k * n_slots / n_pairs) rises at evenly spread k. Pair i is in epoch e if it rises at i + e.
        So each epoch has the same number of pairs, and any run of epochs has each pair equally often, or once more.
        """
        n_pairs, n_slots = len(self.pairs), self.n_slots
        rest = epoch * n_slots % n_pairs
        chosen = -((rest - np.arange(1, n_slots + 1) * n_pairs) // n_slots) - 1
        return self.pairs[chosen]


class Slots:
    """The slots of each epoch. With a weight of 1 for all, the slots are the pairs.

    Args:
        costs: of each pair: int32 (n_pairs,).
        sizes: pairs of each part, which lie one after the other.
        weights: of each part.
        seed: of the order of pairs that take turns.
    """

    def __init__(self, costs: NDArray[np.int32], sizes: Sequence[int], weights: Sequence[float], seed: int) -> None:
        #: True if each slot is for one pair, and each pair has one slot.
        self.is_plain = all(weight == 1 for weight in weights)
        self._shared: list[_Shared] = []
        if self.is_plain:
            self.costs = costs
            return
        fixed: list[NDArray[np.uint32]] = []
        copies: list[NDArray[np.uint16]] = []
        shared_copies: list[NDArray[np.uint16]] = []
        first = 0
        for number, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
            pairs = np.arange(first, first + size, dtype=np.uint32)
            n_times, n_slots = _times(size, weight)
            fixed += [pairs] * n_times
            copies += [np.full(size, copy, np.uint16) for copy in range(n_times)]
            if n_slots:
                ties = np.random.default_rng((seed, number, _TIES)).permutation(size)
                self._shared.append(_Shared(pairs[np.lexsort((ties, -costs[pairs]))], n_slots))
                shared_copies.append(np.full(n_slots, n_times, np.uint16))
            first += size
        self._fixed = np.concatenate([np.empty(0, np.uint32), *fixed])
        self._copies = np.concatenate([np.empty(0, np.uint16), *copies, *shared_copies])
        #: The highest cost in each slot: int32 (n_slots,).
        self.costs = np.concatenate([costs[self._fixed], *(each.costs(costs) for each in self._shared)])

    def filling(self, epoch: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Return the pair in each slot, and a number that tells apart equal pairs of an epoch: (n_slots,) both."""
        if self.is_plain:
            return np.arange(len(self.costs), dtype=np.uint32), np.zeros(len(self.costs), np.uint16)
        return np.concatenate([self._fixed, *(each.filling(epoch) for each in self._shared)]), self._copies


def pairs_in_epoch(size: int, weight: float) -> int:
    """Return the number of pairs that an epoch has of a part of `size` pairs, repetitions included."""
    n_times, n_slots = _times(size, weight)
    return n_times * size + n_slots


def _times(size: int, weight: float) -> tuple[int, int]:
    """Return how often each pair of a part has a slot of its own, and the number of slots that the pairs share."""
    n_times = int(weight)
    n_slots = round((weight - n_times) * size)
    if n_slots == size:
        return n_times + bool(size), 0
    return n_times, n_slots or int(size > 0 and 0 < weight < 1)
