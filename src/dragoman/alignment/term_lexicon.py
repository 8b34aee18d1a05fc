"""Translations of words, learned from prepared pairs: the terms that training annotates.

Model 1 (`lexicon.py`) finds them. Frequent words are left out: they are no terms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dragoman.alignment.lexicon import expected_counts
from dragoman.data.store import PairStore
from dragoman.machine.arrays import Ints
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.sentence_pieces import SPACE
from dragoman.text.tags import Direction, split_tags
from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizer, Tokenizers

#: Links that are read for one direction. Of a larger corpus, an evenly spread part is read.
_MOST_LINKS = 8_000_000
#: How often a translation is expected, at least, and its share of all those of its source and of its target.
_LEAST_COUNT, _LEAST_SHARE, _LEAST_BACKWARD = 2.0, 0.1, 0.2
#: The most frequent words of each side, which are no terms.
_N_FREQUENT = 100
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def learn_terms(store: PairStore, tokenizers: Tokenizers) -> Mapping[Direction, TermList]:
    """Return the translations of words in each direction of a prepared corpus, in small letters.

    Args:
        store: pairs in the ids of the tokenizers.
    """
    parts = dict.fromkeys((part.source_lang, part.target_lang) for part in store.parts)
    if not parts:
        return {tokenizers.languages: _learn([slice(0, len(store))], store, tokenizers, tokenizers.languages)}
    return {direction: _learn(store.rows_of(direction), store, tokenizers, direction) for direction in parts}


def _learn(spans: Sequence[slice], store: PairStore, tokenizers: Tokenizers, direction: Direction) -> TermList:
    rows = _spread(np.concatenate([np.arange(span.start, span.stop) for span in spans]), store)
    tags, (source, target) = tokenizers.source.tags, map(base_language, direction)
    sources = [_words(split_tags(store.source_text(row), tags)[1], source, tokenizers.source) for row in rows]
    targets = [_words(store.target_text(row), target, tokenizers.target) for row in rows]
    source_words, source_ids = _numbered(sources)
    target_words, target_ids = _numbered(targets)
    links, counts = expected_counts(source_ids, target_ids, len(target_words))
    of_source, of_target = links // len(target_words), links % len(target_words)
    forward, backward = (counts / np.bincount(ids, counts)[ids] for ids in (of_source, of_target))
    is_term = (counts >= _LEAST_COUNT) & (forward >= _LEAST_SHARE) & (backward >= _LEAST_BACKWARD)
    is_term &= (of_source >= _N_FREQUENT) & (of_target >= _N_FREQUENT)
    pairs = zip(of_source[is_term].tolist(), of_target[is_term].tolist(), strict=True)
    return TermList(Term(source_words[one], (target_words[other],)) for one, other in pairs)


def _spread(rows: Ints, store: PairStore) -> Ints:
    """Return an evenly spread part of some pairs, of about `_MOST_LINKS` links."""
    n_links = store.source_lengths[rows].astype(np.int64) * store.target_lengths[rows]
    step = max(1, -(-int(n_links.sum()) // _MOST_LINKS))
    spread: Ints = rows[::step]
    return spread


def _words(text: str, language: str, tokenizer: Tokenizer) -> list[str]:
    """Return the words of a text in small letters; pieces of a script without spaces stand for words."""
    if language in WITHOUT_SPACES:
        pieces = (piece.strip(SPACE) for piece in tokenizer.split(text))
        return [piece.lower() for piece in pieces if _WORD.fullmatch(piece)]
    return [match[0].lower() for match in _WORD.finditer(text)]


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[list[str], list[Ints]]:
    """Return the different words, the most frequent first, and the sentences in their numbers."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    ids = {word: id for id, word in enumerate(words)}
    return words, [np.array([ids[word] for word in sentence], dtype=np.int64) for sentence in sentences]
