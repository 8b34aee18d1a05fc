"""Marks: characters for private use that stand for stretches of a text while it is cut and read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Literal

from dragoman.text.languages import UNSPACED
from dragoman.text.marked_text import POINTS
from dragoman.text.protection import Stretch

MarkKind = Literal["text", "tag", "break"]
#: The first and the last mark of each kind, in the last two planes. Marks of one text are different.
_RANGES: Mapping[MarkKind, tuple[int, int]] = {
    "text": (0xF0000, 0xFFFFD),
    "tag": (0x100000, 0x107FFF),
    "break": (0x108000, 0x10FFFD),
}
#: The marks of tags, and of those that end a line, for a class of a regular expression.
TAG_MARKS, BREAK_MARKS = "\U00100000-\U00107fff", "\U00108000-\U0010fffd"
#: Tags around words: of HTML, of forums, and of templates.
_OPENING = re.compile(rf"<(?!(?:{'|'.join(sorted(POINTS))})\b)[A-Za-z]|\[[a-z]|\{{%-?\s*(?!end|el)")
_CLOSING = re.compile(r"</|\[/|\{%-?\s*end")
#: A letter of a script with spaces between words.
_SPACED = re.compile(rf"[^\W{UNSPACED}]")
_LONGEST = 40
_LETTERS_BEFORE, _LETTERS_AFTER = re.compile(rf"\w{{1,{_LONGEST}}}\Z"), re.compile(rf"\w{{1,{_LONGEST}}}")


class Marks:
    """The marks of one text, and what each stands for.

    Args:
        text: has none of the characters that become marks.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._stretches: dict[str, str] = {}

    @cached_property
    def _free(self) -> dict[MarkKind, Iterator[str]]:
        """The characters of each kind that may still become marks. Most texts need none."""
        first = chr(_RANGES["text"][0])
        taken = {character for character in self._text if character >= first}
        return {kind: _free(*ends, taken) for kind, ends in _RANGES.items()}

    def __bool__(self) -> bool:
        return bool(self._stretches)

    def __contains__(self, character: str) -> bool:
        return character in self._stretches

    def __getitem__(self, mark: str) -> str:
        return self._stretches[mark]

    def replace(self, text: str, stretches: Iterable[Stretch], kinds: Mapping[Stretch, MarkKind] | None = None) -> str:
        """Return a text, which may have marks already, with a mark in place of each stretch while there are marks.

        Args:
            kinds: of the stretches that are tags.
        """
        parts, end = [], 0
        for start, next_end in stretches:
            kind = kinds.get((start, next_end), "text") if kinds else "text"
            if (mark := next(self._free[kind], None)) is None:
                break
            self._stretches[mark] = self.original(text[start:next_end])
            parts += [text[end:start], mark]
            end = next_end
        return "".join([*parts, text[end:]])

    def original(self, text: str) -> str:
        """Return a text with the stretches in place of their marks."""
        return "".join(self._stretches.get(character, character) for character in text) if self._stretches else text

    def places(self, text: str, wanted: Collection[str] | None = None) -> list[Stretch]:
        """Return the places of some marks of a text in its original; of all marks, if none are named."""
        if not self._stretches:
            return []
        ends = [0, *accumulate(len(self.original(character)) for character in text)]
        chosen = self._stretches if wanted is None else wanted
        return [(ends[at], ends[at + 1]) for at, character in enumerate(text) if character in chosen]


def _free(first: int, last: int, taken: set[str]) -> Iterator[str]:
    return (chr(code) for code in range(first, last + 1) if chr(code) not in taken)


def letters_around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the letters and digits right before and right after a place, at most 40 on each side."""
    before = _LETTERS_BEFORE.search(text[max(0, start - _LONGEST) : start])
    after = _LETTERS_AFTER.match(text, end)
    return before[0] if before else "", after[0] if after else ""


def set_apart(piece: str, joints: tuple[str, str]) -> str:
    """Return a piece with spaces in place of its joints with words.

    Args:
        joints: the letters around it.
    """
    return f"{' ' * bool(joints[0])}{piece}{' ' * bool(joints[1])}"


def joined_again(text: str, piece: str, tag: str, joints: tuple[str, str]) -> str:
    """Return a translation without the spaces that `set_apart` added.

    If the part of a word outside of a tag is gone, its space stays: "<b>dog</b>s sleep" is "<b>Hund</b> schläft".
    """

    def joined(match: re.Match[str]) -> str:
        start, end = match.span()
        before, after = letters_around(text, start, end)
        if not all(joints):
            return piece
        if _CLOSING.match(tag) and after != joints[1] and _SPACED.match(after):
            return piece + match[2]
        if _OPENING.match(tag) and before != joints[0] and _SPACED.match(before[-1:]):
            return match[1] + piece
        return piece

    gaps = [r"(\s?)" if joint else "()" for joint in joints]
    return re.sub(gaps[0] + re.escape(piece) + gaps[1], joined, text)
