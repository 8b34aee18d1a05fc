"""Batches of ids, drawn from a store in the order of `BatchOrder`. B batch, S source, T target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dragoman.data.batch_order import BatchOrder, Draw
from dragoman.data.drawn_pairs import AS_STORED, Drawing, DrawnPairs
from dragoman.data.row_groups import group_by_cost, group_rows
from dragoman.data.store import PairStore
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizers

#: Ids of some pairs: source (B, S) and target (B, T) as in `Batch`, which go from process to process faster.
Arrays = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Batch:
    """Ids of some pairs.

    Args:
        source_ids: (B, S) int64, each row ends in <eos>, then padding.
        target_ids: (B, T) int64, each row begins with <sos> and ends in <eos>, then padding.
    """

    source_ids: Tensor
    target_ids: Tensor

    @classmethod
    def of(cls, arrays: Arrays) -> Self:
        """Return the batch of the ids of both sides, which it shares."""
        return cls(*map(torch.from_numpy, arrays))

    def pinned(self) -> Self:
        """Return the batch in RAM from which a GPU copies while it computes."""
        return type(self)(self.source_ids.pin_memory(), self.target_ids.pin_memory())

    def to(self, device: torch.device) -> Self:
        """Return the batch on a device."""
        return type(self)(*(ids.to(device, non_blocking=True) for ids in (self.source_ids, self.target_ids)))


def collate(
    source_ids: Sequence[Sequence[int] | NDArray[Any]],
    target_ids: Sequence[Sequence[int] | NDArray[Any]],
    special_ids: SpecialIdPair = SpecialIdPair(),
    *,
    one_length: bool = False,
) -> Batch:
    """Put sentences into one batch, adding <sos>, <eos> and padding.

    Args:
        one_length: pad so that encoder and decoder read equally many tokens (T = S + 1).
    """
    return Batch.of(_collated(source_ids, target_ids, special_ids, one_length=one_length))


def _collated(
    source_ids: Sequence[Sequence[int] | NDArray[Any]],
    target_ids: Sequence[Sequence[int] | NDArray[Any]],
    special_ids: SpecialIdPair,
    *,
    one_length: bool,
) -> Arrays:
    lengths = [max(map(len, side), default=0) for side in (source_ids, target_ids)]
    if one_length:
        lengths = [max(lengths)] * 2
    source = _padded(source_ids, lengths[0], special_ids.source, start=False)
    return source, _padded(target_ids, lengths[1], special_ids.target, start=True)


def _padded(
    rows: Sequence[Sequence[int] | NDArray[Any]], longest: int, special_ids: SpecialIds, *, start: bool
) -> NDArray[np.int64]:
    width = longest + 1 + start
    ids = np.full((len(rows), width), special_ids.pad, dtype=np.int64)
    for row, sentence in zip(ids, rows, strict=True):
        end = start + len(sentence)
        row[start:end] = sentence
        row[end] = special_ids.end
    if start:
        ids[:, 0] = special_ids.start
    return ids


@dataclass(frozen=True)
class Cut:
    """One process's part of each batch, and how that is cut into micro-batches.

    Args:
        rank, world_size: the number of the process, and of all.
        micro_batch_tokens: of a micro-batch, at most; None is the whole share.
        extra_tokens: the fixed cost of a micro-batch, in tokens. The higher it is, the fewer groups pairs of changing
            lengths are cut into, and the more padding they have.
        one_length: see `collate`.
    """

    rank: int = 0
    world_size: int = 1
    micro_batch_tokens: int | None = None
    extra_tokens: int = 128
    one_length: bool = False


#: All of a batch, in one process.
WHOLE = Cut()


@dataclass(frozen=True)
class Share:
    """A process's share of a batch, not made yet: everything that it is made of, so that any process can make it."""

    draw: Draw
    cut: Cut


class Batches:
    """The batches of all epochs; see `BatchOrder`, which takes the other arguments.

    Args:
        tokenizers: of the store; they sample subwords anew each epoch, if `drawing` says so.
        drawing: changes made anew to each pair.

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
        drawing: Drawing = AS_STORED,
        weights: Sequence[float] = (),
    ) -> None:
        self._order = BatchOrder(store, batch_tokens=batch_tokens, seed=seed, weights=weights)
        self._drawn, self._tokenizers = DrawnPairs(store, tokenizers, seed, drawing), tokenizers
        self._lengths_change = drawing.augmentation.is_on or bool(store.n_before.any())
        self._batch_tokens = batch_tokens
        #: True if pairs are not used as they are stored, which takes ten times as long.
        self.are_changed = drawing.sampling or drawing.augmentation.is_on
        self.epochs = self._order.epochs

    def pairs(self, index: int) -> NDArray[np.uint32]:
        """Return the pairs of a batch, whose index counts over all epochs: (B,)."""
        return self._order.draw(index).pairs

    def micro_batches(self, index: int, cut: Cut = WHOLE) -> list[Batch]:
        """Return a process's share of a batch, made at once; none if there are fewer pairs than processes."""
        return [Batch.of(arrays) for arrays in self.make(self.share(index, cut))]

    def share(self, index: int, cut: Cut = WHOLE) -> Share:
        """Return a process's share of a batch, to be made later."""
        draw, own = self._order.draw(index), slice(cut.rank, None, cut.world_size)
        return Share(Draw(draw.epoch, draw.pairs[own], draw.copies[own]), cut)

    def make(self, share: Share) -> list[Arrays]:
        """Return the micro-batches of a share: a function of the share alone, whichever process calls it."""
        draw, cut = share.draw, share.cut
        drawn = zip(draw.pairs.tolist(), draw.copies.tolist(), strict=True)
        rows = [self._drawn.ids(pair, copy, draw.epoch) for pair, copy in drawn]
        costs = [max(map(len, row)) + 1 for row in rows]
        if self._lengths_change:
            groups = group_by_cost(costs, cut.micro_batch_tokens or self._batch_tokens, cut.extra_tokens)
        else:
            groups = group_rows(costs, cut.micro_batch_tokens)
        special_ids = self._tokenizers.special_ids
        parts = ([[rows[row][side] for row in group] for side in (0, 1)] for group in groups)
        return [_collated(source, target, special_ids, one_length=cut.one_length) for source, target in parts]
