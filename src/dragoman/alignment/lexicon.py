"""Learn from prepared pairs which target tokens translate which source tokens: the short-list of a model.

The probabilities are those of Model 1 of Brown et al. 1993, "The Mathematics of Statistical Machine Translation",
section 4.2: each target token comes from one token of the source, whatever their places.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.store import PairStore
from dragoman.machine.arrays import Floats, Ints
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.tokenizer import Tokenizers

_log = logging.getLogger(__name__)

#: Likely translations of a source token: as many, each with this probability. And frequent tokens of any text.
MOST_LIKELY, LEAST_PROBABILITY, N_FREQUENT = 50, 0.001, 300
#: Pairs of a source and a target token that are looked at for one language; of a larger corpus, an evenly spread part.
MOST_LINKS = 20_000_000
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
        keys, probabilities = lexicon(sources, targets, tokenizers.target.vocab_size)
        likely = _most_likely(keys, probabilities, tokenizers.target.vocab_size)
        frequent = np.bincount(np.concatenate(targets), minlength=tokenizers.target.vocab_size).argsort()[-N_FREQUENT:]
        always = np.union1d(frequent, [tokenizers.target.special_ids.end])
        tables[language] = _table(np.union1d(likely, same), always, tokenizers)
    return ShortList(tables)


def lexicon(sources: list[NDArray[Any]], targets: list[NDArray[Any]], target_vocab_size: int) -> tuple[Ints, Floats]:
    """Return the pairs of tokens that occur together, and the probability of the target token given the source token.

    A pair is one number: source id times `target_vocab_size` plus target id. Pairs rise.

    Args:
        sources: ids of each source.
        targets: ids of its translation.
    """
    links, n_tokens = [], 0
    of_token = []
    for source, target in zip(sources, targets, strict=True):
        links.append((source.astype(np.int64) * target_vocab_size + target[:, None]).ravel())
        of_token.append(np.repeat(np.arange(n_tokens, n_tokens + len(target)), len(source)))
        n_tokens += len(target)
    keys, places = np.unique(np.concatenate(links), return_inverse=True)
    tokens, source_of = np.concatenate(of_token), keys // target_vocab_size
    probabilities = np.ones(len(keys), dtype=np.float32)
    for _ in range(_ITERATIONS):
        shares = probabilities[places]
        shares /= np.bincount(tokens, shares, n_tokens)[tokens]
        counts = np.bincount(places, shares, len(keys))
        probabilities = (counts / np.bincount(source_of, counts)[source_of]).astype(np.float32)
    return keys, probabilities


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


def _most_likely(keys: Ints, probabilities: Floats, target_vocab_size: int) -> Ints:
    """Return the likely ones of the pairs of tokens, rising."""
    likely = probabilities >= LEAST_PROBABILITY
    keys, probabilities = keys[likely], probabilities[likely]
    sources = keys // target_vocab_size
    order = np.lexsort((-probabilities, sources))
    ranks = np.arange(len(order)) - np.searchsorted(sources, sources)  # `sources` rise, so they are in order
    return np.sort(keys[order[ranks < MOST_LIKELY]])


def _table(pairs: Ints, frequent: Ints, tokenizers: Tokenizers) -> LikelyTokens:
    """Return the tokens of a language, without those of a source token that are frequent anyway."""
    pairs = pairs[~np.isin(pairs % tokenizers.target.vocab_size, frequent)]
    starts = np.searchsorted(pairs // tokenizers.target.vocab_size, np.arange(tokenizers.source.vocab_size + 1))
    return LikelyTokens(frequent, starts, pairs % tokenizers.target.vocab_size)
