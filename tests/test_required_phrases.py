"""Phrases that a translation must have, against all translations of small tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scorers import EOS_ID, WIDE, Oracle, TableScorer, assert_same, config, ranked, sentences

from dragoman.decoding.constraints.required import Phrase, RequiredPhrases
from dragoman.decoding.search import search
from dragoman.text.surfaces import Surfaces

#: Two words and a letter, so that a phrase can be spelled in several ways and can be spoilt by what follows it.
SURFACES = Surfaces(["", "", "", "", " a", "b"])
#: The same, and more words that may be written between them.
MORE = Surfaces([*SURFACES.texts, " c", "抗", "体"])
LENGTHS = (1, 2, 3)


@dataclass(frozen=True)
class RequiresPhrase:
    """The rule for one sentence, from its definition: a phrase of each demand stands in the text as words.

    Equal demands need as many phrases that do not overlap.
    """

    demands: Sequence[Sequence[Phrase]]
    surfaces: Surfaces

    def forbids(self, ids: tuple[int, ...], token: int) -> bool:
        return False

    def may_end(self, ids: tuple[int, ...]) -> bool:
        text = "".join(self.surfaces.texts[id] for id in ids)
        counts = Counter(map(tuple, self.demands))
        return all(
            self.has(count, [place for one in demand for place in self.places(one, text)])
            for demand, count in counts.items()
        )

    def has(self, count: int, places: Sequence[tuple[int, int]]) -> bool:
        return any(
            all(one[1] <= other[0] for one, other in pairwise(sorted(chosen))) for chosen in combinations(places, count)
        )

    def places(self, phrase: Phrase, text: str) -> Iterator[tuple[int, int]]:
        words = "".join(phrase.pieces)
        starts = [start for start in range(len(text)) if text.startswith(words, start)]
        for start, end in ((start, start + len(words)) for start in starts):
            is_begun_well = not (is_letter(words[0]) and is_letter(text[:start][-1:]))
            is_ended_well = phrase.goes_on or not (is_letter(words[-1]) and is_letter(text[end:][:1]))
            if is_begun_well and is_ended_well:
                yield start, end


def is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def phrase(*pieces: str, goes_on: bool = False) -> Phrase:
    return Phrase(pieces, goes_on)


PHRASES = st.sampled_from(
    [
        phrase("a"),
        phrase("a", "b"),
        phrase("a", " a"),
        phrase("b"),
        phrase("a", "b", " a"),
        phrase("a", goes_on=True),
        phrase("a", " a", goes_on=True),
        phrase("a", "b", goes_on=True),
    ]
)
DEMANDS = st.lists(
    st.lists(st.lists(PHRASES, min_size=1, max_size=2), max_size=2), min_size=len(LENGTHS), max_size=len(LENGTHS)
)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10_000),
    model_limit=st.integers(2, 5),
    demands=DEMANDS,
    prefixes=st.lists(st.lists(st.sampled_from([1, 4, 5]), max_size=1), min_size=3, max_size=3),
    n_best=st.integers(1, 12),
    length_penalty=st.just(0.0),  # with another, the search ends before it is certain that nothing better comes
)
def test_a_wide_beam_finds_the_best_translations_that_have_the_phrases(
    seed: int, model_limit: int, demands: list[list[list[Phrase]]], prefixes: list[list[int]], **options: float
) -> None:
    scorer, search_config = TableScorer(seed, max_length=model_limit), config(beam_size=WIDE, **options)
    rules = [RequiredPhrases(demands, SURFACES)]
    beams = search(scorer, sentences(*LENGTHS), search_config, prefixes=prefixes, constraints=rules)
    for length, prefix, demand, beam in zip(LENGTHS, prefixes, demands, beams, strict=True):
        source = (*range(10, 10 + length), EOS_ID)
        oracle = Oracle(scorer, source, search_config, tuple(prefix), [RequiresPhrase(demand, SURFACES)])
        assert_same(beam, ranked(oracle.every(), search_config)[: search_config.n_best])


CHINESE = st.sampled_from([phrase("抗", "体"), phrase("c", "抗"), phrase("c"), phrase("a", "b", " c")])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    demands=st.lists(st.lists(st.lists(PHRASES | CHINESE, min_size=1, max_size=2), max_size=2), min_size=3, max_size=3),
    beam_size=st.integers(6, 9),
)
def test_a_narrow_beam_finds_translations_with_phrases_that_the_model_would_not_write(
    seed: int, demands: list[list[list[Phrase]]], beam_size: int
) -> None:
    scorer = TableScorer(seed, vocab_size=9, max_length=60, peaked=5.0)
    beams = search(
        scorer, sentences(*LENGTHS), config(beam_size=beam_size), constraints=[RequiredPhrases(demands, MORE)]
    )
    for demand, beam in zip(demands, beams, strict=True):
        assert beam[0].finished
        assert RequiresPhrase(demand, MORE).may_end(beam[0].ids)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), beam_size=st.integers(2, 6))
def test_no_mark_ends_one_sentence_before_it_has_its_phrases(seed: int, beam_size: int) -> None:
    surfaces = Surfaces(["", "", "", "", "a", ".", " b", "a."])
    rules = [RequiredPhrases([[[phrase("b")]]] * 3, surfaces, [True, True, False])]
    scorer = TableScorer(seed, vocab_size=8, max_length=20, peaked=5.0)
    beams = search(scorer, sentences(*LENGTHS), config(beam_size=beam_size, n_best=beam_size), constraints=rules)
    for beam in beams[:2]:
        for found in beam:
            tokens = list(found.ids)
            assert 5 not in tokens or 6 in tokens[: tokens.index(5)]


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), demands=DEMANDS, beam_size=st.integers(2, 6), n_best=st.integers(1, 2))
def test_a_sentence_without_demands_is_translated_as_ever(
    seed: int, demands: list[list[list[Phrase]]], beam_size: int, n_best: int
) -> None:
    scorer, options = TableScorer(seed, vocab_size=9, max_length=30), config(beam_size=beam_size, n_best=n_best)
    rules = [RequiredPhrases([[], demands[1], []], MORE)]
    with_demands = search(scorer, sentences(*LENGTHS), options, constraints=rules)
    without = search(scorer, sentences(*LENGTHS), options)
    assert_same(with_demands[0], without[0])
    assert_same(with_demands[2], without[2])


def test_every_way_to_write_a_phrase_is_tried() -> None:
    surfaces = Surfaces(["", " Ver", "trag", "trags", "Ver", " ", "(", " x", "tragen", "抗"])
    vertrag = Phrase(("Ver", "trag"), goes_on=True)
    assert vertrag.first_tokens("", surfaces) == vertrag.first_tokens(" x", surfaces) == [1]
    assert vertrag.first_tokens(" (", surfaces) == [1, 4]
    assert vertrag.next_tokens(1, surfaces) == [2, 3, 8]
    assert Phrase(("Ver", "trag")).next_tokens(1, surfaces) == [2]
    assert Phrase(("抗",)).first_tokens(" x", surfaces) == [9]
    assert Phrase(("trag",)).first_tokens(" x", surfaces) == [5]
    assert vertrag.all_tokens(surfaces) == {1, 2, 3, 4, 8}
    assert (vertrag.n_begun(" x Ver"), vertrag.n_begun(" (Ver"), vertrag.n_begun(" xVer")) == (1, 1, 0)


@given(st.lists(st.text("ab ", min_size=1, max_size=3), min_size=1, max_size=6), st.text("ab (", max_size=12))
def test_a_text_ends_with_the_most_pieces_that_fit(pieces: list[str], text: str) -> None:
    def fits(beginning: str) -> bool:
        before = text.removesuffix(beginning)[-1:]
        return text.endswith(beginning) and not (is_letter(pieces[0][0]) and is_letter(before))

    fitting = [n for n in range(1, len(pieces)) if fits("".join(pieces[:n]))]
    assert Phrase(tuple(pieces)).n_begun(text) == max(fitting, default=0)


@pytest.mark.parametrize("tokens", [[], [4, 5], [5, 5, 5]])
def test_progress_is_that_of_the_text(tokens: list[int]) -> None:
    from dragoman.decoding.constraints import Guide, Rows

    nothing = np.zeros((1, 0), dtype=np.int64)
    state = RequiredPhrases([[[phrase("a", "b", " a")]]], SURFACES).start(Rows(np.array([0]), nothing))
    assert isinstance(state, Guide)
    for token in tokens:
        state.advance(np.array([0]), np.array([token]))
    begun = 2 if tokens == [4, 5] else 0
    assert state.progress(np.array([0, 0]), np.array([4, EOS_ID])).tolist() == [begun + 1, begun]
