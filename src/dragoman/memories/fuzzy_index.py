"""Texts similar to another one, among hundreds of thousands: candidates by an index, then their exact similarity."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from heapq import nlargest
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

#: The first character of scripts whose words are one or two characters long.
_FIRST_WIDE = 0x2E80
#: Odd numbers that mix the characters of a sequence.
_FACTORS = (np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35))

#: Texts that share less are not similar.
_LEAST = 0.15

#: Entries of the index that are read for a text, and the fewest sequences that are looked up.
_MOST_ENTRIES, _FEWEST = 1 << 14, 12


class NgramIndex:
    """An index of texts by the short sequences of characters in them. It does not change.

    A sequence has three characters, or two where it begins with a character of a script without small alphabets
    (Chinese, Japanese, Korean). Sequences are numbers, and each has the list of the texts that it is in: an inverted
    index in three arrays. Case does not matter.

    Args:
        texts: fewer than 2**32.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        grams, owners = _ngrams(texts)
        entries = grams.astype(np.uint64) << np.uint64(32)
        entries |= owners
        entries.sort()
        entries = entries[np.diff(entries, prepend=~entries[:1]) != 0]
        #: The texts of each sequence, one sequence after the other.
        self._texts = entries.astype(np.uint32)
        grams = (entries >> np.uint64(32)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(grams, prepend=~grams[:1]))
        self._grams, self._ends = grams[starts], np.append(starts, len(grams))
        #: Sequences of each text, each counted once.
        self._sizes = np.bincount(self._texts, minlength=len(texts))

    def most_similar(self, text: str, n: int) -> list[tuple[float, int]]:
        """Return the texts that share most sequences, as (similarity, index); at most `n`, in no order.

        The similarity is Dice's: twice the shared sequences, divided by the sequences of both. Of a text with many
        frequent ones, it is estimated from the rarest.
        """
        wanted = np.unique(_ngrams([text])[0])
        at = np.searchsorted(self._grams, wanted)
        at = at[at < len(self._grams)]
        at = at[np.isin(self._grams[at], wanted)]
        counts = self._ends[at + 1] - self._ends[at]
        order = np.argsort(counts)
        rare = at[order[: max(_FEWEST, int(np.searchsorted(np.cumsum(counts[order]), _MOST_ENTRIES)))]]
        if not len(rare):
            return []
        found = np.concatenate([self._texts[self._ends[gram] : self._ends[gram + 1]] for gram in rare])
        shared = np.bincount(found, minlength=len(self._sizes)) * (len(at) / len(rare))
        similarities = 2 * shared / (self._sizes + len(wanted))
        near = np.flatnonzero(similarities >= _LEAST)
        if n < len(near):
            near = near[np.argpartition(similarities[near], -n)[-n:]]
        return [(float(similarities[index]), int(index)) for index in near]


def _ngrams(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the sequences of texts as numbers, and the index of the text of each."""
    folded = [text.casefold().replace("\0", " ") for text in texts]
    characters = np.frombuffer("".join(f"{text}\0\0" for text in folded).encode("utf-32-le", "replace"), np.uint32)
    owners = np.repeat(np.arange(len(folded), dtype=np.uint32), [len(text) + 2 for text in folded])
    first, second, third = (np.roll(characters, -shift) * factor for shift, factor in enumerate(_FACTORS))
    grams = first ^ second ^ np.where(characters < _FIRST_WIDE, third, np.uint32(0))
    is_text = characters != 0
    return grams[is_text], owners[is_text]


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
