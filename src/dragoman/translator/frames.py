"""Frames around the sentences of a text, which are no part of them: marks of lists, tags, brackets and quotes.

A model reads a sentence without its frame. The frame is written as it was, with the white space that it had; only
quotation marks become those of the target language (`frame_quotes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.sentences import has_words
from dragoman.translator.marks import BREAK_MARKS, TAG_MARKS

_TAG, _BREAK = f"[{TAG_MARKS}{BREAK_MARKS}]", f"[{BREAK_MARKS}]"
#: Breaks, and tags between two sentences, with the white space around them. A small letter begins no sentence.
_BETWEEN = lazy_pattern(
    rf"(?<!\s)\s*{_BREAK}(?:\s*{_TAG})*\s*"
    rf"|(?:(?<=[.!?…。！？])|(?<=[.!?…。！？][\"'”’»)]))\s*{_TAG}(?:\s*{_TAG})*\s*(?![\s,;:.!?a-zà-öø-ÿ])"
)
_LEADING_TAGS, _TRAILING_TAGS = lazy_pattern(rf"(?:\s*{_TAG})+"), lazy_pattern(rf"(?:{_TAG}\s*)+\Z")
#: The marks of a list, a quotation, a heading or a line of dialogue, and the letter or number of an item.
_ITEM = lazy_pattern(
    r"(?:(?:[-–—*•·◦▪‣+>]|>{2,4}|\#{1,6})\s+){0,3}(?:\[[ xX]\]\s+)?"
    r"(?:\(?(?:[^\W\d_]|[ivxlcIVXLC]{2,5}|\d{1,3})\)\s+"
    r"|[A-Z]\.\s+(?=[^\W\d_]\w*\s+[^\W\d_](?<=[a-zà-öø-ÿ])))?(?=\S)"
)
#: Most layers of a frame: brackets in brackets, tags, the mark of a list. To look for one takes a pass over the text.
_MOST_LAYERS = 12
#: Quotation marks that differ from language to language, each with its partner.
QUOTES = {"“": "”", "‘": "’", "«": "»", "„": "“", "‚": "‘", "»": "«", "‹": "›"}
_BRACKETS = {"(": ")", "[": "]", "{": "}", **QUOTES}
_QUOTES = "\"'"
_LETTER = lazy_pattern(r"[^\W\d_]")
#: A text without a frame, as most are: a word before a space or a comma, no tags, and no white space at the end.
_WITHOUT_FRAME = lazy_pattern(rf"\w+[\s,][^{TAG_MARKS}{BREAK_MARKS}]*(?<!\s)\Z")


class Part(NamedTuple):
    """A part of a text, and the white space before it."""

    text: str
    gap: str = ""
    is_frame: bool = False


def parts(text: str) -> Iterator[Part]:
    """Yield the parts of a text that a model reads, and the frames around them, in their order.

    The parts with their gaps are the whole text, except white space at its end.

    Args:
        text: with marks in place of tags.
    """
    if _WITHOUT_FRAME.match(text):
        yield Part(text)
        return
    gap = ""
    for stretch, is_frame in _stretches(text):
        inner = stretch.strip()
        if not inner:
            gap += stretch
            continue
        at = stretch.index(inner)
        yield Part(inner, gap + stretch[:at], is_frame)
        gap = stretch[at + len(inner) :]


def _stretches(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the stretches of a text, and True for those that belong to a frame."""
    end = 0
    for match in _BETWEEN.finditer(text):
        yield from _framed(text[end : match.start()])
        yield match[0], True
        end = match.end()
    yield from _framed(text[end:])


def _framed(text: str) -> Iterator[tuple[str, bool]]:
    start, end = _core(text)
    if not has_words(text[start:end]):
        start, end = 0, len(text)
    yield text[:start], True
    yield text[start:end], False
    yield text[end:], True


def _core(text: str) -> tuple[int, int]:
    """Return the start and the end of what a frame leaves of a text."""
    start, end, may_be_item = 0, len(text), True
    for _ in range(_MOST_LAYERS):
        before = start, end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if match := _LEADING_TAGS.match(text, start, end):
            start = match.end()
        elif may_be_item and (match := _ITEM.match(text, start, end)) and match[0]:
            start, may_be_item = match.end(), False
        elif match := _TRAILING_TAGS.search(text, max(start, end - 200), end):
            end = match.start()
        elif is_enclosed(text[start:end]):
            start, end = start + 1, end - 1
        if (start, end) == before:
            break
    return start, end


def is_enclosed(text: str) -> bool:
    """Return True if brackets or quotes open at the beginning of a text and close at its end, and have words in them.

    >>> [is_enclosed(text) for text in ("(Yes.)", "(a) and (b)", "‘I’m here’", '"Yes," he said, "no"', "[1]")]
    [True, False, True, False, False]
    """
    if not _LETTER.search(text):
        return False
    first, last, inner = text[0], text[-1], text[1:-1]
    if first in _QUOTES and first == last:
        return first not in _without_apostrophes(inner)
    if _BRACKETS.get(first) != last or (first == "{" and inner.rstrip()[-1] not in ".!?…"):  # "{first name}"
        return False
    depth = 0
    for character in _without_apostrophes(inner):
        depth += (character == first) - (character == last)
        if depth < 0:
            return False
    return depth == 0


def _without_apostrophes(text: str) -> str:
    return re.sub(r"(?<=\w)['’](?=\w)", "", text)
