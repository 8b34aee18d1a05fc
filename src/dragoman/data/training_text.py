"""Figures about a prepared corpus that the bundle of its model keeps."""

from __future__ import annotations

import numpy as np

from dragoman.data.store import PairStore
from dragoman.text.learned_text import LearnedText

#: Lines whose sentences are counted, evenly spread over a larger corpus.
_MAX_LINES = 20_000


def learned_text(store: PairStore) -> LearnedText:
    """Return the lengths of all pairs of a store, and the number of sentences a line in a sample."""
    indices = np.unique(np.linspace(0, len(store) - 1, _MAX_LINES).astype(int))
    lines = (store.source_text(int(index)) for index in indices)
    return LearnedText.count(lines, store.source_lengths, store.target_lengths)
