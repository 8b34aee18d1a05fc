"""Abbreviations that are read as words, and the sentences around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.abbreviations import LANGUAGES, without_abbreviations, words_read
from dragoman.text.sentences import sentences


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Is it no. 5 or No. 6? No.", "Is it number 5 or Number 6? No."),
        ("en", "Come on Jan. 3, 1990, or 4 Feb. at noon.", "Come on January 3, 1990, or 4 February at noon."),
        ("en", "In Jan. we met Jan. He is no. one.", "In Jan. we met Jan. He is no. one."),
        ("en", "At 5 p.m. in front, e.g. there, or at 6 p.m.", "At 5 pm in front, for example there, or at 6 pm."),
        ("en", "invoice no. \U000f0000", "invoice number \U000f0000"),
        ("de", "Z. B. ca. 5 Mio. Euro, d.h. viel.", "Zum Beispiel ungefähr 5 Millionen Euro, das heißt viel."),
        ("de", "Hefte usw.", "Hefte und so weiter."),
        ("de", "Am 5. Dez. in Köln, S. 7.", "Am 5. Dezember in Köln, Seite 7."),
        ("fr", "Le 3 janv. 2020, par ex. n° 5, env. 3 km.", "Le 3 janvier 2020, par exemple numéro 5, environ 3 km."),
        ("en", "See http://a.b/e.g.html or `no. 5`.", "See http://a.b/e.g.html or `no. 5`."),
        ("zh", "e.g. no. 5", "e.g. no. 5"),
    ],
)
def test_abbreviations_become_words(language: str, text: str, expected: str) -> None:
    assert without_abbreviations(text, language) == expected
    assert without_abbreviations(expected, language) == expected


@given(st.text(), st.sampled_from(["en", "de", "fr", "zh", "und"]))
def test_any_other_text_stays(text: str, language: str) -> None:
    keys = [key for known in LANGUAGES for key in words_read(known)]
    if not any(key in "".join(text.lower().split()) for key in keys):
        assert without_abbreviations(text, language) == text


@pytest.mark.parametrize(
    "text",
    [
        "Né le 5 janv. 1990.",
        "Tél. : 01 23 45 67 89",
        "par ex. un chien",
        "Prenez par ex. Paul avec vous.",
        "max. 20 people",
        "Le 3 déc. 2020 à midi.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert list(sentences(text)) == [text]
