"""Batches of ids, drawn from a store in the order of `BatchOrder`. B batch, S source, T target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from dragoman.data.batch_order import BatchOrder
from dragoman.data.slots import StageWeights
from dragoman.data.store import PairStore
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizers


@dataclass(frozen=True)
class Drawing:
    """Changes made anew to each pair that is drawn.

    Args:
        sampling: sample subwords; pairs are sorted and cut by their unsampled lengths.
        max_length: sentences that get longer than this are used as they are stored.
    """

    sampling: bool = False
    max_length: int | None = None


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
        drawing: Drawing = Drawing(),
        stages: Sequence[StageWeights] = (),
    ) -> None:
        self._order = BatchOrder(store, batch_tokens=batch_tokens, seed=seed, stages=stages)
        self._store, self._tokenizers, self._seed, self._drawing = store, tokenizers, seed, drawing
        self.epochs = self._order.epochs

    def pairs(self, index: int) -> NDArray[np.uint32]:
        """Return the pairs of a batch, whose index counts over all epochs: (B,)."""
        return self._order.draw(index).pairs

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
        draw, share = self._order.draw(index), slice(rank, None, world_size)
        drawn = zip(draw.pairs[share].tolist(), draw.copies[share].tolist(), strict=True)
        rows = [self._ids(pair, draw.epoch, copy) for pair, copy in drawn]
        groups = _group_rows([max(map(len, row)) + 1 for row in rows], micro_batch_tokens)
        special_ids = self._tokenizers.special_ids
        parts = ([[rows[row][side] for row in group] for side in (0, 1)] for group in groups)
        return [collate(source, target, special_ids, one_length=one_length) for source, target in parts]

    def _ids(self, pair: int, epoch: int, copy: int) -> tuple[Sequence[int] | NDArray[Any], ...]:
        """Return the ids of both sides of a pair that is drawn: a function of the seed and the arguments."""
        store, tokenizers = self._store, self._tokenizers
        stored = store.source_ids(pair), store.target_ids(pair)
        if not self._drawing.sampling:
            return stored
        texts = store.source_text(pair), store.target_text(pair)
        longest, repetition = self._drawing.max_length, (copy,) if copy else ()
        ids: list[Sequence[int] | NDArray[Any]] = []
        for side, tokenizer in enumerate((tokenizers.source, tokenizers.target)):
            sampled = tokenizer.sample(texts[side], (self._seed, epoch, pair, side, *repetition))
            ids.append(sampled if longest is None or len(sampled) <= longest else stored[side])
        return tuple(ids)


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
