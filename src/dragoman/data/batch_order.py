"""The pairs of each batch: batches of about equal cost, of pairs of similar lengths, in an order that depends on the
seed alone.

The epoch and the pairs of a batch follow from its index. So a run continues from an integer, and any process can take
its share. B batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.data.epochs import Epochs
from dragoman.data.slots import Slots
from dragoman.data.store import PairStore
from dragoman.errors import DataError

#: Standard deviation, in tokens, of the noise in the order of pairs of one cost. It makes other batches each epoch,
#: with a little more padding.
_JITTER = 0.5


@dataclass(frozen=True)
class Draw:
    """The pairs of a batch, in order."""

    epoch: int
    #: Indices in the store: (B,).
    pairs: NDArray[np.uint32]
    #: A number that tells apart equal pairs of one epoch: (B,).
    copies: NDArray[np.uint16]


class BatchOrder:
    """The pairs of the batches of all epochs.

    The cost of a pair is the length of its longer side with <eos>. The slots of an epoch (`Slots`), one for each pair
    if no part of the store has a weight, are sorted by cost, and cut where a batch with its padding would exceed the
    budget. The sorted costs are the same in each epoch, and so are the cuts. Among slots of equal cost,
    those with pairs of similar lengths come together, except for some noise. The order of the batches is random.

    Args:
        store: the pairs.
        batch_tokens: budget of a batch: rows times the longest side. A single pair may exceed it.
        seed: of all randomness.
        weights: of the store's parts; none weighs all pairs equally.

    Raises:
        DataError: there are no pairs.
    """

    def __init__(self, store: PairStore, *, batch_tokens: int, seed: int, weights: Sequence[float] = ()) -> None:
        self._store, self._seed = store, seed
        costs = np.maximum(store.read_lengths, store.target_lengths) + 1
        sizes = [part.n_pairs for part in store.parts] if weights else [len(store)]
        self._slots = slots = Slots(costs, sizes, weights or (1.0,), seed)
        if not len(slots.costs):
            raise DataError("there are no pairs to make batches of", store.folder, advice="check the corpus")
        self._starts = _cut(slots.costs, batch_tokens)
        self.epochs = Epochs(len(self._starts) - 1)
        falling = slots.costs.max() - slots.costs
        falling = falling.astype(np.min_scalar_type(falling.max()))  # small types are sorted in linear time
        self._by_cost = np.argsort(falling, kind="stable").astype(np.uint32)
        self._current: tuple[int, Draw, NDArray[np.int64]] | None = None

    def draw(self, index: int) -> Draw:
        """Return the pairs of a batch, whose index counts over all epochs."""
        epoch, number = self.epochs.find(index)
        if self._current is None or self._current[0] != epoch:
            self._current = epoch, *self._order(epoch)
        _, whole, batches = self._current
        batch = batches[number]
        rows = slice(self._starts[batch], self._starts[batch + 1])
        return Draw(epoch, whole.pairs[rows], whole.copies[rows])

    def _order(self, epoch: int) -> tuple[Draw, NDArray[np.int64]]:
        """Return the pairs of an epoch in the order in which they are cut, and the order of the batches."""
        generator, slots = np.random.default_rng((self._seed, epoch)), self._slots
        pairs, copies = slots.filling(epoch)
        # Within a cost, the difference of the sides determines both lengths. Every other cost is sorted downwards, so
        # that a batch across two costs has similar lengths too.
        key = generator.normal(scale=_JITTER, size=len(pairs)).astype(np.float32)
        difference = self._store.read_lengths - self._store.target_lengths
        key += difference if slots.is_plain else difference[pairs]
        np.negative(key, out=key, where=slots.costs % 2 == 1)
        order, key, start = self._by_cost.copy(), key[self._by_cost], 0
        # A stable sort: the order of equal keys in an unstable one depends on the processor.
        for end in np.cumsum(np.bincount(slots.costs)[::-1]).tolist():
            order[start:end] = order[start:end][np.argsort(key[start:end], kind="stable")]
            start = end
        if slots.is_plain:
            return Draw(epoch, order, copies), generator.permutation(self.epochs.n_batches)
        return Draw(epoch, pairs[order], copies[order]), generator.permutation(self.epochs.n_batches)


def _cut(costs: NDArray[np.int32], batch_tokens: int) -> NDArray[np.int64]:
    """Return the beginnings of the batches and the end, in pairs sorted by falling cost.

    The first pair of a batch has the highest cost, and decides the number of rows.
    """
    values, counts = np.unique(costs, return_counts=True)
    ends = np.cumsum(counts[::-1])
    starts = [0]
    for cost, end in zip(values[::-1].tolist(), ends.tolist(), strict=True):
        n_rows = max(1, batch_tokens // cost)
        starts.extend(range(starts[-1] + n_rows, end + n_rows, n_rows))
    starts[-1] = len(costs)
    return np.array(starts, dtype=np.int64)
