"""Learn the short-list of a model from prepared pairs.

Which target tokens translate which source tokens is Model 1 of Brown et al. 1993, "The Mathematics of Statistical
Machine Translation", section 4.2: each target token comes from one token of the source, whatever their positions.
Expectation maximization learns its probabilities. A link is a target token and a token of its source.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.store import PairStore
from dragoman.machine.arrays import Ints
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.tokenizer import Tokenizers

_log = logging.getLogger(__name__)

#: The most translations of a source token; how often each is expected in the text, at least; and how many tokens are
#: on every list because they are frequent.
MOST_LIKELY, LEAST_COUNT, N_FREQUENT = 500, 0.1, 2000
#: Links that are read for one target language, in 8 bytes each. Of a larger corpus, an evenly spread part is read.
MOST_LINKS = 60_000_000
#: Sentences whose links are listed at once.
_CHUNK = 10_000
_ITERATIONS = 5


def learn_short_list(store: PairStore, tokenizers: Tokenizers) -> ShortList:
    """Return the short-list for each target language of a prepared corpus.

    Args:
        store: pairs in the ids of the tokenizers; tags are source tokens like others.
    """
    same, vocab_size = _same_tokens(tokenizers), tokenizers.target.vocab_size
    tables = {}
    for language in tokenizers.targets:
        rows = _rows_into(store, language)
        if not len(rows):
            _log.warning(f"no pairs are translated into {language}, so it gets no short-list")
            continue
        sources, targets = [store.source_ids(row) for row in rows], [store.target_ids(row) for row in rows]
        likely = _most_likely(*expected_counts(sources, targets, vocab_size), vocab_size)
        by_frequency = np.bincount(np.concatenate(targets), minlength=vocab_size).argsort(kind="stable")
        always = np.union1d(by_frequency[-N_FREQUENT:], [tokenizers.target.special_ids.end])
        tables[language] = _table(np.union1d(likely, same), always, tokenizers)
    return ShortList(tables)


def expected_counts(
    sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], target_vocab_size: int
) -> tuple[Ints, NDArray[np.float64]]:
    """Return the links of a text, each once, and how often the target token is expected to come from the source token.

    A link is written as one number, source id * target_vocab_size + target id. Links are sorted: (n,), with their
    counts (n,).

    Args:
        sources: the ids of each source.
        targets: the ids of its translation.
    """
    chunks = [slice(first, first + _CHUNK) for first in range(0, len(sources), _CHUNK)]
    found = [_links(sources[chunk], targets[chunk], target_vocab_size) for chunk in chunks]
    links = np.unique(np.concatenate([own for own, _ in found]))
    places = [np.searchsorted(links, own).astype(np.int32)[inverse] for own, inverse in found]
    tokens = [_target_tokens(sources[chunk], targets[chunk]) for chunk in chunks]
    source_ids = links // target_vocab_size
    probabilities = counts = np.ones(len(links))
    for _ in range(_ITERATIONS):
        counts = np.zeros(len(links))
        for place, token in zip(places, tokens, strict=True):  # expectation
            shares = probabilities[place]
            shares /= np.bincount(token, shares)[token]
            counts += np.bincount(place, shares, len(links))
        probabilities = counts / np.bincount(source_ids, counts)[source_ids]  # maximization
    return links, counts


def _links(
    sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], target_vocab_size: int
) -> tuple[Ints, NDArray[np.int32]]:
    """Return the different links of some pairs, sorted, and the place among them of each link of the pairs in turn."""
    pairs = zip(sources, targets, strict=True)
    by_pair = [(source.astype(np.int64) * target_vocab_size + target[:, None]).ravel() for source, target in pairs]
    different, places = np.unique(np.concatenate(by_pair), return_inverse=True)
    return different, places.astype(np.int32)


def _target_tokens(sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """Return the number of each link's target token among the tokens of all targets."""
    n_links = np.repeat([len(source) for source in sources], [len(target) for target in targets])
    return np.repeat(np.arange(len(n_links), dtype=np.int32), n_links)


def _rows_into(store: PairStore, language: str) -> Ints:
    """Return the pairs with this target language: all, or an evenly spread part of about `MOST_LINKS` links."""
    spans = [np.arange(span.start, span.stop) for span in store.rows_into(language)]
    rows = np.concatenate([np.empty(0, dtype=np.int64), *spans])
    n_links = store.source_lengths[rows].astype(np.int64) * store.target_lengths[rows]
    step = max(1, -(-int(n_links.sum()) // MOST_LINKS))
    spread: Ints = rows[n_links > 0][::step]
    return spread


def _same_tokens(tokenizers: Tokenizers) -> Ints:
    """Return the links of each token that both vocabularies have with itself: names are copied."""
    pieces = tokenizers.source.vocabulary.pieces(range(tokenizers.source.vocab_size))
    targets = tokenizers.target.vocabulary
    pairs = [(id, targets.ids([piece])[0]) for id, piece in enumerate(pieces) if piece in targets]
    return np.array([source * len(targets) + target for source, target in pairs], dtype=np.int64)


def _most_likely(links: Ints, counts: NDArray[np.float64], target_vocab_size: int) -> Ints:
    """Return the links that a short-list keeps, sorted."""
    is_expected = counts >= LEAST_COUNT
    links, counts = links[is_expected], counts[is_expected]
    source_ids = links // target_vocab_size
    order = np.lexsort((-counts, source_ids))
    ranks = np.arange(len(order)) - np.searchsorted(source_ids, source_ids)  # among the links of a source token
    return np.sort(links[order[ranks < MOST_LIKELY]])


def _table(links: Ints, frequent: Ints, tokenizers: Tokenizers) -> LikelyTokens:
    """Return the tokens of a language. What is frequent is not listed again for each source token."""
    links = links[~np.isin(links % tokenizers.target.vocab_size, frequent)]
    starts = np.searchsorted(links // tokenizers.target.vocab_size, np.arange(tokenizers.source.vocab_size + 1))
    return LikelyTokens(frequent, starts, links % tokenizers.target.vocab_size)
