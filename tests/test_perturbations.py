"""Changes of a text: each does what its name says, to nothing else, the same for whoever asks again."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import PAIRS, tiny_bundle, tiny_tokenizers

from dragoman.cli.metric_tables import perturbation_table
from dragoman.data.perturbations import PERTURBATIONS
from dragoman.data.perturbations.final_marks import final_mark, split_final_marks
from dragoman.data.perturbations.letter_case import shout_word
from dragoman.data.perturbations.typos import mistype
from dragoman.errors import ConfigError
from dragoman.evaluation.evaluation import evaluate
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.evaluation.perturbed import evaluate_perturbed, known_perturbations, perturb
from dragoman.translator import Translator

SEEDS = range(40)
ENGLISH, GERMAN, FRENCH, CHINESE = (
    "Tom's friends aren't here - are they?",
    "Wir haben „Glück“ gehabt, Groß-Berlin.",
    "« Ça va ? » demanda-t-il.",
    "汤姆今天不想去学校。",
)
names = st.sampled_from(sorted(PERTURBATIONS))


def all_of(name: str, text: str) -> set[str]:
    return {PERTURBATIONS[name](text, np.random.default_rng(seed)) for seed in SEEDS}


@given(names, st.text(max_size=60), st.integers(0, 2**32))
def test_a_change_is_a_function_of_name_text_and_seed(name: str, text: str, seed: int) -> None:
    assert perturb(name, [text, "x y", text], seed)[2] == perturb(name, [text], seed)[0]


@given(st.text(alphabet=" \t.!?。…ab", max_size=12))
def test_final_marks_are_all_marks_after_the_last_of_other_characters(text: str) -> None:
    before, marks = split_final_marks(text)
    assert before + marks == text
    assert bool(marks) == bool(re.search(r"[.!?。…]\s*\Z", text))
    assert not marks or (before == before.rstrip() and not final_mark(before + "a"))
    assert not marks or re.fullmatch(r"\s*[.!?。…]+\s*", marks)


def test_a_row_of_marks_inside_a_text_takes_no_time() -> None:
    text = "." * 300_000 + "a"  # minutes, if the time grew with the square of the length
    assert perturb("no-mark", [text]) == [text]


def test_another_seed_changes_other_letters() -> None:
    assert len({perturb("typos", [ENGLISH], seed)[0] for seed in SEEDS}) > 5


@given(st.text(max_size=60), st.integers(0, 2**32))
def test_a_typo_swaps_two_neighbouring_letters_and_nothing_else(text: str, seed: int) -> None:
    changed = perturb("typos", [text], seed)[0]
    assert Counter(changed.lower()) == Counter(text.lower())
    places = [place for place in range(len(text)) if text[place] != changed[place]]
    if places:
        first, last = places[0], places[-1]
        assert last - first <= 1
        pair = text[first : last + 1] if last > first else text[max(0, first - 1) : first + 2]
        assert pair.isalnum()
    else:
        pairs = [one + two for one, two in pairwise(text) if one.lower() != two.lower()]
        assert not any(pair.isalpha() and pair.isascii() for pair in pairs)


def test_letters_are_swapped_within_a_script() -> None:
    assert all_of("typos", "Bo去了") == {"Ob去了", "Bo了去"}


def test_a_swapped_capital_still_begins_the_word() -> None:
    assert all_of("typos", "Da") == {"Ad"}
    assert all_of("typos", "Aß") == {"ßA"}
    assert all_of("typos", "Aµ") == {"µA"}
    assert all_of("typos", "McX") == {"CmX", "MXc"}


@pytest.mark.parametrize("text", ["", " ", ".", "...", "?!", "3", "«", "’", "\u0301"])
@pytest.mark.parametrize("name", PERTURBATIONS)
def test_texts_of_no_words_do_no_harm(name: str, text: str) -> None:
    for changed in all_of(name, text):
        assert len(changed) <= len(text) + 30
        assert changed or not text


@pytest.mark.parametrize("name", ["upper", "title", "lower"])
def test_case_changes_letters_only_and_chinese_has_none(name: str) -> None:
    for text in (ENGLISH, GERMAN, FRENCH):
        (changed,) = all_of(name, text)
        assert changed != text
        assert changed.casefold() == text.casefold()
    assert all_of(name, CHINESE) == {CHINESE}
    assert shout_word(CHINESE, np.random.default_rng(1)) == CHINESE


def test_title_case_takes_an_apostrophe_for_a_letter() -> None:
    assert all_of("title", "i don't like o’neill") == {"I Don't Like O’neill"}


@pytest.mark.parametrize(
    ("text", "without"),
    [
        (ENGLISH, "Tom's friends aren't here - are they"),
        ("Ça va ?", "Ça va"),
        ("Was?!", "Was"),
        (CHINESE, "汤姆今天不想去学校"),
        ("你好！", "你好"),
        ("He said “yes”", "He said “yes”"),
        ("...", "..."),
    ],
)
def test_final_marks_left_out(text: str, without: str) -> None:
    assert all_of("no-mark", text) == {without}


@given(st.text(max_size=60), st.integers(0, 2**32))
def test_mistyping_spares_what_it_is_told_to(text: str, seed: int) -> None:
    changed = mistype(f"{text} Rosalind", np.random.default_rng(seed), {"Rosalind"})
    assert changed.endswith(" Rosalind")
    assert abs(len(changed) - len(text) - 9) <= 1


def test_a_test_set_is_scored_clean_and_under_each_change() -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers, max_length=60)], tokenizers)
    # Without numbers: for these a search follows that depends on the languages.
    pairs = [pair for pair in PAIRS if "Two" not in pair[0]]
    sources, references = (list(side) for side in zip(*pairs, strict=True))
    clean = evaluate(translator, sources, references, beam_size=1)
    scores = evaluate_perturbed(translator, sources, references, clean, ["upper", "typos"], language="de", beam_size=1)
    assert [row.name for row in scores] == ["clean", "upper", "typos"]
    assert scores[0].changed == 0
    assert scores[1].changed == 1
    found = [each.text for each in translator.translate([source.upper() for source in sources], beam_size=1)]
    lowered, wanted = ([text.lower().rstrip(".!? ") for text in texts] for texts in (found, references))
    assert scores[1].metrics[0].score == pytest.approx(corpus_bleu(lowered, wanted, "de").score)
    assert scores[1].differences[0] == scores[1].metrics[0].score - scores[0].metrics[0].score
    assert perturbation_table(scores).row_count == 3


def test_marks_case_and_emoji_at_the_end_do_not_count() -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    clean = evaluate(translator, ["A man."], ["Ein Mann sitzt dort auf der Bank!"], beam_size=1)
    typed = clean.__class__(**{**clean.__dict__, "translations": ("EIN MANN SITZT DORT AUF DER BANK ... 👍🏽❤️",)})
    (row,) = evaluate_perturbed(translator, ["A man."], ["Ein Mann sitzt dort auf der Bank!"], typed, [], language="de")
    assert row.metrics[0].score == pytest.approx(100)


def test_names_of_changes() -> None:
    assert known_perturbations(["all"]) == list(PERTURBATIONS)
    assert known_perturbations(["typos", "upper", "typos"]) == ["typos", "upper"]
    for wrong in ("typo", "", "UPPER"):
        with pytest.raises(ConfigError, match="unknown perturbation") as caught:
            known_perturbations(["upper", wrong])
        assert "no-mark" in str(caught.value)
