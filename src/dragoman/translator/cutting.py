"""Text that a model can read: made harmless, and cut into parts where it is too long."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

#: A text of more characters than this for each token the model reads is cut before it is encoded, so that the time
#: for a text grows no faster than its length.
MAX_CHARACTERS_PER_TOKEN = 16

_HARMFUL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Not after an initial ("J. Smith", "z. B."), nor before a small letter.
_SENTENCE_END = re.compile(
    r"""(?:(?<=[.!?…])|(?<=[.!?…]["”’»)\]]))(?<!\b[^\W\d_]\.)\s+(?![a-zß-öø-ÿ])|(?<=[。！？।])\s*"""
)


class Part(NamedTuple):
    """What the model reads at once."""

    text: str
    ids: list[int]


def harmless(text: str) -> str:
    """Control characters become spaces (a tab stays), and halves of a surrogate pair U+FFFD: then the text is one
    line that every tokenizer, terminal and file can take."""
    return _SURROGATE.sub("\ufffd", _HARMFUL.sub(" ", text))


def cut(text: str, encode: Callable[[str], list[int]], max_length: int, *, sentences: bool = False) -> list[Part]:
    """A text in parts of at most `max_length` tokens: one part if it fits, none for an empty text.

    A longer text is cut at the ends of its sentences, and sentences that are still too long at the space nearest to
    their middle, or where there is none, in the middle. With `sentences`, each sentence is a part whatever fits.
    """
    ids = None if sentences else encode_if_short(text, encode, max_length)
    if ids is not None:
        return [Part(text, ids)] if ids else []
    return [part for sentence in _SENTENCE_END.split(text) for part in _halve(sentence, encode, max_length)]


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
