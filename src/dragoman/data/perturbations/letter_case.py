"""Text in capitals, in Title Case, in small letters, or with one WORD in capitals. Scripts without case stay."""

from __future__ import annotations

import re

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick

#: The first letter of a word; "don't" is one word.
_FIRST_LETTER = re.compile(r"(?<![\w'’])[^\W\d_]")
_LONG_WORD = re.compile(r"[^\W\d_]{2,}")


def upper_case(text: str, generator: Generator) -> str:
    """Return the text in capitals."""
    return text.upper()


def lower_case(text: str, generator: Generator) -> str:
    """Return the text in small letters."""
    return text.lower()


def title_case(text: str, generator: Generator) -> str:
    """Return the text with a capital at the beginning of each word."""
    return _FIRST_LETTER.sub(lambda match: match[0].title(), text)


def shout_word(text: str, generator: Generator) -> str:
    """Return the text with one word of two letters or more in capitals."""
    words = [match for match in _LONG_WORD.finditer(text) if match[0] != match[0].upper()]
    if not words:
        return text
    word = pick(words, generator)
    return text[: word.start()] + word[0].upper() + text[word.end() :]
