"""Pairs of a corpus that occur twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.data.hashed_pairs import HashedPairs


@dataclass(frozen=True)
class Duplicates:
    """Repeated pairs of a corpus."""

    #: True for a pair that came before: bool (n_pairs,).
    repeated: NDArray[np.bool_]
    n_repeated: int
    #: Pairs, each counted once, whose source came before with another target.
    n_other_target: int


def find_duplicates(pairs: HashedPairs) -> Duplicates:
    """Return the repeated pairs. Two pairs count as the same if 128 bits of hashes are the same.

    Args:
        pairs: grouped by source.

    Raises:
        ResourceError: the disk of temporary files is full.
    """
    repeated = np.zeros(len(pairs), bool)
    n_other_target = 0
    for records in pairs.groups():
        same_source = records["source"][1:] == records["source"][:-1]
        same_pair = same_source & (records["target"][1:] == records["target"][:-1])
        repeated[records["index"][1:][same_pair]] = True
        n_other_target += int((same_source & ~same_pair).sum())
    return Duplicates(repeated, int(repeated.sum()), n_other_target)
