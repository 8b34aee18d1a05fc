"""Short-lists: the few tokens that the translation of a source may have, so that only these are scored.

Most of a vocabulary has nothing to do with a source. A short-list holds, for each target language, the tokens that are
frequent in any text, and the likely translations of each source token (Jean et al. 2015, "On Using Very Large Target
Vocabulary for Neural Machine Translation", section 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dragoman.machine.arrays import Bools, Ints


@dataclass(frozen=True)
class LikelyTokens:
    """The tokens of one target language.

    Args:
        frequent: ids that every translation may have, the end mark among them.
        starts: (source vocabulary + 1), the place in `likely` where the translations of each source id begin.
        likely: ids, those of source id 0 first, then those of 1, and so on.

    Raises:
        ValueError: the last place is not the number of ids.
    """

    frequent: NDArray[np.integer]
    starts: NDArray[np.integer]
    likely: NDArray[np.integer]

    def __post_init__(self) -> None:
        if self.starts[-1] != len(self.likely):
            raise ValueError("the number of likely tokens does not fit")

    def of(self, source_ids: Sequence[int]) -> Ints:
        """Return the ids that a translation of a source may have, sorted: (n,)."""
        listed = self._is_frequent.copy()
        for id in set(source_ids):
            listed[self.likely[self.starts[id] : self.starts[id + 1]]] = True
        return np.flatnonzero(listed)

    @cached_property
    def _is_frequent(self) -> Bools:
        """True at the frequent ids: (highest id + 1,). To mark ids takes a tenth of the time of sorting them."""
        highest = max(self.frequent.max(initial=0), self.likely.max(initial=0))
        is_frequent = np.zeros(int(highest) + 1, dtype=bool)
        is_frequent[self.frequent] = True
        return is_frequent


@dataclass(frozen=True)
class ShortList:
    """The likely tokens of each target language."""

    languages: Mapping[str, LikelyTokens]

    def ids(self, source_ids: Sequence[int], target_lang: str) -> Ints:
        """Return the ids that the translation of a source may have, sorted: (n,). A language without a list has none.

        Args:
            source_ids: without special ones.
        """
        likely = self.languages.get(target_lang)
        return np.empty(0, dtype=np.int64) if likely is None else likely.of(source_ids)
