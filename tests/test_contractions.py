"""Contractions without their apostrophe."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from dragoman.data.perturbations import PERTURBATIONS
from dragoman.text.contractions import CONTRACTIONS, with_apostrophes
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.translator import Translator

WORDS = [*CONTRACTIONS["en"], *CONTRACTIONS["fr"], "{im}", "`dont`", "https://im.example/cant", "Dont", "DONT", "its"]


@pytest.mark.parametrize("language", CONTRACTIONS)
def test_each_form_gets_its_apostrophe_back(language: str) -> None:
    for form in CONTRACTIONS[language].values():
        typed = PERTURBATIONS["apostrophes"](form, default_rng(0))
        assert typed != form
        assert with_apostrophes(typed, language) == form
        assert with_apostrophes(form, language) == form
        assert with_apostrophes(typed.capitalize(), f"{language}-XX") == form[0].upper() + form[1:]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5)), st.sampled_from(["en", "fr", "de", "und"]))
def test_only_apostrophes_are_added_and_none_to_addresses(words: list[str], language: str) -> None:
    text = " ".join(words)
    changed = with_apostrophes(text, language)
    assert changed.replace("'", "").lower() == text.replace("'", "").lower()
    assert changed == text or language in CONTRACTIONS
    spans = [text[span.start : span.end] for span in find_spans(text) if span.kind in VERBATIM]
    assert spans == [changed[span.start : span.end] for span in find_spans(changed) if span.kind in VERBATIM]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Send it by IM, DONT wait, Im here", "Send it by IM, DONT wait, I'm here"),
        ("Jony Ive left. Ive seen it. Hi Im Tom", "Jony Ive left. I've seen it. Hi I'm Tom"),
        ("I Dont know", "I Don't know"),
    ],
)
def test_names_and_words_in_capitals_stay(typed: str, read: str) -> None:
    assert with_apostrophes(typed, "en") == read


@pytest.mark.parametrize(("folder", "language"), [("tatoeba-en-de", "en"), ("tatoeba-en-fr", "fr"), ("multi30k", "en")])
def test_edited_text_is_hardly_changed(data_folder: Path, folder: str, language: str) -> None:
    with gzip.open(data_folder / folder / f"val.{language}.gz", "rt", encoding="utf-8") as file:
        changed = [line for line in file if with_apostrophes(line, language) != line]
    assert len(changed) <= 1


@pytest.fixture(scope="module")
def everyday() -> Translator:
    return Translator.load("everyday")


@pytest.mark.parametrize("target", ["de", "fr", "zh"])
@pytest.mark.parametrize(
    ("typed", "edited"), [("i cant find my keys", "i can't find my keys"), ("Im tired", "I'm tired")]
)
def test_a_translator_reads_both_alike(everyday: Translator, typed: str, edited: str, target: str) -> None:
    first, second = everyday.translate([typed, edited], source_lang="en", target_lang=target, align=True)
    assert first.text == second.text
    assert first.alignment == second.alignment
    shouted = everyday.translate(typed.upper(), source_lang="en", target_lang=target)
    assert shouted.text.lower() == everyday.translate(edited, source_lang="en", target_lang=target).text.lower()
