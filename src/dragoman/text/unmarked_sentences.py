"""Sentences of languages that write no marks between them, found by packages of the extra `sentences`.

Thai writes a space between sentences, and between parts of one, too. PyThaiNLP guesses which space is which.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec

from dragoman.errors import install_advice
from dragoman.text.languages import base_language, english_name

#: The modules that each language needs.
_MODULES = {"th": ("pythainlp", "pycrfsuite")}
#: The most characters that a splitter reads at once, so that its time and RAM grow no faster than the text.
AT_ONCE = 2_000

_log = logging.getLogger(__name__)


def has_splitter(language: str) -> bool:
    """Return True if an extra can find the sentences of a language, installed or not."""
    return base_language(language) in _MODULES


def unmarked_spans(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each sentence between two places of a text; one sentence without the extra.

    Each sentence ends at white space, and has more than white space.

    Args:
        language: one that has a splitter.
    """
    split = splitter(base_language(language))
    first = start
    while split is not None and start < end:
        stop = min(start + AT_ONCE, end)
        *pieces, rest = _pieces(text[start:stop], split)
        for piece in pieces:
            start += len(piece)
            if _ends_sentence(piece, text[start : start + 1]):
                yield _stripped(text, first, start)
                first = start
        if stop == end or len(rest) > AT_ONCE // 2:  # a shorter one is read again, with what follows
            start += len(rest)
    if text[first:end].strip():
        yield _stripped(text, first, end)


@cache
def splitter(language: str) -> Callable[[str], list[str]] | None:
    """Return the function that cuts a text into sentences; None, with a line in the log, without the extra."""
    if any(find_spec(module) is None for module in _MODULES[language]):
        advice = install_advice("sentences", "to cut them, install an extra")
        _log.warning("long texts in %s are not cut between sentences; %s", english_name(language), advice)
        return None
    if "PYTHAINLP_READ_MODE" not in os.environ:  # the old name; both together are an error
        os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # else the import makes a folder in the home folder
    from pythainlp.tokenize import sent_tokenize

    return lambda text: list(sent_tokenize(text, engine="crfcut"))


def _pieces(text: str, split: Callable[[str], list[str]]) -> list[str]:
    """Return the pieces of a text that a splitter finds; the whole text if they are not all of it."""
    pieces = split(text)
    return pieces if pieces and "".join(pieces) == text else [text]


def _ends_sentence(piece: str, after: str) -> bool:
    """Return True if a sentence may end with a piece: at white space, and not after the point of an abbreviation."""
    words = piece.rstrip()
    return bool(words) and not words.endswith(".") and (words != piece or after.isspace())


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a part of a text without the white space around it."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
