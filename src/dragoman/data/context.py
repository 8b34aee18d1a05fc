"""Sentences that a model reads before a source: those of the lines directly before it in its corpus.

The ids of a source with context are those of the earlier sentences, each with the end mark, and then its own. The
target is the sentence alone (Tiedemann and Scherrer 2017, "2+1").
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: The share of the drawn pairs whose sources are read without their context, so that single sentences stay good.
WITHOUT_CONTEXT = 0.2


class Neighbours:
    """Counts the earlier sentences of each pair of a corpus.

    Where a line is missing, because it is empty or its pair was dropped, nothing before it counts.

    Args:
        most: sentences before a source.
        longest: tokens of a source with its context; sentences that do not fit are left out, the farthest first.
    """

    def __init__(self, most: int, longest: int) -> None:
        self._lengths = deque[int](maxlen=most)
        self._longest, self._line = longest, 0

    def count(self, lines: Sequence[int], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the number of sentences before each of the next pairs: uint8 (n_pairs,).

        Args:
            lines: of the pairs in the corpus, rising.
            lengths: of the sources, in tokens.
        """
        counts = np.zeros(len(lines), np.uint8)
        for number, (line, length) in enumerate(zip(lines, lengths.tolist(), strict=True)):
            if line != self._line + 1:
                self._lengths.clear()
            counts[number] = n_fitting(self._lengths, self._longest - length)
            self._lengths.append(length)
            self._line = line
        return counts


def n_fitting(lengths: Sequence[int], room: int) -> int:
    """Return the number of sentences, the last ones, that fit with their end marks into so many tokens."""
    count = 0
    for length in reversed(lengths):
        room -= length + 1
        if room < 0:
            break
        count += 1
    return count
