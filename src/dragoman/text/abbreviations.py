"""Abbreviations with a point, read as the words that they stand for: "no. 5" as "number 5", "z. B." as "zum Beispiel".

A point inside a sentence is rare in training text, so a model reads it as the end of the sentence.
"""

from __future__ import annotations

import re

from dragoman.text.calendar_names import MONTHS
from dragoman.text.dates import MONTH_NUMBERS
from dragoman.text.languages import base_language
from dragoman.text.shouting import rewrite_words

#: What may stand anywhere.
_ANYWHERE = {
    "en": {
        "e.g.": "for example",
        "i.e.": "that is",
        "a.m.": "am",
        "p.m.": "pm",
        "approx.": "about",
        "tel.": "telephone",
        "dept.": "department",
        "blvd.": "boulevard",
    },
    "de": {
        "z. B.": "zum Beispiel",
        "d. h.": "das heißt",
        "u. a.": "unter anderem",
        "bzw.": "beziehungsweise",
        "usw.": "und so weiter",
        "ca.": "ungefähr",
        "inkl.": "inklusive",
        "evtl.": "eventuell",
        "Tel.": "Telefon",
        "Mio.": "Millionen",
        "Mrd.": "Milliarden",
    },
    "fr": {
        "p. ex.": "par exemple",
        "par ex.": "par exemple",
        "c.-à-d.": "c'est-à-dire",
        "env.": "environ",
        "tél.": "téléphone",
    },
}
#: What stands before a number.
_BEFORE_NUMBERS = {
    "en": {"no.": "number", "p.": "page", "pp.": "pages", "ch.": "chapter", "vol.": "volume", "max.": "at most"},
    "de": {"S.": "Seite", "Kap.": "Kapitel", "max.": "höchstens"},
    "fr": {"n°": "numéro", "p.": "page", "max.": "au plus"},
}


#: Characters that stand for spans, such as the number of an invoice, while a text is read (`translator/marks.py`).
_MARKS = "\U000f0000-\U000ffffd"


def _short_months(language: str) -> dict[str, str]:
    """Return the names of months by their short forms."""
    names = {short: MONTHS[language][number - 1] for short, number in MONTH_NUMBERS[language].items()}
    return {f"{short}.": name for short, name in names.items() if short != name.lower()}


def _key(written: str) -> str:
    return "".join(written.lower().split()).removesuffix(".")


def _any_of(forms: dict[str, str]) -> str:
    """Return a pattern of abbreviations. A point at the end of the text also ends the sentence, and stays."""
    patterns = (
        re.escape(form).replace(r"\ ", r"\s?").replace(r"\-", "-") for form in sorted(forms, key=len, reverse=True)
    )
    return "|".join(re.sub(r"\\\.\Z", r"(?:\\.(?!\\Z)|(?=\\.\\Z))", each) for each in patterns)


def _pattern(language: str) -> re.Pattern[str]:
    months = _any_of(_short_months(language))
    return re.compile(
        rf"(?<![\w.])(?:{_any_of(_ANYWHERE[language])}"
        rf"|(?:{_any_of(_BEFORE_NUMBERS[language])}|{months})(?=\s?[\d{_MARKS}])"
        rf"|(?:(?<=\d\s)|(?<=\d\.\s)|(?<=\d\.))(?:{months}))(?!\w)",
        re.IGNORECASE,
    )


#: The words by the abbreviation in small letters, without spaces and without its last point.
ABBREVIATIONS = {
    language: {
        _key(form): words
        for forms in (_ANYWHERE[language], _BEFORE_NUMBERS[language], _short_months(language))
        for form, words in forms.items()
    }
    for language in _ANYWHERE
}
PATTERNS = {language: _pattern(language) for language in _ANYWHERE}


def without_abbreviations(text: str, language: str) -> str:
    """Return a text with words in place of its abbreviations, except in addresses and the like.

    Args:
        language: the code of its language; English, German and French abbreviations are known.

    >>> without_abbreviations("Is it no. 5, e.g. on Jan. 3? No.", "en")
    'Is it number 5, for example on January 3? No.'
    """
    language = base_language(language)
    if language not in PATTERNS:
        return text
    return rewrite_words(text, lambda _, match: _words(match[0], language), PATTERNS[language])


def _words(written: str, language: str) -> str:
    words = ABBREVIATIONS[language][_key(written)]
    return words[0].upper() + words[1:] if written[0].isupper() else words
