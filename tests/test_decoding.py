"""Search, on tables of probabilities whose every translation can be enumerated."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scorers import (
    EOS_ID,
    METHODS,
    UNK_ID,
    WIDE,
    A,
    B,
    Oracle,
    RowScorer,
    TableScorer,
    assert_same,
    config,
    cut,
    logs,
    ranked,
    sentences,
)

from dragoman.decoding.beam import beam_search
from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.hypothesis import Hypothesis, best_first
from dragoman.decoding.sampling import draw
from dragoman.decoding.scores import ArrayScores
from dragoman.decoding.search import search
from dragoman.decoding.state import Scorer, add_probabilities
from dragoman.errors import DragomanError, StoppedError
from dragoman.machine.arrays import Floats, Ints
from dragoman.settings.search_config import SearchConfig

pytestmark = pytest.mark.torch


def beam_of_one(scorer: Scorer, source_ids: Ints, options: SearchConfig) -> list[list[Hypothesis]]:
    """Beam search itself, where `search` would take greedy search."""
    return beam_search(scorer.start(source_ids), ActiveConstraints(scorer, source_ids, options), options)


# --- beam search -----------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    vocab_size=st.integers(4, 6),
    length_penalty=st.sampled_from([0.0, 0.6, 1.0, 3.0]),
    model_limit=st.integers(1, 5),
    max_length=st.none() | st.integers(1, 7),
    min_length=st.integers(0, 2),
    no_repeat_ngram=st.integers(0, 2),
    n_best=st.integers(1, 12),
    prefixes=st.lists(st.lists(st.sampled_from([UNK_ID, 4, 5]), max_size=2), min_size=3, max_size=3),
)
@settings(max_examples=40)
def test_a_wide_beam_finds_the_best_of_all_translations(
    seed: int, vocab_size: int, model_limit: int, max_length: int | None, prefixes: list[list[int]], **options: float
) -> None:
    scorer = TableScorer(seed, vocab_size, max_length=model_limit)
    room = min(max_length or model_limit, model_limit)
    options |= {} if max_length is None else {"max_length": max_length}
    options["min_length"] = min(options["min_length"], room - 1)
    prefixes = [[id for id in prefix if id < vocab_size][: room - 1] for prefix in prefixes]
    search_config = config(beam_size=WIDE, **options)
    found = search(scorer, sentences(1, 2, 3), search_config, prefixes=prefixes)
    for length, prefix, hypotheses in zip((1, 2, 3), prefixes, found, strict=True):
        source = (*range(10, 10 + length), EOS_ID)
        every = ranked(Oracle(scorer, source, search_config, tuple(prefix)).every(), search_config)
        assert len(every) <= WIDE
        assert_same(hypotheses, cut(every[: search_config.n_best], max_length, search_config.length_penalty))
        assert len({each.ids for each in hypotheses}) == len(hypotheses)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), length_penalty=st.sampled_from([0.0, 1.0, 3.0]), ngram=st.integers(0, 2))
def test_a_beam_of_one_is_greedy_search(seed: int, length_penalty: float, ngram: int) -> None:
    options = config(beam_size=1, length_penalty=length_penalty, no_repeat_ngram=ngram)
    source_ids, scorer = sentences(1, 4, 2, 3), TableScorer(seed)
    for one, other in zip(beam_of_one(scorer, source_ids, options), search(scorer, source_ids, options), strict=True):
        assert_same(one, other)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    beam_size=st.integers(1, 5),
    options=st.sampled_from([{}, {"sample": True, "n_best": 3}, {"sample": True, "top_p": 0.7}, {"length_penalty": 2}]),
)
def test_a_sentence_does_not_depend_on_its_batch(
    seed: int, lengths: list[int], beam_size: int, options: dict[str, object]
) -> None:
    scorer = TableScorer(seed, vocab_size=9)
    n_best = options.get("n_best", beam_size)
    search_config = config(**{"beam_size": beam_size, **options, "n_best": n_best})
    together = search(scorer, sentences(*lengths), search_config)
    for length, hypotheses in zip(lengths, together, strict=True):
        assert_same(hypotheses, search(scorer, sentences(length), search_config)[0])


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.6, 2.0]))
def test_n_best_are_sorted_and_distinct(seed: int, alpha: float) -> None:
    scorer = TableScorer(seed, vocab_size=12)
    for hypotheses in search(scorer, sentences(1, 2), config(beam_size=6, n_best=6, length_penalty=alpha)):
        assert len(hypotheses) == len({each.ids for each in hypotheses}) == 6
        assert hypotheses == best_first(hypotheses)


def test_a_beam_leads_past_the_greedy_choice() -> None:
    class Garden(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            rows = {
                (): [0, 0, 0, 0.1, 0.5, 0.4],
                (A,): [0, 0.3, 0, 0.3, 0.2, 0.2],
                (B,): [0, 0, 0, 0.9, 0.1, 0],
            }
            return logs(rows.get(written, [0, 0, 0, 1, 0, 0]))

    greedy = search(Garden(), sentences(1), config(beam_size=1, length_penalty=0.0))[0]
    beam = search(Garden(), sentences(1), config(beam_size=2, n_best=2, length_penalty=0.0))[0]
    assert greedy[0].ids[:1] == (A,)
    assert beam[0].ids == (B,)
    assert beam[0].log_prob == pytest.approx(math.log(0.4 * 0.9), abs=1e-6)


def test_beams_and_n_best_beyond_the_vocabulary() -> None:
    # Only the empty translation and "A" exist.
    scorer = RowScorer(row=[0, 0, 0, 0.5, 0.5, 0], max_length=2)
    found = search(scorer, sentences(1), config(beam_size=9, n_best=9))
    assert [(each.ids, each.finished) for each in found[0]] == [((A,), True), ((), True)]


# --- rows ------------------------------------------------------------------------------------------------------------


def written_tokens(hypothesis: Hypothesis) -> int:
    return len(hypothesis.token_log_probs)


def test_finished_sentences_leave_the_batch() -> None:
    scorer = TableScorer(3)
    found = [each[0] for each in search(scorer, sentences(*range(1, 9)), config(beam_size=1))]
    assert len({written_tokens(each) for each in found}) > 2
    assert scorer.rows == [
        sum(written_tokens(each) > position for each in found) for position in range(max(map(written_tokens, found)))
    ]


def test_finished_hypotheses_leave_the_beam() -> None:
    scorer = TableScorer(3, vocab_size=20)
    found = search(scorer, sentences(1, 2, 3), config(beam_size=4, n_best=4))
    assert {each.finished for hypotheses in found for each in hypotheses} == {True, False}
    assert scorer.rows[:2] == [3, 12]
    for position, rows in enumerate(scorer.rows[1:], start=1):
        left = sum(each.finished and written_tokens(each) <= position for hypotheses in found for each in hypotheses)
        assert rows <= 12 - left
    scorer.rows.clear()
    search(scorer, sentences(1, 2, 3), config(beam_size=4, n_best=1))
    assert len(scorer.rows) <= max(len(each.ids) + 1 for hypotheses in found for each in hypotheses)


def test_search_stops_when_nothing_better_can_come() -> None:
    # After "A" with 0.9 nothing can reach it, though two of three hypotheses are open.
    class Sure(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            return logs([0, 0.05, 0, 0.9, 0.03, 0.02] if written else [0, 0.03, 0, 0, 0.94, 0.03])

    scorer = Sure()
    search(scorer, sentences(1), config(beam_size=4, length_penalty=0.0))
    assert scorer.rows == [1, 3]


@pytest.mark.parametrize("limit", [4, 5, 6, 7, 10])
def test_search_goes_on_exactly_while_something_better_can_come(limit: int) -> None:
    # The longer translation wins by its length penalty, if it may become long enough.
    class Long(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            rows = {1: [0, 0, 0, 0.6, 0.4, 0], limit - 1: [0, 0, 0, 1, 0, 0]}
            return logs(rows.get(len(written), [0, 0, 0, 0, 1, 0]))

    scorer = Long(max_length=limit)
    (found,) = search(scorer, sentences(1), config(beam_size=2, length_penalty=1.0))
    wins = math.log(0.4) / ((5 + limit) / 6) > math.log(0.6) / ((5 + 2) / 6)
    assert len(found[0].ids) == (limit - 1 if wins else 1)
    assert len(scorer.rows) == (limit if wins else 2)


def test_a_translation_without_end_is_kept_and_ranks_after_those_that_end() -> None:
    # At the limit the end is 3 of 1000: a beam of two does not choose it, a beam of three does.
    class Late(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            return logs([0, 0, 0, 0.003, 0.99, 0.007] if len(written) == 3 else [0, 0, 0, 0, 1, 0])

    for beam_size, ends in ((1, False), (2, False), (3, True)):
        (found,) = search(Late(max_length=4), sentences(1), config(beam_size=beam_size))
        assert [(each.ids, each.finished) for each in found] == [((A, A, A), ends)]
        assert found[0].log_prob == pytest.approx(math.log(0.003) if ends else 0, abs=1e-6)

    # "B" ends at once, improbably; the others never.
    class Never(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            return logs([0, 0, 0, 1, 0, 0] if written[:1] == (B,) else [0, 0, 0, 0, 0.98, 0.02])

    (found,) = search(Never(max_length=4), sentences(1), config(beam_size=2, n_best=2))
    assert [(each.ids, each.finished) for each in found] == [((B,), True), ((A, A, A), False)]


# --- less room -------------------------------------------------------------------------------------------------------

ROOMY: list[dict[str, object]] = [
    {"beam_size": 1},
    {"beam_size": 2},
    {"beam_size": 5, "n_best": 3},
    {"sample": True},
    {"sample": True, "n_best": 3, "top_k": 3},
]


@dataclass
class RamblingScorer(TableScorer):
    """Random probabilities that seldom end."""

    def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
        row = super().log_probs(source, written)
        row[EOS_ID] -= 5
        return row


@settings(max_examples=60)
@given(
    scorer=st.sampled_from([TableScorer, RamblingScorer]),
    seed=st.integers(0, 10_000),
    method=st.sampled_from(ROOMY),
    length_penalty=st.sampled_from([0.0, 0.6, 3.0]),
    min_length=st.integers(0, 3),
    no_repeat_ngram=st.integers(0, 3),
    prefix=st.lists(st.sampled_from([UNK_ID, A, B]), max_size=3),
)
def test_less_room_gives_the_beginning_of_what_more_gives(
    scorer: type[TableScorer], seed: int, method: dict[str, object], prefix: list[int], **options: float
) -> None:
    def found(max_length: int | None) -> list[Hypothesis]:
        room = {} if max_length is None else {"max_length": max_length}
        model = scorer(seed, vocab_size=7, max_length=14)
        return search(model, sentences(3), config(**method, **options, **room), prefixes=[prefix])[0]

    whole = found(None)
    least = max(len(prefix), int(options["min_length"])) + 1
    for n in range(least, 20):
        some = found(n)
        assert some[0].ids == whole[0].ids[: n - 1]
        if method.get("sample"):
            assert [each.ids for each in some] == [each.ids[: n - 1] for each in whole]
        else:
            assert_same(some, cut(whole, n, options["length_penalty"]))
        for each in some:
            assert each.finished == (len(each.token_log_probs) == len(each.ids) + 1)
            assert each.log_prob == pytest.approx(sum(each.token_log_probs), abs=1e-4)


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), method=st.sampled_from(ROOMY), alpha=st.sampled_from([0.0, 0.6, 3.0]))
def test_more_room_than_usual_never_gives_less(seed: int, method: dict[str, object], alpha: float) -> None:
    def found(max_length: int) -> Hypothesis:
        options = config(**method, length_penalty=alpha, max_length=max_length)
        return search(RamblingScorer(seed, max_length=70), sentences(2), options)[0][0]

    usual = 2 * 3 // 2 + 50
    best = [found(max_length) for max_length in range(usual - 2, usual + 9)]
    for less, more in itertools.pairwise(best):
        assert more == less or len(more.ids) > len(less.ids)
        assert more.finished or not less.finished or len(less.ids) + 1 < usual


@pytest.mark.parametrize("method", [ROOMY[0], ROOMY[1], ROOMY[3]])
def test_a_search_stops_when_the_cut_translation_is_decided(method: dict[str, object]) -> None:
    class Straight(TableScorer):
        """Begins with three A, then branches, and does not end."""

        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            begins = len(written) < 3 and set(written) <= {A}
            return logs([0, 0, 0, 0, 0.98, 0.02] if begins else [0, 0, 0, 0, 0.7, 0.3])

    n_steps = []
    for max_length in (2, 4, 60):
        scorer = Straight(max_length=60)
        search(scorer, sentences(1), config(**method, max_length=max_length))
        n_steps.append(len(scorer.rows))
    assert n_steps == [2, 4, 60]


# --- faults ----------------------------------------------------------------------------------------------------------


@dataclass
class LoopScorer(TableScorer):
    """Writes "A" again and again; each further one is the more probable, and so are loops."""

    end: float = 0.3

    def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
        end = self.end / (1 + len(written))
        return logs([0, 0, 0, end, 1 - end, 0])


@given(end=st.floats(0.05, 0.9), alpha=st.sampled_from([0.0, 0.6, 2.0]), n_best=st.integers(1, 5))
def test_a_beam_prefers_finished_translations_without_a_fault(end: float, alpha: float, n_best: int) -> None:
    scorer = LoopScorer(max_length=30, end=end)
    options = config(beam_size=30, length_penalty=alpha, n_best=n_best)
    every = list(Oracle(scorer, (10, EOS_ID), options).every())
    assert {len(each.ids) for each in every} == set(range(30))
    clean = [each for each in every if 0 < len(each.ids) < 10]
    faulty = [each for each in every if not 0 < len(each.ids) < 10]
    (found,) = search(scorer, sentences(1), options)
    assert_same(found, [*best_first(clean), *best_first(faulty)][:n_best])
    assert [bool(each.faults) for each in found] == [not 0 < len(each.ids) < 10 for each in found]


def test_faults_change_nothing_where_a_person_has_chosen() -> None:
    source_ids = sentences(1)

    def best(**options: object) -> Hypothesis:
        prefix = options.pop("prefix", [])
        scorer = LoopScorer(max_length=30, end=0.05)
        return search(scorer, source_ids, config(length_penalty=2.0, **options), prefixes=[prefix])[0][0]

    assert len(best(beam_size=30).ids) < 10
    # by their scores alone: with other means against loops, in greedy search, and in sampling
    for options in ({"beam_size": 30, "no_repeat_ngram": 29}, {"beam_size": 1}, {"sample": True, "n_best": 20}):
        found = best(**options)
        assert len(found.ids) >= 10, options
        assert "repetition" in found.faults
    # what was asked for is no fault, and neither is a little more of it
    asked = best(beam_size=30, prefix=[A] * 15)
    assert asked.ids[:15] == (A,) * 15
    assert asked.faults == ()
    (found,) = search(LoopScorer(), sentences(1), config(beam_size=30, n_best=30), prefixes=[[A] * 12])
    assert {len(each.ids) for each in found if not each.faults} >= {12, 13, 14}


def test_the_search_goes_on_for_one_without_a_fault_and_no_longer() -> None:
    class LateCure(TableScorer):
        """A probable loop of 12 tokens, and an improbable translation of 25 different ones."""

        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            row = np.zeros(self.vocab_size)
            if not written:
                row[[A, B]] = 0.9, 0.1
            elif written[0] == A:
                row[A if len(written) < 12 else EOS_ID] = 1
            else:
                row[B + len(written) if len(written) < 25 else EOS_ID] = 1
            return logs(row.tolist())

    for options, ids, n_steps in (({}, tuple(range(B, B + 25)), 26), ({"no_repeat_ngram": 30}, (A,) * 12, 13)):
        scorer = LateCure(vocab_size=40, max_length=50)
        (found,) = search(scorer, sentences(3), config(beam_size=3, **options))
        assert (found[0].ids, len(scorer.rows)) == (ids, n_steps)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), beam_size=st.integers(2, 5), alpha=st.sampled_from([0.0, 0.6, 2.0]))
def test_without_faults_the_search_is_the_same_step_by_step(seed: int, beam_size: int, alpha: float) -> None:
    def searched(**options: object) -> tuple[list[list[Hypothesis]], list[int]]:
        scorer = TableScorer(seed, vocab_size=9, max_length=30)
        method = {"beam_size": beam_size, "length_penalty": alpha, **options}
        return search(scorer, sentences(3, 1), config(**method)), scorer.rows

    plain = {"no_repeat_ngram": 30}  # forbids nothing, and faults do not count
    everything, _ = searched(**plain, n_best=beam_size)
    if not any(each.faults for hypotheses in everything for each in hypotheses):
        assert searched() == searched(**plain)


@pytest.mark.parametrize("method", ROOMY)
def test_an_endless_translation_is_flagged_and_a_cut_one_is_not(method: dict[str, object]) -> None:
    endless = RowScorer(row=[0, 0, 0, 0, 0.5, 0.5], max_length=70)
    for max_length, faults in ((None, ("length",)), (5, ()), (60, ("length",))):
        room = {} if max_length is None else {"max_length": max_length}
        for each in search(endless, sentences(1, 100), config(**method, **room))[0]:
            assert set(faults) <= set(each.faults), max_length
            assert max_length != 5 or not each.faults


# --- scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [3, 50, 99, 250, 1000, 1037])
@pytest.mark.parametrize("k", [1, 3])
def test_the_highest_are_those_of_pytorch(n_columns: int, k: int) -> None:
    scores = torch.randn(140, n_columns)
    scores[:20] = scores[:20].round()  # ties: their values are the same, wherever they are
    scores[0], scores[1, n_columns // 2 :], scores[2, -1] = float("-inf"), float("-inf"), float("nan")
    values, columns = map(torch.from_numpy, ArrayScores(scores.numpy()).top_k(k))
    expected, places = scores.topk(k, dim=-1)
    assert torch.equal(values.nan_to_num(99), expected.nan_to_num(99))
    assert torch.equal(scores.gather(1, columns).nan_to_num(99), values.nan_to_num(99))
    assert all(len(set(row)) == k for row in columns.tolist())
    assert torch.equal(columns[20:], places[20:])


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_that_are_not_numbers_are_refused(method: dict[str, object]) -> None:
    with pytest.raises(DragomanError, match="NaN"):
        search(RowScorer(row=[0.1, 0.2, 0.1, 0.2, math.nan, 0.4]), sentences(1, 2), config(**method))

    class OnlyAtFirst(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            is_bad = not written and len(source) > 2
            return logs([0, 0, 0, 0, math.nan, 1] if is_bad else [0, 0, 0, 0.1 + 0.2 * len(written), 0.1, 0.6])

    assert search(OnlyAtFirst(), sentences(1, 1), config(**method))
    with pytest.raises(DragomanError, match="NaN"):
        search(OnlyAtFirst(), sentences(1, 3, 1), config(**method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_steps", [0, 1, 5])
def test_a_search_stops_before_the_step_at_which_it_is_told_to(method: dict[str, object], n_steps: int) -> None:
    scorer = RowScorer(row=[0, 0, 0, 0, 0.5, 0.5])
    with pytest.raises(StoppedError, match="stopped before it was done"):
        search(scorer, sentences(3, 1), config(**method), should_stop=lambda: len(scorer.rows) == n_steps)
    assert len(scorer.rows) == n_steps
    never = search(scorer, sentences(3, 1), config(**method), should_stop=lambda: False)
    assert never == search(scorer, sentences(3, 1), config(**method))


def test_no_sentences() -> None:
    assert search(TableScorer(), np.zeros((0, 3), dtype=np.int64), config()) == []


# --- sampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {(UNK_ID,): 0.1, (): 0.2, (A,): 0.3, (B,): 0.4}),
        ({"temperature": 0.5}, {(UNK_ID,): 0.01 / 0.3, (): 0.04 / 0.3, (A,): 0.09 / 0.3, (B,): 0.16 / 0.3}),
        ({"top_k": 2}, {(A,): 3 / 7, (B,): 4 / 7}),
        ({"top_p": 0.75}, {(): 2 / 9, (A,): 3 / 9, (B,): 4 / 9}),
        ({"top_p": 0.69}, {(A,): 3 / 7, (B,): 4 / 7}),
        ({"top_k": 3, "top_p": 0.4, "temperature": 1.0}, {(B,): 1.0}),
        ({"top_p": 0.001}, {(B,): 1.0}),
    ],
)
def test_samples_follow_the_distribution(options: dict[str, object], expected: dict[tuple[int, ...], float]) -> None:
    class OneToken(TableScorer):
        def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
            return logs([0, 0, 0, 1, 0, 0] if written else row)

    n, row = 1000, [0.0, 0.1, 0.0, 0.2, 0.3, 0.4]
    found = search(OneToken(), sentences(*range(1, 11)), config(sample=True, n_best=n, **options))
    counts = Counter(each.ids for hypotheses in found for each in hypotheses)
    assert counts.keys() == expected.keys()
    deviation = sum((counts[ids] - 10 * n * p) ** 2 / (10 * n * p) for ids, p in expected.items())
    assert deviation < len(expected) - 1 + 5 * math.sqrt(2 * len(expected))  # chi-square, five standard deviations
    for each in found[0]:
        assert each.log_prob == pytest.approx(math.log(row[each.ids[0] if each.ids else EOS_ID]), abs=1e-6)


def test_steps_of_a_sample_are_independent() -> None:
    scorer = RowScorer(row=[0.0, 0.25, 0.0, 1e-9, 0.25, 0.5])
    found = search(scorer, sentences(1), config(sample=True, n_best=1000, max_length=3))[0]
    counts = Counter(each.ids for each in found)
    for (first, p), (second, q) in itertools.product({UNK_ID: 0.25, A: 0.25, B: 0.5}.items(), repeat=2):
        assert counts[first, second] == pytest.approx(1000 * p * q, abs=5 * math.sqrt(1000 * p * q))


@pytest.mark.parametrize("options", [{"temperature": 1e-4}, {"temperature": 1e-300}, {"top_k": 1}, {"top_p": 1e-6}])
@pytest.mark.parametrize("seed", range(3))
def test_the_limits_of_sampling_are_greedy(options: dict[str, object], seed: int) -> None:
    greedy = search(TableScorer(seed), sentences(1, 2, 3), config(beam_size=1))
    for one, other in zip(
        search(TableScorer(seed), sentences(1, 2, 3), config(sample=True, **options)), greedy, strict=True
    ):
        assert_same(one, other)


@pytest.mark.parametrize("options", [{}, {"top_k": 5}, {"top_p": 0.8}])
def test_the_ends_of_the_noise_draw_what_is_possible(options: dict[str, object]) -> None:
    scores = ArrayScores(np.stack([logs(row) for row in ([0, 0.6, 0.4, 0], [0.7, 0, 0.3, 0], [0, 0, 1.0, 0])]))
    lowest, highest = np.zeros(3, dtype=np.float32), np.nextafter(np.ones(3, dtype=np.float32), np.float32(0))
    assert draw(scores, lowest, config(sample=True, **options))[1].tolist() == [1, 0, 2]
    assert draw(scores, highest, config(sample=True, **options))[1].tolist() == [2, 2, 2]


@pytest.mark.parametrize("options", [{}, {"top_k": 1000}, {"top_p": 0.95}])
def test_rounding_hardly_ever_changes_a_draw(options: dict[str, object]) -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(0, 2, (300, 3000)).astype(np.float32)
    rounded = values + generator.uniform(-1e-6, 1e-6, values.shape).astype(np.float32)
    noise = generator.random(300, dtype=np.float32)
    settings = config(sample=True, temperature=2.0, **options)
    one, other = (draw(ArrayScores(each), noise, settings)[1] for each in (values, rounded))
    assert (one != other).sum() <= 3


def test_seed_and_number_of_samples() -> None:
    def samples(seed: int, n_best: int) -> list[Hypothesis]:
        return search(TableScorer(1), sentences(5), config(sample=True, seed=seed, n_best=n_best))[0]

    assert samples(1, 20) == samples(1, 20) != samples(2, 20)
    assert set(samples(1, 5)) <= set(samples(1, 20))


def test_probabilities_are_added_as_logarithms() -> None:
    numbers = np.array([0, -1, -60, -200, -1e4, -np.inf], dtype=np.float32)
    ones, others = (each.reshape(-1).copy() for each in np.meshgrid(numbers, numbers))
    expected = np.logaddexp(ones.astype(np.float64), others)
    add_probabilities(ones, others)
    np.testing.assert_allclose(ones, expected, rtol=1e-6, atol=1e-6)
    not_a_number = np.array([np.nan, 0], dtype=np.float32)
    add_probabilities(not_a_number, not_a_number[::-1].copy())
    assert np.isnan(not_a_number).all()
