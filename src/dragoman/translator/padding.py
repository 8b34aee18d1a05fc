"""Ids of texts in padded batches. B sentences, S source, T target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.text.special_ids import SpecialIdPair, SpecialIds

#: The ids of a source and of a target, without special ones.
IdPair = tuple[Sequence[int], Sequence[int]]

#: Source tokens, padding included, that are searched at once on a GPU, and on a CPU, where a small batch stays in the
#: caches: reading RAM costs more than small matrix products.
BATCH_TOKENS, CPU_BATCH_TOKENS = 2048, 512


def pad_sources(sources: Sequence[Sequence[int]], special_ids: SpecialIds) -> NDArray[np.int64]:
    """Add the end mark to each source, and pad: (B, S)."""
    return pad([special_ids.ended(source) for source in sources], special_ids.pad)


def pad_pairs(pairs: Sequence[IdPair], special_ids: SpecialIdPair) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add the end mark to each source and the start to each target, and pad: (B, S) and (B, T)."""
    source_ids = pad_sources([source for source, _ in pairs], special_ids.source)
    return source_ids, pad([[special_ids.target.start, *target] for _, target in pairs], special_ids.target.pad)


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> NDArray[np.int64]:
    """Pad rows of ids: (B, S)."""
    padded = np.full((len(rows), max(map(len, rows), default=0)), pad_id)
    for ids, row in zip(padded, rows, strict=True):
        ids[: len(row)] = row
    return padded


def batches(costs: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of costs in batches of similar cost, the highest first.

    The number of rows times the highest cost of a batch stays within `batch_size`, except for a batch of one row.
    """
    batch: list[int] = []
    for row in sorted(range(len(costs)), key=lambda row: -costs[row]):
        if batch and (len(batch) + 1) * costs[batch[0]] > batch_size:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def pair_batches(pairs: Sequence[IdPair], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of pairs in batches; the cost of a pair is that of its longer side."""
    return batches([max(map(len, pair)) + 1 for pair in pairs], batch_size)
