"""Two faults that the ids of a translation show: a sequence repeated many times, and a length out of proportion.

The constants were chosen so that human translations are not flagged. Of the pairs of Multi30k and Tatoeba, in
characters, bytes, words and pieces and in both directions, none is flagged for repetition, and only misaligned ones are
flagged for their length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Fault = Literal["repetition", "length"]

#: The longest repeated sequence that is looked for, in tokens.
MAX_PERIOD = 8
PERIODS = range(1, MAX_PERIOD + 1)
#: A sequence is suspicious if it has this many repetitions in a row and fills this many tokens: 1,000,000,000,000 is
#: not.
MIN_REPEATS, MIN_REPEATED_TOKENS = 5, 10
#: A source with n equal tokens explains a translation that repeats a token this many times n.
REPEATS_EXPLAINED = 2
#: More tokens than LONG_START + LONG_RATIO * source tokens are too many: one Chinese word can be a sentence of English
#: letters.
LONG_START, LONG_RATIO = 32, 8
#: Fewer tokens than (source tokens - SHORT_START) / SHORT_RATIO are too few: a Chinese translation has few characters.
SHORT_START, SHORT_RATIO = 24, 16


@dataclass(frozen=True)
class FaultFinder:
    """A check of the translations of one sentence."""

    source: Sequence[int]  # without the end mark
    prefix: Sequence[int]  # given by the caller, so no fault

    def find(self, ids: Sequence[int], *, is_cut: bool = False) -> tuple[Fault, ...]:
        """Return the faults of a translation; one that was cut on purpose is not too short."""
        return tuple(self._faults(ids, is_cut))

    def _faults(self, ids: Sequence[int], is_cut: bool) -> Iterator[Fault]:
        own = ids[len(self.prefix) :]
        if self._is_repetitive(own):
            yield "repetition"
        if len(ids) >= self.usual_lengths.stop or (len(ids) < self.usual_lengths.start and not is_cut):
            yield "length"

    @property
    def usual_lengths(self) -> range:
        """The lengths that are in proportion to the source, in tokens."""
        n_source = len(self.source)
        fewest = -((SHORT_START - n_source) // SHORT_RATIO)  # rounded up
        return range(max(fewest, min(n_source, 1)), len(self.prefix) + LONG_START + LONG_RATIO * n_source + 1)

    @property
    def fewest_repeats(self) -> list[int]:
        """The repetitions in a row that make a fault, of sequences of 1 to `MAX_PERIOD` tokens.

        A row of equal tokens is explained by an equally frequent token anywhere in the source, which may have been
        sorted, and a row of longer sequences by an equally frequent pair of neighbours.
        """
        given = self.source, self.prefix
        token = REPEATS_EXPLAINED * max(map(_highest_count, given))
        sequence = REPEATS_EXPLAINED * max(_highest_count(list(pairwise(ids))) for ids in given)
        return [
            max(MIN_REPEATS, -(-MIN_REPEATED_TOKENS // period), 1 + (token if period == 1 else sequence))
            for period in PERIODS
        ]

    def _is_repetitive(self, ids: Sequence[int]) -> bool:
        """Return True if a sequence is repeated in a row, and more often than the source explains."""
        # Most translations have too few repeated tokens for MIN_REPEATS repetitions, and need no closer look.
        if len(ids) - len(set(ids)) < MIN_REPEATED_TOKENS - MIN_REPEATED_TOKENS // MIN_REPEATS:
            return False
        fewest = self.fewest_repeats
        return any(most_repeats(ids, period) >= fewest[period - 1] for period in PERIODS)


def most_repeats(ids: Sequence[int], period: int) -> int:
    """Return the largest number of times in a row that a sequence of `period` tokens is written.

    A row of equal tokens counts only for period 1.
    """
    most = start = 0
    for end in range(1, len(ids) + 1):
        if end - start >= period and (end == len(ids) or ids[end] != ids[end - period]):
            if period == 1 or len(set(ids[end - period : end])) > 1:
                most = max(most, (end - start) // period)
            start = end - period + 1
    return most


def _highest_count(tokens: Sequence[object]) -> int:
    return max(Counter(tokens).values(), default=0)
