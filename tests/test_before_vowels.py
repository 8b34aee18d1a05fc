"""Words that change before a vowel, and the masks of terms after them."""

from __future__ import annotations

import pytest

from dragoman.content.before_vowels import fitted
from dragoman.content.language import language_of


@pytest.mark.parametrize(
    ("code", "words", "next_word", "expected"),
    [
        ("fr", "Le", "appartement", ["L'"]),
        ("fr", "de", "eau", ["d'"]),
        ("fr", "que", "il", ["qu'"]),
        ("fr", "la", "Église", ["l'"]),
        ("fr", "Du", "œil", ["De l'"]),
        ("fr", "nouveau", "écran", ["nouvel "]),
        ("fr", "ma", "adresse", ["mon "]),
        ("fr", "mon", "caution", ["mon ", "ma "]),
        ("fr", "l'", "caution", ["le ", "la "]),
        ("fr", "le", "hôte", ["le ", "l'"]),
        ("fr", "le", "24", ["le "]),
        ("fr", "petit", "écran", ["petit "]),
        ("it", "lo", "amico", ["l'"]),
        ("en", "a", "invoice", ["an "]),
        ("en", "An", "bill", ["An ", "A "]),
        ("en", "a", "user", ["a ", "an "]),
        ("de", "das", "Auto", ["das "]),
    ],
)
def test_words_fit_what_follows(code: str, words: str, next_word: str, expected: list[str]) -> None:
    language = language_of(code)
    assert language is not None
    assert fitted(words, next_word, language) == expected


@pytest.mark.parametrize("code", ["en", "fr", "it"])
def test_each_word_gets_its_form_before_each_vowel_and_keeps_its_own_before_a_consonant(code: str) -> None:
    language = language_of(code)
    assert language is not None
    for word, form in language.before_vowels.items():
        for vowel in language.vowels:
            assert [each.rstrip() for each in fitted(word, f"{vowel}x", language)] == [form]
        assert f"{word} " in fitted(word, "bx", language)
        assert f"{word} " in fitted(form, "bx", language)
