"""Abbreviations with a point, read as the words that they stand for: "no. 5" as "number 5", "z. B." as "zum Beispiel".

A point inside a sentence is rare in training text, so a model reads it as the end of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from dragoman.text.abbreviation_files import readings
from dragoman.text.calendar_names import MONTHS
from dragoman.text.dates import MONTH_NUMBERS
from dragoman.text.languages import base_language
from dragoman.text.shouting import rewrite_words

#: The languages whose abbreviations are read as words.
LANGUAGES = ("en", "de", "fr")
#: Characters that stand for spans, such as the number of an invoice, while a text is read (`translator/marks.py`).
_MARKS = "\U000f0000-\U000ffffd"


def _short_months(language: str) -> dict[str, str]:
    """Return the names of months by their short forms."""
    names = {short: MONTHS[language][number - 1] for short, number in MONTH_NUMBERS[language].items()}
    return {f"{short}.": name for short, name in names.items() if short != name.lower()}


def _key(written: str) -> str:
    return "".join(written.lower().split()).removesuffix(".")


def _any_of(forms: Iterable[str]) -> str:
    """Return a pattern of abbreviations. A point at the end of the text also ends the sentence, and stays."""
    patterns = (
        re.escape(form).replace(r"\ ", r"\s?").replace(r"\-", "-") for form in sorted(forms, key=len, reverse=True)
    )
    return "|".join(re.sub(r"\\\.\Z", r"(?:\\.(?!\\Z)|(?=\\.\\Z))", each) for each in patterns)


@cache
def pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of the abbreviations of a language."""
    months = _any_of(_short_months(language))
    return re.compile(
        rf"(?<![\w.])(?:{_any_of(readings(language, 'words'))}"
        rf"|(?:{_any_of(readings(language, 'words_before_numbers'))}|{months})(?=\s?[\d{_MARKS}])"
        rf"|(?:(?<=\d\s)|(?<=\d\.\s)|(?<=\d\.))(?:{months}))(?!\w)",
        re.IGNORECASE,
    )


@cache
def words_read(language: str) -> Mapping[str, str]:
    """Return the words by the abbreviation in small letters, without spaces and without its last point."""
    forms = {**readings(language, "words"), **readings(language, "words_before_numbers"), **_short_months(language)}
    return {_key(form): words for form, words in forms.items()}


def without_abbreviations(text: str, language: str) -> str:
    """Return a text with words in place of its abbreviations, except in addresses and the like.

    Args:
        language: the code of its language; English, German and French abbreviations are known.

    >>> without_abbreviations("Is it no. 5, e.g. on Jan. 3? No.", "en")
    'Is it number 5, for example on January 3? No.'
    """
    language = base_language(language)
    if language not in LANGUAGES:
        return text
    return rewrite_words(text, lambda _, match: _words(match[0], language), pattern(language))


def _words(written: str, language: str) -> str:
    words = words_read(language)[_key(written)]
    return words[0].upper() + words[1:] if written[0].isupper() else words
