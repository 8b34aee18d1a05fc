"""The rules that translations keep, against all translations of small tables."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scorers import (
    EOS_ID,
    METHODS,
    PAD_ID,
    SOS_ID,
    UNK_ID,
    WIDE,
    A,
    B,
    Oracle,
    RowScorer,
    Rule,
    TableScorer,
    assert_same,
    config,
    logs,
    ranked,
    sentences,
)

from dragoman.decoding.constraints import Rows, Stateless
from dragoman.decoding.constraints.forbidden import ForbiddenTokens
from dragoman.decoding.scores import ArrayScores, Scores
from dragoman.decoding.search import search
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.runtime.torch_model import TensorScores

pytestmark = pytest.mark.torch

Word = tuple[int, ...]


def n_matched(word: Word, ids: Sequence[int]) -> int:
    """How many tokens of a word, from its first on, are the latest of some ids; all of them once it was written."""
    if any(tuple(ids[i : i + len(word)]) == word for i in range(len(ids) - len(word) + 1)):
        return len(word)
    return max(n for n in range(len(word)) if tuple(ids[len(ids) - n :]) == word[:n])


@dataclass(frozen=True)
class ForbiddenWords(Stateless):
    """For each sentence of a batch a word, of one or more tokens, that its translation must not have."""

    words: Sequence[Word]

    def apply(self, scores: Scores, rows: Rows) -> None:
        for row, (sentence, ids) in enumerate(zip(rows.sentence.tolist(), rows.ids.tolist(), strict=True)):
            word = self.words[sentence]
            if len(ids) >= len(word) - 1 and tuple(ids[len(ids) - len(word) + 1 :]) == word[:-1]:
                scores.forbid(np.array([row]), np.array([word[-1]]))


@dataclass(frozen=True)
class RequiredWords:
    """For each sentence of a batch a word that its translation must have."""

    words: Sequence[Word]

    def start(self, rows: Rows) -> "RequiredState":
        return RequiredState([self.words[sentence] for sentence in rows.sentence.tolist()], [0] * len(rows.sentence))


@dataclass
class RequiredState:
    """How far each row is with its word."""

    words: list[Word]
    matched: list[int]

    def apply(self, scores: Scores, rows: Rows) -> None:
        ids = rows.ids.tolist()
        assert self.matched == [n_matched(*row) for row in zip(self.words, ids, strict=True)], "it follows the search"

    def satisfied(self, rows: Rows) -> Bools:
        return np.array([n == len(word) for word, n in zip(self.words, self.matched, strict=True)])

    def advance(self, parents: Ints, tokens: Ints) -> None:
        self.words = [self.words[parent] for parent in parents.tolist()]
        before = [self.matched[parent] for parent in parents.tolist()]
        self.matched = [
            len(word) if n == len(word) else n_matched(word, (*word[:n], token))
            for word, n, token in zip(self.words, before, tokens.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class Forbids:
    """`ForbiddenWords` of one sentence, from its definition."""

    word: Word

    def forbids(self, ids: Word, token: int) -> bool:
        return (*ids, token)[-len(self.word) :] == self.word

    def may_end(self, ids: Word) -> bool:
        return True


@dataclass(frozen=True)
class Requires:
    """`RequiredWords` of one sentence, from its definition."""

    word: Word

    def forbids(self, ids: Word, token: int) -> bool:
        return False

    def may_end(self, ids: Word) -> bool:
        return any(ids[i : i + len(self.word)] == self.word for i in range(len(ids)))


# --- a list of rules -------------------------------------------------------------------------------------------------

WORD = st.lists(st.sampled_from([UNK_ID, A, B]), min_size=1, max_size=3).map(tuple)
LENGTHS = (1, 2, 3)


def words_of(rules: Sequence[Rule]) -> set[Word]:
    return {rule.word for rule in rules if isinstance(rule, Forbids | Requires)}


@given(
    seed=st.integers(0, 10_000),
    model_limit=st.integers(2, 5),
    forbidden=st.lists(WORD, min_size=3, max_size=3),
    required=st.lists(WORD, min_size=3, max_size=3),
    prefixes=st.lists(st.lists(st.sampled_from([UNK_ID, A, B]), max_size=1), min_size=3, max_size=3),
    repetition_penalty=st.sampled_from([1.0, 1.3, 5.0]),
    no_repeat_ngram=st.integers(0, 2),
    n_best=st.integers(1, 12),
    length_penalty=st.sampled_from([0.0, 0.6, 3.0]),
)
@settings(max_examples=60)
def test_a_wide_beam_finds_the_best_translations_that_keep_all_rules(
    seed: int,
    model_limit: int,
    forbidden: list[Word],
    required: list[Word],
    prefixes: list[list[int]],
    **options: float,
) -> None:
    scorer = TableScorer(seed, max_length=model_limit)
    search_config = config(beam_size=WIDE, **options)
    rules = [ForbiddenWords(forbidden), RequiredWords(required)]
    beams = search(scorer, sentences(*LENGTHS), search_config, prefixes=prefixes, constraints=rules)
    for length, prefix, bad, good, beam in zip(LENGTHS, prefixes, forbidden, required, beams, strict=True):
        source = (*range(10, 10 + length), EOS_ID)
        oracle = Oracle(scorer, source, search_config, tuple(prefix), [Forbids(bad), Requires(good)])
        assert_same(beam, ranked(oracle.every(), search_config)[: search_config.n_best])


@given(
    seed=st.integers(0, 10_000),
    forbidden=st.lists(WORD, min_size=3, max_size=3),
    required=st.lists(WORD, min_size=3, max_size=3),
    min_length=st.integers(0, 3),
    repetition_penalty=st.sampled_from([1.0, 1.3, 5.0]),
    no_repeat_ngram=st.sampled_from([0, 3]),
)
@settings(max_examples=40)
def test_greedy_search_takes_the_best_token_that_all_rules_allow(
    seed: int, forbidden: list[Word], required: list[Word], **options: float
) -> None:
    scorer, search_config = TableScorer(seed, max_length=30), config(beam_size=1, **options)
    rules = [ForbiddenWords(forbidden), RequiredWords(required)]
    beams = search(scorer, sentences(*LENGTHS), search_config, constraints=rules)
    for length, bad, good, beam in zip(LENGTHS, forbidden, required, beams, strict=True):
        oracle = Oracle(scorer, (*range(10, 10 + length), EOS_ID), search_config, (), [Forbids(bad), Requires(good)])
        assert_same(beam, [oracle.greedy()])


@settings(max_examples=20)
@given(
    method=st.sampled_from(METHODS),
    seed=st.integers(0, 10_000),
    forbidden=st.lists(WORD, min_size=3, max_size=3),
    required=st.lists(WORD, min_size=3, max_size=3),
)
def test_every_search_keeps_rules_of_others(
    method: dict[str, object], seed: int, forbidden: list[Word], required: list[Word]
) -> None:
    scorer = TableScorer(seed, vocab_size=9, max_length=40)
    rules = [ForbiddenWords(forbidden), RequiredWords(required)]
    beams = search(scorer, sentences(*LENGTHS), config(**method), constraints=rules)
    n_finished = 0
    for bad, good, beam in zip(forbidden, required, beams, strict=True):
        for hypothesis in beam:
            assert n_matched(bad, hypothesis.ids) < len(bad)
            assert not hypothesis.finished or n_matched(good, hypothesis.ids) == len(good)
            n_finished += hypothesis.finished
    if all(n_matched(bad, good) < len(bad) == 1 for bad, good in zip(forbidden, required, strict=True)):
        assert n_finished  # the rules can be kept


@pytest.mark.parametrize("method", METHODS)
def test_a_rule_that_allows_everything_changes_nothing(method: dict[str, object]) -> None:
    scorer, options = TableScorer(4, vocab_size=9), config(**method)
    assert search(scorer, sentences(2, 5), options, constraints=[Stateless()]) == search(
        scorer, sentences(2, 5), options
    )


# --- tokens that a translation does not have -------------------------------------------------------------------------


def forbidden_tokens(*ids: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(st.sampled_from(ids)), min_size=len(LENGTHS), max_size=len(LENGTHS))


WORDS = UNK_ID, A, B
MORE = forbidden_tokens(*WORDS, 6, 7, 8)


@dataclass(frozen=True)
class ForbidsTokens:
    """`ForbiddenTokens` of one sentence, from its definition."""

    ids: Sequence[int]

    def forbids(self, ids: Word, token: int) -> bool:
        return token in self.ids

    def may_end(self, ids: Word) -> bool:
        return True


@settings(max_examples=60)
@given(method=st.sampled_from(METHODS), seed=st.integers(0, 10_000), forbidden=MORE, others=MORE)
def test_no_search_writes_forbidden_tokens_and_no_sentence_minds_those_of_another(
    method: dict[str, object], seed: int, forbidden: list[list[int]], others: list[list[int]]
) -> None:
    scorer, options = TableScorer(seed, vocab_size=9, max_length=30), config(**method)
    beams = search(scorer, sentences(*LENGTHS), options, constraints=[ForbiddenTokens(forbidden)])
    for ids, beam in zip(forbidden, beams, strict=True):
        assert beam
        assert not {*ids} & {id for each in beam for id in each.ids}
    mixed = search(scorer, sentences(*LENGTHS), options, constraints=[ForbiddenTokens([forbidden[0], *others[1:]])])
    assert mixed[0] == beams[0]
    assert search(scorer, sentences(*LENGTHS), options, constraints=[ForbiddenTokens([[], [], []])]) == search(
        scorer, sentences(*LENGTHS), options
    )


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    forbidden=forbidden_tokens(*WORDS),
    prefix=st.lists(st.sampled_from([A, B]), max_size=2),
)
def test_among_the_other_tokens_a_search_takes_the_best(
    seed: int, forbidden: list[list[int]], prefix: list[int]
) -> None:
    scorer, rules = TableScorer(seed, max_length=4), [ForbiddenTokens(forbidden)]
    for options in (config(beam_size=1), config(beam_size=WIDE, n_best=5)):
        beams = search(scorer, sentences(*LENGTHS), options, prefixes=[prefix] * 3, constraints=rules)
        for length, ids, beam in zip(LENGTHS, forbidden, beams, strict=True):
            source = (*range(10, 10 + length), EOS_ID)
            oracle = Oracle(scorer, source, options, tuple(prefix), [ForbidsTokens(ids)])
            every = ranked(oracle.every(), options)[: options.n_best]
            assert_same(beam, [oracle.greedy()] if options.beam_size == 1 else every)


# --- repetition penalty ----------------------------------------------------------------------------------------------


def test_a_repetition_penalty_multiplies_the_log_probability_of_a_written_token() -> None:
    # After "A", a second "A" has ln 0.6 * 2 = ln 0.36, and so has a third: how often it was written does not count.
    class Loop(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            return logs([0, 0, 0, 0.4, 0.6, 0] if written else [0, 0, 0, 0, 1, 0])

    def best(**options: object) -> list[object]:
        (beam,) = search(Loop(max_length=5), sentences(1), config(length_penalty=0.0, **options))
        return [(hypothesis.ids, round(np.exp(hypothesis.log_prob), 4)) for hypothesis in beam]

    assert best(beam_size=1, repetition_penalty=1.0) == [((A,) * 4, round(0.6**3, 4))]
    assert best(beam_size=1, repetition_penalty=2.0) == [((A,), 0.4)]
    assert best(beam_size=3, n_best=2, repetition_penalty=2.0) == [((A,), 0.4), ((A, A), round(0.36 * 0.4, 4))]
    assert best(beam_size=9, n_best=3, repetition_penalty=2.0)[2] == ((A,) * 3, round(0.36**2 * 0.4, 4))


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), method=st.sampled_from(METHODS))
def test_a_huge_repetition_penalty_repeats_a_token_only_where_nothing_else_is_possible(
    seed: int, method: dict[str, object]
) -> None:
    scorer = TableScorer(seed, vocab_size=12, max_length=9, peaked=0.5)
    if method.get("sample"):
        method = {**method, "top_k": 1}
    for beam in search(scorer, sentences(1, 2), config(**method, repetition_penalty=100.0, min_length=7)):
        assert len(set(beam[0].ids)) == len(beam[0].ids) >= 7


@pytest.mark.parametrize("make", [ArrayScores, lambda array: TensorScores(torch.from_numpy(array))])
def test_scores_are_multiplied_once_however_often_a_token_is_named(make: type[ArrayScores]) -> None:
    values = np.log(np.random.default_rng(1).random((3, 6), dtype=np.float32))
    values[1, 4] = -np.inf
    expected = values.copy()
    expected[0, 2] *= np.float32(1.7)
    expected[2, [0, 5]] *= np.float32(1.7)
    scores = make(values.copy())
    scores.multiply(np.array([0, 0, 2, 1, 2, 0]), np.array([2, 2, 0, 4, 5, 2]), 1.7)
    np.testing.assert_array_equal(scores.array(), expected)
    scores.multiply(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 1.7)
    np.testing.assert_array_equal(scores.array(), expected)


# --- lengths, prefixes, n-grams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_search_keeps_the_constraints(method: dict[str, object]) -> None:
    prefixes = [[A], [], [UNK_ID, A, A, A, 7], [B, B]]
    options = config(**method, min_length=7, max_length=12, no_repeat_ngram=2)
    for seed in range(5):
        for hypotheses, prefix in zip(
            search(TableScorer(seed, vocab_size=9), sentences(1, 2, 3, 4), options, prefixes=prefixes),
            prefixes,
            strict=True,
        ):
            assert hypotheses
            for each in hypotheses:
                assert list(each.ids[: len(prefix)]) == prefix
                assert 7 <= len(each.ids) <= 11
                assert each.finished == (len(each.token_log_probs) == len(each.ids) + 1)
                assert not {PAD_ID, SOS_ID, EOS_ID} & set(each.ids)
                pairs = Counter(itertools.pairwise(each.ids))
                forced = Counter(itertools.pairwise(prefix))
                assert all(count == 1 or forced[pair] == count for pair, count in pairs.items())


@pytest.mark.parametrize("method", METHODS)
def test_padding_and_start_are_never_written_but_unknown_may_be(method: dict[str, object]) -> None:
    scorer = RowScorer(row=[0.4, 0.2, 0.3, 0.05, 0.03, 0.02])
    for each in search(scorer, sentences(2), config(**method, max_length=8))[0]:
        assert not {PAD_ID, SOS_ID, EOS_ID} & set(each.ids)
    assert search(scorer, sentences(2), config(beam_size=1, max_length=3))[0][0].ids == (UNK_ID,) * 2


@pytest.mark.parametrize("beam_size", [1, 2])
def test_length_limits_follow_the_sentence_and_the_model(beam_size: int) -> None:
    endless = RowScorer(row=[0, 0, 0, 0, 1, 0], max_length=60)
    found = [each[0] for each in search(endless, sentences(1, 4, 20), config(beam_size=beam_size))]
    assert [len(each.ids) for each in found] == [50, 55, 59]
    assert all(not each.finished and each.log_prob == 0 for each in found)
    assert len(search(endless, sentences(1), config(max_length=500))[0][0].ids) == 59
    assert len(search(endless, sentences(1), config(min_length=55))[0][0].ids) == 55
    assert len(search(endless, sentences(1), config(beam_size=1), prefixes=[[A] * 5])[0][0].ids) == 55
    with pytest.raises(ConfigError, match=r"min_length 60 .* the model's max_length 60"):
        search(endless, sentences(1), config(min_length=60))
    with pytest.raises(ConfigError, match=r"min_length 5 .* in max_length 5"):  # the end mark is one of the five
        search(endless, sentences(1), config(min_length=5, max_length=5))
    ending = RowScorer(row=[0, 0, 0, 0.6, 0.4, 0], max_length=80)
    ended = search(ending, sentences(1), config(min_length=55))[0][0]
    assert (len(ended.ids), ended.finished) == (55, True)


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        ([[A]], "1 prefix for 2"),
        ([], "0 prefixes for 2"),
        ([[A], [EOS_ID]], "id 3"),
        ([[99], []], "id 99"),
        ([[], [A] * 4], "prefix 1 has 4 tokens"),
    ],
)
def test_impossible_prefixes_are_refused(prefixes: list[list[int]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        search(TableScorer(), sentences(1, 1), config(max_length=4), prefixes=prefixes)


@pytest.mark.parametrize("method", METHODS)
def test_where_no_token_may_follow_the_translation_is_cut(method: dict[str, object]) -> None:
    only_a = RowScorer(row=[0, 0, 0, 0, 1, 0])
    (found,) = search(only_a, sentences(1), config(**method, no_repeat_ngram=1))
    assert found
    for each in found:
        assert (each.ids, each.finished, each.log_prob) == ((A,), False, 0.0)


def test_an_unfinished_translation_does_not_keep_out_a_finished_one() -> None:
    class DeadEnd(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            rows = {(): [0, 0, 0, 0, 0.9, 0.1], (A,): [0, 0, 0, 0, 0, 0], (B,): [0, 0, 0, 0, 0, 1]}
            return logs(rows.get(written, [0, 0, 0, 1, 0, 0]))

    (found,) = search(DeadEnd(), sentences(1), config(beam_size=2))
    assert [(each.ids, each.finished) for each in found] == [((B, B), True)]
