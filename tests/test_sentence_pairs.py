"""Sentences of two texts, paired."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.alignment.sentence_pairs import PRIORS, Aligner, Sentence, SentenceGroup, align_sentences

_texts = st.lists(st.text("abc 1.", min_size=1, max_size=12), max_size=5)


def _total(aligner: Aligner, groups: list[SentenceGroup]) -> float:
    total = 0.0
    for group in groups:
        total += _score(aligner, group.sources, group.targets)
    return total


def _score(aligner: Aligner, sources: range, targets: range) -> float:
    if not sources or not targets:
        return PRIORS[len(sources), len(targets)]
    stop = targets.stop
    return float(aligner.scores(sources.stop, len(sources), stop, stop + 1)[len(targets) - 1][0])


@settings(max_examples=40, deadline=None)
@given(_texts, _texts, st.booleans())
def test_the_dynamic_programme_equals_an_exhaustive_search(left: list[str], right: list[str], learned: bool) -> None:
    sources, targets = [Sentence(text) for text in left], [Sentence(text) for text in right]
    aligner = Aligner(sources, targets)
    path = aligner.search(np.zeros(len(left) + 1, np.int64), 9)
    if learned:
        aligner.learn(path)
        path = aligner.search(path, 9)

    @cache
    def best(row: int, column: int) -> float:
        if not row and not column:
            return 0.0
        return max(
            best(row - a, column - b) + _score(aligner, range(row - a, row), range(column - b, column))
            for a, b in PRIORS
            if a <= row and b <= column
        )

    assert np.isclose(_total(aligner, aligner.groups()), best(len(left), len(right)))


@settings(max_examples=40, deadline=None)
@given(_texts, _texts)
def test_groups_are_all_sentences_in_order(left: list[str], right: list[str]) -> None:
    groups = align_sentences([Sentence(text) for text in left], [Sentence(text) for text in right]).groups
    assert [index for group in groups for index in group.sources] == list(range(len(left)))
    assert [index for group in groups for index in group.targets] == list(range(len(right)))
    assert all(0 <= group.confidence <= 1 for group in groups)


def _languages(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Return sentences of a made-up language, and their translations, word by word."""
    chance = random.Random(seed)
    letters = "abdefgiklmnoprstu"
    made = {"".join(chance.choices(letters, k=5)): "".join(chance.choices(letters, k=5)) for _ in range(150)}
    lines = [chance.choices(list(made), k=chance.randint(3, 14)) for _ in range(n)]
    return [" ".join(line) for line in lines], [" ".join(made[word] for word in line) for line in lines]


def test_a_long_gap_and_joined_sentences_are_found() -> None:
    left, right = _languages(400, seed=3)
    targets = [*right[:150], *right[210:300], f"{right[300]} {right[301]}", *right[302:]]
    groups = align_sentences([Sentence(text) for text in left], [Sentence(text) for text in targets]).groups
    found = {(group.sources, group.targets) for group in groups if not group.is_gap}
    expected = {(range(i, i + 1), range(i, i + 1)) for i in range(150)}
    expected |= {(range(i, i + 1), range(i - 60, i - 59)) for i in range(210, 300)}
    expected |= {(range(300, 302), range(240, 241))}
    expected |= {(range(i, i + 1), range(i - 61, i - 60)) for i in range(302, 400)}
    assert len(found & expected) >= 0.95 * len(expected)


def test_translations_of_a_model_find_what_lengths_cannot() -> None:
    left, right = _languages(12, seed=5)
    targets = [Sentence(text) for text in right[4:]]
    groups = align_sentences([Sentence(text) for text in left], targets, translations=right).groups
    assert {(g.sources, g.targets) for g in groups if not g.is_gap} == {
        (range(i + 4, i + 5), range(i, i + 1)) for i in range(8)
    }


def test_unrelated_texts_show_no_relation() -> None:
    (left, right), (_, other) = _languages(300, seed=7), _languages(300, seed=8)
    relations = []
    for side in (right, other):
        aligner = Aligner([Sentence(text) for text in left], [Sentence(text) for text in side])
        path = aligner.search(np.arange(len(left) + 1), 300)
        aligner.learn(path)
        aligner.search(path, 60)
        relations.append(aligner.relation())
    assert relations[0] > 6
    assert relations[1] < 3
