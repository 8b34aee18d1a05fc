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
        "Apt. 4, Bldg. 3, Rm. 12 and Ext. 45.",
        "Open Mon. 9-5, rent incl. VAT.",
        "We live in St. Paul and she at 5 St. Mary's Rd. London.",
        "Il habite av. Foch.",
        "Fam. Müller, mind. 3 Nächte in der Whg. Nr. 5.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert list(sentences(text)) == [text]


@pytest.mark.parametrize("street", ["St", "Ave", "Blvd", "Rd"])
def test_a_street_may_end_a_sentence(street: str) -> None:
    first, second = f"We live at 12 Baker {street}.", "The rent is high."
    assert list(sentences(f"{first} {second}")) == [first, second]
