"""IBM model 1 (Brown et al. 1993): links between words, learned from parallel text alone.

Each target word is translated from one source word, or from none, and positions play no part. Expectation maximisation
finds the probabilities of translation. For this model it has a single maximum.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.alignment.links import Link

ITERATIONS = 5
#: Source words times target words of all pairs that are learned from: about 60 bytes each while learning.
MOST_CELLS = 6_000_000
_PUNCTUATION = string.punctuation + "„“”‚‘’«»…。，！？；：、（）《》"

Words = Sequence[str]
Pair = tuple[Words, Words]


def silver_links(training: Iterable[Pair], pairs: Sequence[Pair]) -> list[set[Link]]:
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
    # A cell is a source word and a target word of one pair; cells of one target word are side by side.
    both = list(zip(source_ids, target_ids, strict=True))
    source_of = np.concatenate([np.tile(source, len(target)) for source, target in both])
    target_of = np.concatenate([np.repeat(target, len(source)) for source, target in both])
    lengths = np.concatenate([np.full(len(target), len(source)) for source, target in both])
    word_of = np.repeat(np.arange(len(lengths)), lengths)  # the target word of each cell
    types, type_of = np.unique(source_of * n_target + target_of, return_inverse=True)
    source_of_type = types // n_target
    probability = np.ones(len(types))
    for _ in range(ITERATIONS):
        cells = probability[type_of]
        counts = np.bincount(type_of, cells / np.bincount(word_of, cells)[word_of])
        probability = counts / np.bincount(source_of_type, counts)[source_of_type]
    cells, best, start = probability[type_of], [], 0
    for source, target in both:
        end = start + len(source) * len(target)
        best.append((cells[start:end].reshape(len(target), len(source)).argmax(axis=1) - 1).tolist())
        start = end
    return best


def _forms(words: Words) -> Words:
    """Return words without punctuation and in lower case, so that "Horse." is "horse"."""
    return [word.strip(_PUNCTUATION).lower() or word for word in words]


def _numbered(sentences: Iterable[Words]) -> tuple[list[NDArray[np.int64]], int]:
    """Return each word as a number, and the number of different words."""
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64) for words in sentences]
    return ids, len(numbers)
