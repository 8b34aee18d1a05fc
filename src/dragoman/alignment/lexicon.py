"""Learn from prepared pairs which target tokens translate which source tokens: the short-list of a model.

The probabilities are those of Model 1 of Brown et al. 1993, "The Mathematics of Statistical Machine Translation",
section 4.2: each target token comes from one token of the source, whatever their places.
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

#: Likely translations of a source token: as many, each expected as often in the text; and frequent tokens of any text.
MOST_LIKELY, LEAST_COUNT, N_FREQUENT = 500, 0.2, 1000
#: Pairs of a source and a target token that are looked at for one language, in 8 bytes each; of a larger corpus, an
#: evenly spread part.
MOST_LINKS = 60_000_000
#: Sentences whose pairs of tokens are listed at once.
_CHUNK = 10_000
_ITERATIONS = 5


def learn_short_list(store: PairStore, tokenizers: Tokenizers) -> ShortList:
    """Return the short-list for each target language of a prepared corpus.

    Args:
        store: pairs in the ids of the tokenizers; tags are source tokens like others.
    """
    same = _same_tokens(tokenizers)
    tables = {}
    for language in tokenizers.targets:
        rows = _rows_into(store, language)
        if not len(rows):
            _log.warning(f"no pairs are translated into {language}, so it gets no short-list")
            continue
        sources, targets = [store.source_ids(row) for row in rows], [store.target_ids(row) for row in rows]
        keys, counts = lexicon(sources, targets, tokenizers.target.vocab_size)
        likely = _most_likely(keys, counts, tokenizers.target.vocab_size)
        frequent = np.bincount(np.concatenate(targets), minlength=tokenizers.target.vocab_size).argsort(kind="stable")[
            -N_FREQUENT:
        ]
        always = np.union1d(frequent, [tokenizers.target.special_ids.end])
        tables[language] = _table(np.union1d(likely, same), always, tokenizers)
    return ShortList(tables)


def lexicon(
    sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], target_vocab_size: int
) -> tuple[Ints, NDArray[np.float64]]:
    """Return the pairs of tokens that occur together, and how often the one is expected to come from the other.

    A pair is one number: source id times `target_vocab_size` plus target id. Pairs rise.

    Args:
        sources: ids of each source.
        targets: ids of its translation.
    """
    chunks = [slice(first, first + _CHUNK) for first in range(0, len(sources), _CHUNK)]

    def links(chunk: slice) -> Ints:
        pairs = zip(sources[chunk], targets[chunk], strict=True)
        return np.concatenate(
            [(source.astype(np.int64) * target_vocab_size + target[:, None]).ravel() for source, target in pairs]
        )

    uniques, inverses = zip(*(_unique(links(chunk)) for chunk in chunks), strict=True)
    keys = np.unique(np.concatenate(uniques))
    places = [
        np.searchsorted(keys, own).astype(np.int32)[inverse] for own, inverse in zip(uniques, inverses, strict=True)
    ]
    tokens = [_numbers(sources[chunk], targets[chunk]) for chunk in chunks]
    source_of = keys // target_vocab_size
    probabilities = counts = np.ones(len(keys))
    for _ in range(_ITERATIONS):
        counts = np.zeros(len(keys))
        for place, token in zip(places, tokens, strict=True):
            shares = probabilities[place]
            shares /= np.bincount(token, shares)[token]
            counts += np.bincount(place, shares, len(keys))
        probabilities = counts / np.bincount(source_of, counts)[source_of]
    return keys, counts


def _unique(links: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return the different links, rising, and the place of each link among them."""
    different, places = np.unique(links, return_inverse=True)
    return different, places.astype(np.int32)


def _numbers(sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """Return the number of the target token of each link."""
    repeats = np.repeat([len(source) for source in sources], [len(target) for target in targets])
    return np.repeat(np.arange(len(repeats), dtype=np.int32), repeats)


def _rows_into(store: PairStore, language: str) -> Ints:
    """Return the pairs with this target language: all, or an evenly spread part, with `MOST_LINKS` at most."""
    if store.parts:
        ends = np.cumsum([part.n_pairs for part in store.parts])
        spans = [np.arange(end - part.n_pairs, end) for part, end in zip(store.parts, ends, strict=True)
                 if part.target_lang == language]  # fmt: skip
        rows = np.concatenate([*spans, np.empty(0, dtype=np.int64)])
    else:
        rows = np.arange(len(store))
    n_links = store.source_lengths[rows].astype(np.int64) * store.target_lengths[rows]
    rows, n_links = rows[n_links > 0], n_links[n_links > 0]
    step = max(1, -(-int(n_links.sum()) // MOST_LINKS))
    spread: Ints = rows[::step]
    return spread


def _same_tokens(tokenizers: Tokenizers) -> Ints:
    """Return (source id, target id) of the tokens that both vocabularies have, as in `lexicon`: names are copied."""
    pieces = tokenizers.source.vocabulary.pieces(range(tokenizers.source.vocab_size))
    targets = tokenizers.target.vocabulary
    pairs = [(id, targets.ids([piece])[0]) for id, piece in enumerate(pieces) if piece in targets]
    return np.array([source * len(targets) + target for source, target in pairs], dtype=np.int64)


def _most_likely(keys: Ints, counts: NDArray[np.float64], target_vocab_size: int) -> Ints:
    """Return the likely ones of the pairs of tokens, rising."""
    is_seen = counts >= LEAST_COUNT
    keys, counts = keys[is_seen], counts[is_seen]
    sources = keys // target_vocab_size
    order = np.lexsort((-counts, sources))
    ranks = np.arange(len(order)) - np.searchsorted(sources, sources)  # `sources` rise, so they are in order
    return np.sort(keys[order[ranks < MOST_LIKELY]])


def _table(pairs: Ints, frequent: Ints, tokenizers: Tokenizers) -> LikelyTokens:
    """Return the tokens of a language, without those of a source token that are frequent anyway."""
    pairs = pairs[~np.isin(pairs % tokenizers.target.vocab_size, frequent)]
    starts = np.searchsorted(pairs // tokenizers.target.vocab_size, np.arange(tokenizers.source.vocab_size + 1))
    return LikelyTokens(frequent, starts, pairs % tokenizers.target.vocab_size)
