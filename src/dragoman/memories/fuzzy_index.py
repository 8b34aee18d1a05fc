"""Texts similar to another one, among hundreds of thousands: candidates by an index, then their exact similarity."""

from __future__ import annotations

import threading
from heapq import nlargest
from importlib.util import find_spec

from dragoman.memories.ngram_index import NgramIndex

#: Texts of an index, and texts that are searched one by one until there are enough for an index.
_BLOCK, _TAIL = 1 << 16, 1 << 11
#: Candidates whose similarity is computed.
_N_CANDIDATES = 64
#: Characters of the longest text that is searched for: a match of a longer one saves nobody work.
MAX_CHARACTERS = 2_000


def can_search() -> bool:
    """Return True if rapidfuzz is installed."""
    return find_spec("rapidfuzz") is not None


class FuzzyIndex:
    """Texts in the order in which they were added. Indices are made when they are first needed.

    Threads may search while one adds texts. Searches wait for an index that is being made; `add` does not.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        #: Of `_BLOCK` texts each, except the last one.
        self._blocks: tuple[NgramIndex, ...] = ()
        self._n_indexed = 0
        self._making = threading.Lock()

    def add(self, text: str) -> None:
        """Add a text."""
        self._texts.append(text)

    def similar(self, text: str, threshold: float, n: int) -> list[tuple[float, int]]:
        """Return the texts of at least this similarity, as (similarity, index), the best first; at most `n`.

        The similarity is one minus the edits (characters inserted, deleted or replaced; Levenshtein, 1966) divided by
        the characters of the longer text. The index may miss a text of low similarity.
        """
        from rapidfuzz.distance import Levenshtein

        if not 0 < len(text) <= MAX_CHARACTERS:
            return []
        n_texts = len(self._texts)
        blocks, n_indexed = self._indices(n_texts)
        found = [
            (similarity, number * _BLOCK + index)
            for number, block in enumerate(blocks)
            for similarity, index in block.most_similar(text, _N_CANDIDATES)
        ]
        candidates = [index for _, index in nlargest(_N_CANDIDATES, found)]
        candidates += range(n_indexed, n_texts)
        scored = (
            (Levenshtein.normalized_similarity(text, self._texts[index], score_cutoff=threshold), index)
            for index in candidates
        )
        return nlargest(n, (each for each in scored if each[0] >= threshold))

    def _indices(self, n_texts: int) -> tuple[tuple[NgramIndex, ...], int]:
        """Return indices, and the number of texts in them: all of the first `n_texts`, except a short tail."""
        with self._making:
            if n_texts - self._n_indexed > _TAIL:
                full = self._blocks[: self._n_indexed // _BLOCK]
                starts = range(len(full) * _BLOCK, n_texts, _BLOCK)
                ends = (min(start + _BLOCK, n_texts) for start in starts)
                new = (NgramIndex(self._texts[start:end]) for start, end in zip(starts, ends, strict=True))
                self._blocks, self._n_indexed = (*full, *new), n_texts
            return self._blocks, self._n_indexed
