"""Text in parts that a model can read: whole where it fits, else its sentences, else pieces of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

#: A text of more characters than this for each token the model reads is cut before it is encoded, so that the time
#: for a text grows no faster than its length.
MAX_CHARACTERS_PER_TOKEN = 16

#: What ends a sentence where spaces stand between words, and where none need to.
_SPACED, _UNSPACED = ".!?…؟۔։", "。！？｡।॥။។"
_OPENING, _CLOSING = "“‘「『（《〈【", r"""\"'”’»«›‹)\]」』）》〉】"""
#: All marks in a row with what closes after them, and the space that follows. German closes with what elsewhere opens,
#: and French puts a space before »: these close where a space follows.
_MARKS = re.compile(rf"([{_SPACED}{_UNSPACED}](?:[{_SPACED}{_UNSPACED}{_CLOSING}]|(?:“|‘|\s»)(?!\S))*)(\s*)")
#: Titles and abbreviations that are followed by something in their sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|Dr|Dra|Prof|Rev|Gen|Capt|Lt|Sgt|St|Mt|Hr|Fr|Frl|Mme|Mlle|Sr|Sra|"
    "[Bb]zw|[Cc]a|[Cc]f|[Vv]gl|[Ii]nkl|[Ee]vtl|[Aa]pprox|etc|vs|Nr|Abb|Fig|Bd|Vol"
)
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS.split("|")))
#: A dot that ends no sentence, with the character after it: of an initial ("J. Smith", "z. B."), of an abbreviation,
#: before a number ("No. 5"), of an ordinal ("3. Mai").
_INNER_DOT = re.compile(
    rf"""(?<![^\s.("'“„«-])(?:
        (?:[^\W\d_]|{_ABBREVIATIONS})\.\s+\S
        | (?:No|Art|Kap)\.\s+\d
        | (?<![^\s(])\d\d?\.\s+\w
    )\Z""",
    re.VERBOSE,
)


class Part(NamedTuple):
    """What the model reads at once."""

    text: str
    ids: list[int]


def cut(text: str, encode: Callable[[str], list[int]], max_length: int, *, sentences: bool = False) -> list[Part]:
    """A text in parts of at most `max_length` tokens: one part if it fits, none for an empty text.

    A longer text is cut at the ends of its sentences, and sentences that are still too long at the space nearest to
    their middle, or where there is none, in the middle. With `sentences`, each sentence is a part whatever fits.
    """
    ids = None if sentences else encode_if_short(text, encode, max_length)
    if ids is not None:
        return [Part(text, ids)] if ids else []
    return [part for sentence in _sentences(text) for part in _halve(sentence, encode, max_length)]


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text, and what is left of it, without the spaces between them."""
    start = 0
    for found in _MARKS.finditer(text):
        if _ends_sentence(text, found):
            yield text[start : found.end(1)]
            start = found.end()
    yield text[start:]


def _ends_sentence(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence ends with these marks; in doubt it does not."""
    marks, space = found.groups()
    after = text[found.end() : found.end() + 1]
    if any(mark in _UNSPACED for mark in marks):  # after a quote it may go on: 「はい。」と言った。
        return bool(space) or marks[-1] in _UNSPACED or after in _OPENING
    if not space or after != after.title():  # a small letter, but for scripts that have no others, like Georgian
        return False
    before = max(0, found.start() - _LONGEST_ABBREVIATION)
    return marks != "." or not _INNER_DOT.search(text, before, found.end() + 1)


def encode_if_short(text: str, encode: Callable[[str], list[int]], max_length: int) -> list[int] | None:
    """The ids of a text, none for an empty one; None if they are more than `max_length`."""
    if not text.strip():
        return []
    if len(text) > MAX_CHARACTERS_PER_TOKEN * max_length:
        return None
    ids = encode(text)
    return ids if len(ids) <= max_length else None


def _halve(text: str, encode: Callable[[str], list[int]], max_length: int) -> list[Part]:
    ids = encode_if_short(text, encode, max_length)
    if ids is not None:
        return [Part(text, ids)] if ids else []
    if len(text) == 1:  # a character of more bytes than the model reads tokens: there is no smaller part
        return [Part(text, encode(text)[:max_length])]
    middle = len(text) // 2
    quarter = len(text) // 4
    after, before = text.find(" ", middle, middle + quarter), text.rfind(" ", middle - quarter, middle)
    spaces = [place for place in (after, before) if place > 0]
    place = min(spaces, key=lambda place: abs(place - middle), default=middle)
    return _halve(text[:place], encode, max_length) + _halve(text[place:], encode, max_length)
