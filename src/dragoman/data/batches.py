"""Batches of about equal cost, of sentences of similar lengths, in an order that depends on the seed alone.

The epoch and the pairs of a batch follow from its index. So a run continues from an integer, and any process can take
its share. B batch, S source, T target.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from dragoman.data.store import PairStore
from dragoman.errors import DataError
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers

Item = TypeVar("Item")

#: Standard deviation, in tokens, of the noise in the order of pairs of one cost. It makes other batches each epoch,
#: with a little more padding.
_JITTER = 0.5
_SIDES = (0, 1)


@dataclass(frozen=True)
class Batch:
    """Ids of some pairs.

    Args:
        source_ids: (B, S) int64, each row ends in <eos>, then padding.
        target_ids: (B, T) int64, each row begins with <sos> and ends in <eos>, then padding.
    """

    source_ids: Tensor
    target_ids: Tensor

    def to(self, device: torch.device) -> Self:
        """Return the batch on a device."""
        return type(self)(*(ids.to(device, non_blocking=True) for ids in (self.source_ids, self.target_ids)))


def collate(
    source_ids: Sequence[ArrayLike],
    target_ids: Sequence[ArrayLike],
    special_ids: SpecialIdPair = SpecialIdPair(),
    *,
    one_length: bool = False,
) -> Batch:
    """Put sentences into one batch, adding <sos>, <eos> and padding.

    Args:
        one_length: pad so that encoder and decoder read equally many tokens (T = S + 1).
    """
    sides = [[np.asarray(ids, dtype=np.int64) for ids in side] for side in (source_ids, target_ids)]
    lengths = [max(map(len, side), default=0) for side in sides]
    if one_length:
        lengths = [max(lengths)] * 2
    source = _padded(sides[0], lengths[0], special_ids.source, start=False)
    return Batch(source, _padded(sides[1], lengths[1], special_ids.target, start=True))


def _padded(rows: Sequence[NDArray[np.int64]], longest: int, special_ids: SpecialIds, *, start: bool) -> Tensor:
    width = longest + 1 + start
    ids = np.full((len(rows), width), special_ids.pad, dtype=np.int64)
    for row, sentence in zip(ids, rows, strict=True):
        end = start + len(sentence)
        row[start:end] = sentence
        row[end] = special_ids.end
    if start:
        ids[:, 0] = special_ids.start
    return torch.from_numpy(ids)


class Batches:
    """The batches of all epochs.

    The cost of a pair is the length of its longer side with <eos>. Pairs are sorted by cost, and cut where a batch with
    its padding would exceed the budget. The sorted costs are the same in each epoch, and so are the cuts. Among pairs
    of equal cost, those of similar lengths come together, except for some noise. The order of the batches is random.

    Args:
        store: the pairs.
        tokenizers: sample subwords anew each epoch.
        batch_tokens: budget of a batch: rows times the longest side. A single pair may exceed it.
        seed: of all randomness.
        sampling: sample subwords; pairs are sorted and cut by their unsampled lengths.
        max_length: sampled sentences longer than this are used unsampled.

    Raises:
        DataError: there are no pairs.
    """

    def __init__(
        self,
        store: PairStore,
        tokenizers: Tokenizers,
        *,
        batch_tokens: int,
        seed: int,
        sampling: bool,
        max_length: int | None = None,
    ) -> None:
        if not len(store):
            raise DataError("there are no pairs to make batches of", store.folder, advice="check the corpus")
        self._store = store
        self._tokenizers = tokenizers
        self._seed = seed
        self._sampling = sampling
        self._max_length = max_length
        self._costs = np.maximum(store.source_lengths, store.target_lengths) + 1
        self._starts = _cut(self._costs, batch_tokens)
        falling = self._costs.max() - self._costs
        falling = falling.astype(np.min_scalar_type(falling.max()))  # small types are sorted in linear time
        self._by_cost = np.argsort(falling, kind="stable").astype(np.uint32)
        self._current: tuple[int, NDArray[np.uint32], NDArray[np.int64]] | None = None
        #: Number of batches in an epoch.
        self.per_epoch = len(self._starts) - 1

    def pairs(self, index: int) -> NDArray[np.uint32]:
        """Return the pairs of a batch, whose index counts over all epochs: (B,)."""
        epoch, number = divmod(index, self.per_epoch)
        if self._current is None or self._current[0] != epoch:
            self._current = epoch, *self._order(epoch)
        _, pairs, batches = self._current
        batch = batches[number]
        return pairs[self._starts[batch] : self._starts[batch + 1]]

    def micro_batches(
        self,
        index: int,
        *,
        micro_batch_tokens: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        one_length: bool = False,
    ) -> list[Batch]:
        """Return a process's share of a batch, as micro-batches of at most `micro_batch_tokens`.

        A process has none if the batch has fewer pairs than there are processes. See `collate` for `one_length`.
        """
        share = self.pairs(index)[rank::world_size]
        epoch = index // self.per_epoch
        sides = [[self._ids(side, int(pair), epoch) for pair in share] for side in _SIDES]
        costs = [max(len(source), len(target)) + 1 for source, target in zip(*sides, strict=True)]
        groups = _group_rows(costs, micro_batch_tokens)
        special_ids = self._tokenizers.special_ids
        parts = (([side[row] for row in rows] for side in sides) for rows in groups)
        return [collate(source, target, special_ids, one_length=one_length) for source, target in parts]

    def _ids(self, side: int, pair: int, epoch: int) -> ArrayLike:
        store = self._store
        if self._sampling:
            tokenizer: Tokenizer = (self._tokenizers.source, self._tokenizers.target)[side]
            text = (store.source_text, store.target_text)[side](pair)
            sampled = tokenizer.sample(text, (self._seed, epoch, pair, side))
            if self._max_length is None or len(sampled) <= self._max_length:
                return sampled
        return (store.source_ids, store.target_ids)[side](pair)

    def _order(self, epoch: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the pairs of an epoch in the order in which they are cut, and the order of the batches."""
        generator = np.random.default_rng((self._seed, epoch))
        # Within a cost, the difference of the sides determines both lengths. Every other cost is sorted downwards, so
        # that a batch across two costs has similar lengths too.
        key = generator.normal(scale=_JITTER, size=len(self._costs)).astype(np.float32)
        key += self._store.source_lengths - self._store.target_lengths
        np.negative(key, out=key, where=self._costs % 2 == 1)
        pairs, key, start = self._by_cost.copy(), key[self._by_cost], 0
        # A stable sort: the order of equal keys in an unstable one depends on the processor.
        for end in np.cumsum(np.bincount(self._costs)[::-1]).tolist():
            pairs[start:end] = pairs[start:end][np.argsort(key[start:end], kind="stable")]
            start = end
        return pairs, generator.permutation(self.per_epoch)


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


def _group_rows(costs: Sequence[int], budget: int | None) -> list[list[int]]:
    """Return rows in groups whose size times highest cost stays within the budget; a single row may exceed it."""
    groups: list[list[int]] = []
    highest = 0
    for row, cost in enumerate(costs):
        highest = max(highest, cost)
        if not groups or (budget is not None and (len(groups[-1]) + 1) * highest > budget):
            groups.append([])
            highest = cost
        groups[-1].append(row)
    return groups


def prefetch(items: Iterator[Item], ahead: int = 2) -> Iterator[Item]:
    """Yield the same items, computed up to `ahead` early by a thread, which ends with the iterator.

    An error of `items` is raised in the place of its item.
    """
    waiting: queue.Queue[tuple[Item | None, BaseException | None, bool]] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Item | None, error: BaseException | None, last: bool) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put((item, error, last), timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put(item, None, False):
                    return
            put(None, None, True)
        except BaseException as error:
            put(None, error, True)

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error, last = waiting.get()
            if error is not None:
                raise error
            if last:
                return
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
