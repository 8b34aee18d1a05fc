"""Titles before names, with the forms of other languages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.known_names import name_groups
from dragoman.text.titles import find_titles


@pytest.mark.parametrize(
    ("languages", "text", "expected"),
    [
        ("en-de", "Mr. Green's dog bit Mrs Ann Gray.", ["Herr Green", "Frau Ann Gray"]),
        ("en-fr", "Mr. Jones and Ms. Lee met Miss O'Connor in Rome.", ["M. Jones", "Mme Lee", "Mme O'Connor"]),
        ("en-zh", "Mr. and Mrs. Smith are here.", ["Smith夫妇"]),
        ("en-de", "Dear Mr. President, Miss Universe and Mr. X, mr. y, Mr. NASA.", ["Herr X"]),
        ("de-en", "Ich habe Herrn Müller und Frau Meier Blumen gegeben.", ["Mr. Müller", "Mrs. Meier"]),
        ("de-fr", "Sehr geehrte Frau Meier, jede Frau Angst hat. Die Frau Mut.", ["Mme Meier"]),
        ("de-en", "Herr und Frau Braun, Herr Präsident, Frau Dr. Grün.", ["Mr. and Mrs. Braun"]),
        (
            "fr-de",
            "Avec M. Lebrun, madame Le Gall et M. et Mme Roux.",
            ["Herr Lebrun", "Frau Le Gall", "Herr und Frau Roux"],
        ),
        ("zh-en", "王先生 Mr. Green", []),
        ("en-ru", "Mr. Green", []),
    ],
)
def test_titles_have_the_forms_of_the_other_language(languages: str, text: str, expected: list[str]) -> None:
    source, target = languages.split("-")
    assert [name.forms[0] for name in find_titles(text, (source, target))] == expected


def test_a_name_with_its_title_is_one_name() -> None:
    groups = name_groups("Mrs. Ann Gray has met Tom in Hungary.", ("en", "de"))
    assert sorted(word[:2] for group in groups for word in group) == [(0, 13), (22, 25), (29, 36)]


@given(st.lists(st.sampled_from(["Mr.", "Mrs", "Frau", "M.", "Ann", "X", "Le", "and", "'s", " "])).map(" ".join))
def test_titles_do_not_overlap(text: str) -> None:
    for languages in (("en", "de"), ("de", "fr"), ("fr", "zh")):
        names = list(find_titles(text, languages))
        assert all(first.end <= second.start for first, second in pairwise(names))
        assert all(text[name.start : name.end].strip() == text[name.start : name.end] for name in names)
