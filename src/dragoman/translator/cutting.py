"""Text in parts that a model can read.

A text is whole where it is like the lines that the model learned from. Else it is cut: between sentences where it has
more of them, at commas and spaces where a sentence is much longer. What is no text is copied, because no model can
translate it: what has no spaces and is too long for a word (encoded data, a hash), a word of more tokens than the lines
that the model learned from, and marks without letters or digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.text.cleaning import collapse_spaces
from dragoman.text.languages import UNSPACED
from dragoman.text.sentences import PARAGRAPH_END, has_words, sentence_spans, sentences
from dragoman.translator.results import Flag

#: A text of more characters than this for each token the model reads is cut before it is encoded, so that the time
#: for a text grows no faster than its length.
MAX_CHARACTERS_PER_TOKEN = 16
#: The longest words of any language that writes spaces have fewer characters.
LONGEST_WORD = 100
#: Almost all words have fewer. A longer one is copied if it has more tokens than the lines that the model learned from.
LONG_WORD = 40
#: Characters that may stand in long rows without a space: UNSPACED, Tibetan, New Tai Lue, Tai Tham, Hangul, Yi, and the
#: marks and full-width forms of Chinese and Japanese.
_UNBROKEN = (
    UNSPACED
    + "\u0f00-\u0fff\u1100-\u11ff\u1950-\u19df\u1a20-\u1aaf\u3000-\u31ff\ua000-\ua4cf\uac00-\ud7af\uff00-\uffef"
)
#: A word that is too long for one, and a hash in hexadecimal digits.
_NO_WORD = re.compile(
    rf"[^\s{_UNBROKEN}]{{{LONGEST_WORD + 1},}}"
    r"|(?<!\S)[\"'(\[]*(?:[\w-]+[:=])?(?=[a-fA-F]*\d)[0-9a-fA-F]{32,}[.,;:!?)\]\"']*(?!\S)"
)
#: The end of a clause.
_CLAUSE = re.compile(r"[,;:،؛](?=\s)|[、，；：]|\s[–—-](?=\s)")
_SPACE = re.compile(r"\s")
_BETWEEN_UNBROKEN = re.compile(rf"[{_UNBROKEN}](?=[{_UNBROKEN}])")
#: Characters on either side of the middle of a text in which a place to cut is looked for.
_NEAR = 200


class Part(NamedTuple):
    """A piece of a text that the model reads at once, or that is copied."""

    text: str
    ids: list[int]
    #: `copied` or `unusual`, if there is something to tell of it.
    flag: Flag | None = None

    @property
    def is_copied(self) -> bool:
        """True if the model does not read it."""
        return self.flag == "copied"


@dataclass(frozen=True)
class Limits:
    """The most that a part may have."""

    #: Tokens that the model reads.
    max_length: int
    #: Sentences; None is as many as fit.
    sentences: int | None = None
    #: Tokens of a sentence that is not cut, and of the pieces that a longer one is cut into; None is `max_length`.
    long_tokens: int | None = None
    usual_tokens: int | None = None
    #: Copy what has neither letters nor digits.
    copies_marks: bool = False

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence that is not cut."""
        return min(self.long_tokens or self.max_length, self.max_length)

    @property
    def usual(self) -> int:
        """Tokens of the pieces that a longer sentence is cut into."""
        return min(self.usual_tokens or self.max_length, self.longest)


Encode = Callable[[str], list[int]]


def cut(text: str, encode: Encode, limits: Limits) -> list[Part]:
    """Cut a text into parts, none for an empty text.

    All parts together have the characters of the text in their order, except white space.
    """
    if limits.copies_marks and not has_words(text):
        return [_copied(text)] if text.strip() else []
    parts: list[Part] = []
    end = 0
    for start, next_end in _spans_to_copy(text):
        parts += _cut_words(text[end:start], encode, limits)
        parts.append(_copied(text[start:next_end]))
        end = next_end
    return parts + _cut_words(text[end:], encode, limits)


def _copied(text: str) -> Part:
    return Part(collapse_spaces(text), [], "copied")


def encode_if_short(text: str, encode: Encode, max_length: int) -> list[int] | None:
    """The ids of a text, none for an empty one; None if they are more than `max_length`."""
    if not text.strip():
        return []
    if len(text) > MAX_CHARACTERS_PER_TOKEN * max_length:
        return None
    ids = encode(text)
    return ids if len(ids) <= max_length else None


def _spans_to_copy(text: str) -> list[tuple[int, int]]:
    """Return where each copied stretch begins and ends: runs of characters that are no word, and marks beside them."""
    spans: list[tuple[int, int]] = []
    for found in _NO_WORD.finditer(text):
        before = spans[-1][1] if spans else 0
        if has_words(text[before : found.start()]):
            spans.append(found.span())
        else:
            spans[-1:] = [(spans[-1][0] if spans else 0, found.end())]
    if spans and not has_words(text[spans[-1][1] :]):
        spans[-1] = spans[-1][0], len(text)
    return spans


def _cut_words(text: str, encode: Encode, limits: Limits) -> list[Part]:
    """The parts of a text that is all words."""
    if limits.sentences is not None:
        groups = (each.replace(PARAGRAPH_END, " ") for each in _groups(text, encode, limits))
        return [part for each in groups for part in _cut_sentence(each, encode, limits)]
    whole = text.replace(PARAGRAPH_END, " ")
    ids = encode_if_short(whole, encode, limits.max_length)
    if ids is None:
        parts = (part for each in sentences(text) for part in _cut_sentence(each, encode, limits))
        return [part if part.is_copied else part._replace(flag="unusual") for part in parts]
    return [Part(whole, ids, "unusual" if len(ids) > limits.longest else None)] if ids else []


def _groups(text: str, encode: Encode, limits: Limits) -> Iterator[str]:
    """As many sentences together as a part may have."""
    first, end, n_sentences, n_tokens = 0, 0, 0, 0
    for start, next_end in sentence_spans(text):
        ids = None if limits.sentences == 1 else _encode(text[start:next_end], encode, limits.longest, limits)
        size = limits.longest if ids is None else len(ids)
        if n_sentences == limits.sentences or (n_sentences and n_tokens + size > limits.longest):
            yield text[first:end]
            n_sentences = n_tokens = 0
        if not n_sentences:
            first = start
        end, n_sentences, n_tokens = next_end, n_sentences + 1, n_tokens + size
    if n_sentences:
        yield text[first:end]


def _cut_sentence(text: str, encode: Encode, limits: Limits) -> list[Part]:
    """A sentence as one part, or in pieces that are flagged as unusual."""
    if limits.copies_marks and not has_words(text):
        return [_copied(text)] if text.strip() else []
    ids = _encode(text, encode, limits.longest, limits)
    if ids is not None:
        return [Part(text, ids)] if ids else []
    return _halve(text, encode, limits)


def _encode(text: str, encode: Encode, n_tokens: int, limits: Limits) -> list[int] | None:
    """The ids of a text that the model can read; None if they are more than `n_tokens`."""
    ids = encode_if_short(text, encode, limits.max_length)
    return ids if ids is not None and len(ids) <= n_tokens else None


def _halve(text: str, encode: Encode, limits: Limits) -> list[Part]:
    ids = _encode(text, encode, limits.usual, limits)
    place = _place_to_cut(text) if ids is None else None
    if ids is None and place is None:  # one word
        ids = encode_if_short(text, encode, limits.max_length)
        is_too_long = ids is None or len(ids) > limits.longest
        if limits.long_tokens is not None and is_too_long and len(text) > LONG_WORD:
            return [_copied(text)]
    if ids is not None:
        return [Part(text, ids, "unusual")] if ids else []
    if len(text) == 1:  # a character of more bytes than the model reads tokens: there is no smaller part
        return [Part(text, encode(text)[: limits.max_length], "unusual")]
    place = place or len(text) // 2
    return _halve(text[:place], encode, limits) + _halve(text[place:], encode, limits)


def _place_to_cut(text: str) -> int | None:
    """The place near the middle of a text where a cut harms least: after a clause, at a space, between characters
    that need no space."""
    middle, near = len(text) // 2, min(len(text) // 4, _NEAR)
    for mark in (_CLAUSE, _SPACE, _BETWEEN_UNBROKEN):
        found = (each.end() for each in mark.finditer(text, middle - near, middle + near))
        places = [place for place in found if not unicodedata.category(text[place]).startswith("M")]
        if places:
            return min(places, key=lambda place: abs(place - middle))
    spaces = text.find(" ", middle), text.rfind(" ", 1, middle)
    return next((place for place in spaces if 0 < place < len(text) - 1), None)
