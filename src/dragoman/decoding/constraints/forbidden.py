"""Tokens that a translation must not contain.

B sentences, R rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.decoding.constraints.protocol import Rows, Stateless
from dragoman.decoding.scores import Scores


class ForbiddenTokens(Stateless):
    """Forbid some ids in the translation of each sentence, except in its prefix.

    Args:
        ids: for each of B sentences, the ids that are forbidden.
    """

    def __init__(self, ids: Sequence[Sequence[int]]) -> None:
        #: Most sentences of a batch forbid the same ids, and one call forbids them in all rows.
        self._everywhere = sorted(set(ids[0]).intersection(*ids[1:])) if ids else []
        others = [sorted({*of_sentence}.difference(self._everywhere)) for of_sentence in ids]
        self._columns = np.array(sorted({id for of_sentence in others for id in of_sentence}), dtype=np.int64)
        #: (B, columns): True if a sentence forbids the id.
        self._is_forbidden = np.array([np.isin(self._columns, of_sentence) for of_sentence in others])

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Forbid the ids of each row's sentence."""
        if self._everywhere:
            scores.forbid_everywhere(self._everywhere)
        if len(self._columns):
            numbers, columns = np.nonzero(self._is_forbidden[rows.sentence])
            scores.forbid(numbers, self._columns[columns])
