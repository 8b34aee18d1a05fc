"""Two faults that a translation's ids show by themselves: a stretch written again and again, and a length out of
proportion to the source's.

The constants were chosen on human translations, which must not be flagged: of the pairs of Multi30k and Tatoeba,
in characters, bytes, words and pieces and in both directions, none has a repetition and only misaligned ones a length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Fault = Literal["repetition", "length"]

#: The longest stretch that is looked for, in tokens.
MAX_PERIOD = 8
#: A stretch is suspicious from so many times in a row on, if they fill so many tokens: 1,000,000,000,000 is not.
MIN_REPEATS, MIN_REPEATED_TOKENS = 5, 10
#: A source in which a token occurs n times may have a translation that repeats one this many times n.
REPEATS_EXPLAINED = 2
#: More tokens than LONG_START + LONG_RATIO * source tokens are too many: one Chinese word can be a sentence of English
#: letters.
LONG_START, LONG_RATIO = 32, 8
#: Fewer tokens than (source tokens - SHORT_START) / SHORT_RATIO are too few: a Chinese translation has few characters.
SHORT_START, SHORT_RATIO = 24, 16


@dataclass(frozen=True)
class FaultFinder:
    """Judge of the translations of one sentence."""

    source: Sequence[int]  # without the end mark
    prefix: Sequence[int]  # asked for, so never held against a translation

    def find(self, ids: Sequence[int], *, is_cut: bool = False) -> tuple[Fault, ...]:
        """Return the faults of a translation; one that was cut on purpose is not too short."""
        return tuple(self._faults(ids, is_cut))

    def _faults(self, ids: Sequence[int], is_cut: bool) -> Iterator[Fault]:
        own = ids[len(self.prefix) :]
        if self._is_repetitive(own):
            yield "repetition"
        n_source = len(self.source)
        is_long = len(own) > LONG_START + LONG_RATIO * n_source
        is_short = len(ids) * SHORT_RATIO < n_source - SHORT_START or (not len(ids) and n_source > 0)
        if is_long or (is_short and not is_cut):
            yield "length"

    def _is_repetitive(self, ids: Sequence[int]) -> bool:
        """Return True if a stretch is repeated in a row, and more often than the source explains.

        One token in a row is explained by an equally frequent token anywhere in the source, which may have been sorted;
        a longer stretch by a pair of neighbours.
        """
        # What this many tokens repeat is written at least MIN_REPEATS times: of most translations, this is all we ask.
        if len(ids) - len(set(ids)) < MIN_REPEATED_TOKENS - MIN_REPEATED_TOKENS // MIN_REPEATS:
            return False
        given = self.source, self.prefix
        explained_token = REPEATS_EXPLAINED * max(map(_highest_count, given))
        explained_stretch = REPEATS_EXPLAINED * max(_highest_count(list(pairwise(each))) for each in given)
        for period in range(1, min(MAX_PERIOD, len(ids) // MIN_REPEATS) + 1):
            n_repeats = most_repeats(ids, period)
            explained = explained_token if period == 1 else explained_stretch
            if n_repeats >= MIN_REPEATS and n_repeats * period >= MIN_REPEATED_TOKENS and n_repeats > explained:
                return True
        return False


def most_repeats(ids: Sequence[int], period: int) -> int:
    """Return how many times in a row, at most, a stretch of `period` tokens is written; two or more are not all equal.

    A row of equal tokens has the period 1 alone.
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
