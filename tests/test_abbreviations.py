"""Abbreviations inside sentences."""

import pytest

from dragoman.text.sentences import sentences


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
