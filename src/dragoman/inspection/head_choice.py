"""The choice of the cross-attention heads that align words best.

Nobody has aligned the words of a new corpus by hand. So the links that IBM model 1 finds in both directions stand in
for human ones, and the heads are chosen that find the same links: first the best single head, then further heads while
their mean gets clearly better. Half of the pairs choose, the other half measure.

P pairs, L layers, H heads, V and W source and target words.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.lexicon import expected_counts
from dragoman.alignment.links import Link, Places, link_words, word_weights
from dragoman.alignment.word_spans import words
from dragoman.errors import ConfigError, DataError
from dragoman.inspection.inputs import require_single_model
from dragoman.machine.arrays import Floats
from dragoman.text.cleaning import sanitize
from dragoman.translator import BATCH_TOKENS, Translator
from dragoman.translator.padding import pair_batches

#: Measured sentences have at most this many words.
MOST_WORDS = 100
#: A further head must lower the error rate by this much.
LEAST_GAIN = 0.003

Pair = tuple[str, str]
Links = Sequence[set[Link]]


@dataclass(frozen=True)
class Agreement:
    """Agreement of some links with those of the reference."""

    name: str
    #: Recall: the share of the reference's links that were found.
    recall: float
    #: Alignment error rate (Och and Ney 2003): 1 - 2 |both| / (|found| + |reference|).
    error_rate: float


@dataclass(frozen=True)
class Choice:
    """The best heads, and the measurements."""

    heads: AlignmentHeads
    n_pairs: int
    n_links: int
    agreements: tuple[Agreement, ...]


def choose_heads(translator: Translator, training: Sequence[Pair], pairs: Sequence[Pair]) -> Choice:
    """Choose alignment heads on every second of `pairs`, and measure them, and others, on the rest.

    Args:
        training: more sentence pairs, from which IBM model 1 learns together with `pairs`.

    Raises:
        ConfigError: the translator is an ensemble, or its translations begin with tags.
        DataError: there are fewer than two pairs that the model can read.
    """
    require_single_model(translator)
    if translator.tokenizers.has_both_tags:
        raise ConfigError("tokenizer.tags=both: heads are chosen for models whose translations begin with no tag")
    pairs = [pair for pair in pairs if all(0 < len(words(text)) <= MOST_WORDS for text in pair)]
    pairs = [pair for pair in pairs if translator.fits(*pair)]
    if len(pairs) < 2:
        raise DataError(f"{len(pairs)} sentence pairs that the model can read", advice="give some hundred")
    reference = silver_links(
        ((words(source), words(target)) for source, target in training),
        [(words(source), words(target)) for source, target in pairs],
    )
    maps = head_weights(translator, pairs)
    chosen = best_heads(maps[::2], reference[::2])
    default = AlignmentHeads.default(translator.scorer.models[0].config)
    baselines = {"diagonal": [diagonal(pair) for pair in pairs]}
    ours = {"heads by default": links_of(maps, default), "heads chosen": links_of(maps, chosen)}
    held_out = reference[1::2]
    return Choice(
        heads=chosen,
        n_pairs=len(held_out),
        n_links=sum(map(len, held_out)),
        agreements=tuple(agreement(name, links[1::2], held_out) for name, links in (baselines | ours).items()),
    )


def head_weights(translator: Translator, pairs: Sequence[Pair]) -> list[tuple[Floats, Floats]]:
    """Return the attention of each target word of each pair to each source word, head by head, (L, H, W, V): first
    from the step that writes the target word, then from the step that reads it."""
    tokenizers = translator.tokenizers
    texts = [(sanitize(source), sanitize(target)) for source, target in pairs]
    ids = [(tokenizers.source.encode(source), tokenizers.target.encode(target)) for source, target in texts]
    weights: dict[int, tuple[Floats, Floats]] = {}
    for rows in pair_batches(ids, BATCH_TOKENS):
        by_pair = translator.forced_decoder.cross_attention([ids[row] for row in rows])
        for row, cross in zip(rows, by_pair, strict=True):
            source = Places.of(tokenizers.source.split(texts[row][0]), texts[row][0])
            target = Places.of(tokenizers.target.split(texts[row][1]), texts[row][1])
            weights[row] = word_weights(cross, source, target), word_weights(cross[..., 1:, :], source, target)
    return [weights[row] for row in range(len(pairs))]


def diagonal(pair: Pair) -> set[Link]:
    """Link each target word to the source word at the same relative position: a baseline without a model."""
    n_source, n_target = (len(words(text)) for text in pair)
    return {((2 * target + 1) * n_source // (2 * n_target), target) for target in range(n_target)}


def agreement(name: str, links: Links, reference: Links) -> Agreement:
    """Compare links with those of the reference, pair by pair."""
    n_both = sum(len(ours & theirs) for ours, theirs in zip(links, reference, strict=True))
    n_found, n_reference = sum(map(len, links)), sum(map(len, reference))
    return Agreement(name, n_both / max(1, n_reference), 1 - 2 * n_both / max(1, n_found + n_reference))


def links_of(maps: Sequence[tuple[Floats, Floats]], heads: AlignmentHeads) -> list[set[Link]]:
    """Return the links of pairs by some heads, given the result of `head_weights`."""
    layers, numbers = map(list, zip(*heads.heads, strict=True))
    return [set(link_words(pair_maps[heads.shifted][layers, numbers].mean(axis=0))) for pair_maps in maps]


def best_heads(maps: Sequence[tuple[Floats, Floats]], reference: Links) -> AlignmentHeads:
    """Return the heads of the lowest error rate: the best one, then one more at a time while that helps."""
    all_heads = [(layer, head) for layer in range(maps[0][0].shape[0]) for head in range(maps[0][0].shape[1])]
    best: tuple[float, AlignmentHeads] | None = None
    for shifted in (False, True):
        heads: tuple[tuple[int, int], ...] = ()
        rate = 1.0
        while True:
            candidates = [
                AlignmentHeads(heads=(*heads, head), shifted=shifted) for head in all_heads if head not in heads
            ]
            rates = [agreement("", links_of(maps, candidate), reference).error_rate for candidate in candidates]
            if not rates or (heads and min(rates) > rate - LEAST_GAIN):
                break
            rate = min(rates)
            heads = candidates[rates.index(rate)].heads
        if best is None or rate < best[0]:
            best = (rate, AlignmentHeads(heads=heads, shifted=shifted))
    assert best is not None
    return best[1]


#: Source words times target words of all pairs that are learned from: about 60 bytes each while learning.
MOST_CELLS = 6_000_000
_PUNCTUATION = string.punctuation + "„“”‚‘’«»…。，！？；：、（）《》"

Words = Sequence[str]
WordPair = tuple[Words, Words]


def silver_links(training: Iterable[WordPair], pairs: Sequence[WordPair]) -> list[set[Link]]:
    """Return the links of `pairs` (source words, target words) that both directions of the model find.

    Few of them are wrong, so they can stand in for human ones ("silver" for gold). The model learns from `pairs`, and
    from `training` as far as RAM allows.
    """
    learned, room = list(pairs), MOST_CELLS
    for source, target in training:
        room -= len(source) * len(target)
        if room < 0:
            break
        if source and target:
            learned.append((source, target))
    sources, targets = ([_forms(pair[side]) for pair in learned] for side in (0, 1))
    forward = most_probable(sources, targets)[: len(pairs)]
    backward = most_probable(targets, sources)[: len(pairs)]
    return [
        {(source, target) for target, source in enumerate(forward_links) if source >= 0}
        & {(source, target) for source, target in enumerate(back) if target >= 0}
        for forward_links, back in zip(forward, backward, strict=True)
    ]


def most_probable(sources: Sequence[Words], targets: Sequence[Words]) -> list[list[int]]:
    """Return for each target word of each pair the index of the source word that it most probably translates, or -1 for
    none."""
    source_ids, _ = _numbered([["", *words] for words in sources])  # "" stands for no word
    target_ids, n_target = _numbered(targets)
    links, counts = expected_counts(source_ids, target_ids, n_target)
    probabilities = counts / np.bincount(links // n_target, counts)[links // n_target]
    best = []
    for source, target in zip(source_ids, target_ids, strict=True):
        own = np.searchsorted(links, source * n_target + target[:, None])
        best.append((probabilities[own].argmax(axis=1) - 1).tolist())
    return best


def _forms(words: Words) -> Words:
    """Return words without punctuation and in lower case, so that "Horse." is "horse"."""
    return [word.strip(_PUNCTUATION).lower() or word for word in words]


def _numbered(sentences: Iterable[Words]) -> tuple[list[NDArray[np.int64]], int]:
    """Return each word as a number, and the number of different words."""
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64) for words in sentences]
    return ids, len(numbers)
