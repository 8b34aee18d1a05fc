"""Ids of texts in padded batches. B sentences, S source, T target."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.data.row_groups import group_rows
from dragoman.machine.arrays import Ints, padded
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

#: The ids of a source and of a target, without special ones.
IdPair = tuple[Sequence[int], Sequence[int]]

#: Source tokens, padding included, that are searched at once on a GPU, and on a CPU, where a small batch stays in the
#: caches: reading RAM costs more than small matrix products.
BATCH_TOKENS, CPU_BATCH_TOKENS = 2048, 512


def pad_sources(sources: Sequence[Sequence[int]], special_ids: SpecialIds) -> Ints:
    """Add the end mark to each source, and pad: (B, S)."""
    return padded([special_ids.ended(source) for source in sources], special_ids.pad)


def pad_pairs(pairs: Sequence[IdPair], special_ids: SpecialIdPair) -> tuple[Ints, Ints]:
    """Add the end mark to each source and the start to each target, and pad: (B, S) and (B, T)."""
    source_ids = pad_sources([source for source, _ in pairs], special_ids.source)
    return source_ids, padded([[special_ids.target.start, *target] for _, target in pairs], special_ids.target.pad)


def batches(costs: Sequence[int], batch_size: int) -> list[list[int]]:
    """Return the indices of costs in batches of similar cost, the highest first.

    The number of rows times the highest cost of a batch stays within `batch_size`, except for a batch of one row.
    """
    order = sorted(range(len(costs)), key=lambda row: -costs[row])
    return [[order[row] for row in group] for group in group_rows([costs[row] for row in order], batch_size)]


def pair_batches(pairs: Sequence[IdPair], batch_size: int) -> list[list[int]]:
    """Return the indices of pairs in batches; the cost of a pair is that of its longer side."""
    return batches([max(map(len, pair)) + 1 for pair in pairs], batch_size)
