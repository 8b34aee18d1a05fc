"""IBM model 1 (Brown et al. 1993): which word translates which, from parallel text alone.

A target word is translated from one source word, or from none, whichever it may be: positions play no part. The
probabilities of translation are found by expectation maximisation, which for this model has one maximum only.
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
    """The links of `pairs`, each a source and a target as words, that both directions of the model agree on.

    Few of them are wrong, so they can stand in for a person's ("silver" for gold). It learns from `training`, as far as
    memory goes, and from `pairs`.
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
        {(source, target) for target, source in enumerate(there) if source >= 0}
        & {(source, target) for source, target in enumerate(back) if target >= 0}
        for there, back in zip(forward, backward, strict=True)
    ]


def most_probable(sources: Sequence[Words], targets: Sequence[Words]) -> list[list[int]]:
    """For each target word of each pair the number of the source word that it is most probably translated from, or -1
    for none."""
    source_ids, _ = _numbered([["", *words] for words in sources])  # "" stands for no word
    target_ids, n_target = _numbered(targets)
    # A cell is a source word and a target word of one pair; cells of one target word are side by side.
    both = list(zip(source_ids, target_ids, strict=True))
    source_of = np.concatenate([np.tile(source, len(target)) for source, target in both])
    target_of = np.concatenate([np.repeat(target, len(source)) for source, target in both])
    lengths = np.concatenate([np.full(len(target), len(source)) for source, target in both])
    place_of = np.repeat(np.arange(len(lengths)), lengths)
    types, type_of = np.unique(source_of * n_target + target_of, return_inverse=True)
    source_of_type = types // n_target
    probability = np.ones(len(types))
    for _ in range(ITERATIONS):
        cells = probability[type_of]
        counts = np.bincount(type_of, cells / np.bincount(place_of, cells)[place_of])
        probability = counts / np.bincount(source_of_type, counts)[source_of_type]
    cells, best, start = probability[type_of], [], 0
    for source, target in both:
        end = start + len(source) * len(target)
        best.append((cells[start:end].reshape(len(target), len(source)).argmax(axis=1) - 1).tolist())
        start = end
    return best


def _forms(words: Words) -> Words:
    """Words without their punctuation and case, so that "horse." is "horse"."""
    return [word.strip(_PUNCTUATION).lower() or word for word in words]


def _numbered(sentences: Iterable[Words]) -> tuple[list[NDArray[np.int64]], int]:
    """Each word by number, and how many different ones there are."""
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64) for words in sentences]
    return ids, len(numbers)
