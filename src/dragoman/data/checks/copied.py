"""Pairs whose target is their source, untranslated, and sides without words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.text.languages import UNSPACED
from dragoman.text.spans import EMAIL, WEB_ADDRESS

#: A word, or two characters where words are written without spaces.
_WORD = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W_{UNSPACED}]+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
#: A shorter text may be a name, or words that both languages have: "Tom Jackson.", "Taxi!".
_MIN_WORDS = 3
#: At most one word of so many may differ.
_ONE_IN = 6


def is_copied(source: str, target: str) -> bool:
    """Return True if the target is the source, apart from case, punctuation and one place of at most a word in six.

    >>> is_copied("Where is my key?", "where is my key"), is_copied("Taxi!", "Taxi!")
    (True, False)
    """
    source, target = source.lower(), target.lower()
    if source != target:
        tokens = set(source.split())
        if 3 * len(tokens.intersection(target.split())) < len(tokens):  # by far the most pairs
            return False
    words, others = ([word for word in _WORD.findall(side) if not word.isdigit()] for side in (source, target))
    longer = max(len(words), len(others))
    if longer < _MIN_WORDS:
        return False
    n_common = _n_common(words, others)
    n_common += _n_common(words[n_common:][::-1], others[n_common:][::-1])
    return n_common * _ONE_IN >= longer * (_ONE_IN - 1)


def _n_common(words: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of words before the first that differs."""
    pairs = enumerate(zip(words, others, strict=False))
    return next((index for index, (word, other) in pairs if word != other), min(len(words), len(others)))


def is_wordless(text: str) -> bool:
    """Return True if a text has neither letters nor digits outside addresses.

    >>> is_wordless("... !"), is_wordless("https://example.org/a"), is_wordless("1984"), is_wordless("是。")
    (True, True, False, False)
    """
    if "://" in text or "www." in text or "@" in text:
        text = EMAIL.sub("", WEB_ADDRESS.sub("", text))
    return not _LETTER_OR_DIGIT.search(text)
