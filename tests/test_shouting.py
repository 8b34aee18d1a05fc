"""Text in capitals."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_masking import N_RESERVED, ScriptedSearch, backwards, learned, pipeline, same

from dragoman.text.shouting import calm, is_shouted, shout
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Request, Translator

pytestmark = pytest.mark.torch


def no_cost(_: str) -> int:
    return 1


@pytest.mark.parametrize(
    "text",
    [
        "PLEASE CALL ME",
        "I CAN'T FIND MY KEYS.",
        "SEND IT TO {name} BY 3PM!",
        "GO TO https://example.org/a AND WAIT",
        "DAS IST EIN GROẞES HAUS",
        "DAS IST EIN GROßES HAUS",
        "İYİ GECELER",
        "HELP!",
        "ACHTUNG",
        "ВНИМАНИЕ",
    ],
)
def test_capitals_are_shouted(text: str) -> None:
    assert is_shouted(text)


USUAL = ["", "12:30", "Please call me", "please", "PLEASE don't", "NATO", "USA", "OK", "A", "U.S.A.", "UNESCO", "你好"]
USUAL += ["我在NASA和IBM工作", "{name}", "HTTPS://EXAMPLE.ORG/AAA", "The USA and NATO", "😀"]


@pytest.mark.parametrize("text", USUAL)
def test_names_and_usual_text_are_not(text: str) -> None:
    assert not is_shouted(text)


def test_a_row_of_marks_takes_no_time() -> None:
    marks = "! " * 150_000  # minutes, if the time grew with the square of the length
    assert [is_shouted(text) for text in (f"{marks}HELP", f"HELP{marks}")] == [False, True]


@given(st.text(alphabet="aBc dÉfß ñ.,!{}x1@#'я你İıI", max_size=40))
def test_spans_and_all_but_letters_stay(text: str) -> None:
    for changed in (calm(text, "en", no_cost), shout(text, "de")):
        spans = [text[span.start : span.end] for span in find_spans(text) if span.kind in VERBATIM]
        assert all(changed.count(span) >= text.count(span) for span in spans)
        unlettered = ["".join(c for c in one if not c.isalpha() and c != "\u0307") for one in (text, changed)]
        assert unlettered[0] == unlettered[1]


@given(st.lists(st.sampled_from(["THE", "DON'T", "MÜDE", "ÉTÉ", "ДА", "A", "{name}", "3.", "OK!"]), max_size=9))
def test_capitals_come_back(words: list[str]) -> None:
    text = " ".join(words)
    assert shout(calm(text, "en", no_cost), "en") == text


def n_pieces(word: str) -> int:
    """Return the cost of a word whose small letters are one piece; "belgium" is two."""
    return 1 + sum(map(str.isupper, word)) + (word == "belgium")


def test_sentences_begin_with_a_capital_and_english_has_its_pronoun() -> None:
    assert calm("I AM HERE. WHERE AM I? I'M {NAME}!", "en", no_cost) == "I am here. Where am I? I'm {NAME}!"
    assert calm("IO E TE", "it", no_cost) == "Io e te"
    assert calm("„WO BIST DU?“", "de", no_cost) == "„Wo bist du?“"


def test_a_word_has_the_form_that_costs_least() -> None:
    cheap = {"Tom", "USA", "hat", "einen", "Hund", "der"}
    assert calm("DER TOM AUS DEN USA HAT EINEN HUND.", "de", lambda word: 1 if word in cheap else 2) == (
        "Der Tom aus den USA hat einen Hund."
    )


def test_letters_follow_their_language() -> None:
    assert calm("IŞIK VE İYİ", "tr", no_cost) == "Işık ve iyi"
    assert (shout("iyi", "tr"), shout("iyi", "de")) == ("İYİ", "IYI")
    assert shout("Die große Straße", "de") == "DIE GROẞE STRAẞE"
    assert calm("DIE GROẞE STRASSE", "de", lambda word: 2 if "ss" in word.lower() else 1) == "Die große straße"
    assert shout("Tom 在这里工作", "zh") == "Tom 在这里工作"


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return learned(0)


def test_the_model_reads_small_letters_and_the_translation_has_capitals(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, same)
    texts = ["SHE IS READING {a b}!", "Is she reading?", "NATO", "A DOG IS HERE. It is 3."]
    translations = pipeline(search).translate([Request(text, sentences=True) for text in texts])
    assert search.read == ["She is reading {a b}!", "Is she reading?", "NATO", "A dog is here.", "It is 3."]
    assert [one.text for one in translations] == texts


def test_a_given_prefix_keeps_its_case(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, lambda _: ["Sie liest ein Buch."])
    (translation,) = pipeline(search).translate([Request("SHE IS READING A BOOK.", prefix="Sie")])
    assert translation.text == "Sie liest ein Buch."


def test_what_is_written_for_a_number_is_in_capitals_too() -> None:
    """The first translation loses the time, so it is masked; an address stays as it is."""
    search = ScriptedSearch(learned(N_RESERVED), lambda text: [text if text.count("⟨") == 2 else "a ⟨1⟩"])
    request = Request("A MAN AT 5 PM {a b}", source_lang="en", target_lang="de", align=True)
    (translation,) = pipeline(search).translate([request])
    assert translation.text == "A MAN AT 17:00 {a b}"
    assert {target for _, target in translation.alignment or ()} == set(range(6))


def test_words_in_capitals_are_aligned(tokenizers: Tokenizers) -> None:
    text = "SHE IS READING A GROẞES BOOK."
    stages = pipeline(ScriptedSearch(tokenizers, backwards))
    (translation,) = stages.translate([Request(text, align=True)])
    targets = {target for _, target in translation.alignment or ()}
    assert targets == set(range(6))


@pytest.mark.captions
@pytest.mark.parametrize("name", ["multi30k-en-de", "multi30k-en-fr"])
def test_captions_in_capitals_have_the_translation_of_the_same_in_small_letters(name: str) -> None:
    translator = Translator.load(name)
    captions = ["A man is riding a horse.", "Two dogs run on the beach.", "A girl in a red dress is reading a book."]
    usual = translator.translate(captions, beam_size=1)
    capitals = translator.translate([caption.upper() for caption in captions], beam_size=1)
    assert [one.text for one in capitals] == [one.text.upper() for one in usual]


def test_hardly_any_sentence_of_a_corpus_is_shouted(data_folder: Path) -> None:
    lines = gzip.decompress((data_folder / "tatoeba-en-de" / "val.de.gz").read_bytes()).decode().split("\n")
    shouted = [line for line in lines if is_shouted(line)]
    assert len(shouted) < 0.001 * len(lines)
    assert all(is_shouted(line.upper()) for line in lines if len(line) > 20)
