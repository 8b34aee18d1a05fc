"""A few shapes for all batches, so that a GPU needs one CUDA graph for each of them."""

from __future__ import annotations

from typing import NamedTuple

#: A length is at most this many times the one before, except among the shortest, which differ by one.
GROWTH = 1.1


class Shape(NamedTuple):
    """The size of a padded batch: its pairs, and the positions that encoder and decoder read, equally many."""

    n_pairs: int
    length: int


def shape_for(n_pairs: int, length: int, n_tokens: int) -> Shape:
    """Return the shape to which a batch is padded.

    Batches have as many pairs as their budget allows, so the shape of a length has as many as the shortest batch that
    is padded to it. A batch with far fewer, such as the last one of an epoch, gets a half, a quarter, and so on.

    Args:
        length: of the longer side.
        n_tokens: budget of a batch: pairs times the longer side. A single pair may exceed it.
    """
    shortest = padded = 1
    while padded < length:
        shortest, padded = padded + 1, max(padded + 1, int(padded * GROWTH))
    most = max(n_pairs, n_tokens // shortest)
    while most // 2 >= n_pairs:
        most //= 2
    return Shape(most, padded)
