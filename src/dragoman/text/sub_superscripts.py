"""Subscripts and superscripts in a marked text: formulas, references to notes, and ordinal numbers.

Their signs are parts of words, so no alignment says where they go. "H<sub>2</sub>O" and "5 m<sup>2</sup>" are verbatim,
tags included. The reference after "house<sup>3</sup>" is a point. In "1<sup>st</sup>", the mark follows the digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dragoman.text.mark import Mark

NAMES = frozenset(("sub", "sup"))
_NOTE = re.compile(r"[\[(]?(?:\d{1,3}|[a-z*†‡§¶])(?:[,–-] ?\d{1,3})*[\])]?")
_ORDINAL = re.compile(r"[A-Za-zèéºª]{1,4}\.?")
#: Words of which a superscript is a power.
_WITH_POWER = frozenset(
    ("mm", "cm", "dm", "km", "nm", "ft", "in", "mi", "yd", "kg", "ms", "sec", "sin", "cos", "tan", "log", "exp")
)
_WORD_BEFORE, _LETTERS_BEFORE = re.compile(r"\w+\Z"), re.compile(r"[^\W\d_]+\Z")
_WORD = re.compile(r"\w*")
_VOWEL = re.compile("[aeiouyà-öø-ÿ]", re.IGNORECASE)
_EQUATION = re.compile(r"\s[=≈<>≤≥+×·]\s")
_DIGITS = re.compile(r"\d+(?P<letters>[A-Za-zÀ-ÿºª]*)")
#: Characters that a format may write in another way.
_WRITTEN_OTHERWISE = re.compile(r"[&<>\\*_`~|\s]")
_LONGEST = 12
#: Texts with more of them are tables of numbers; their marks stay as they are.
_MOST = 200


class Script:
    """A stretch of a text that is copied with its marks: a formula, or the reference to a note, which is a point.

    Args:
        marks: all within the stretch.
    """

    def __init__(self, start: int, end: int, marks: Sequence[Mark], *, is_note: bool) -> None:
        self.start, self.end, self.marks, self.is_note = start, end, marks, is_note

    def written(self, text: str) -> str:
        """Return the stretch with its marks."""
        parts: list[str] = []
        opened: list[Mark] = []
        at = self.start
        for mark in self.marks:
            while opened and opened[-1].depth >= mark.depth:
                last = opened.pop()
                parts += [text[at : last.end], last.closing]
                at = last.end
            parts += [text[at : mark.start], mark.opening]
            at = mark.start
            opened += [] if mark.is_point else [mark]
        while opened:
            last = opened.pop()
            parts += [text[at : last.end], last.closing]
            at = last.end
        return "".join([*parts, text[at : self.end]])


def find_sub_superscripts(text: str, marks: Sequence[Mark]) -> list[Script]:
    """Return the stretches of a text that are copied with their marks, in their order; they share no mark."""
    places: list[tuple[int, int, bool]] = []
    for start, end, is_note in sorted(_places(text, marks)):
        if (places and start < places[-1][1]) or (places and start == places[-1][1] and not is_note):
            places[-1] = (places[-1][0], max(end, places[-1][1]), places[-1][2] and is_note)
        else:
            places.append((start, end, is_note))
    if len(places) > _MOST:
        return []
    scripts = []
    for start, end, is_note in places:
        touching = [mark for mark in marks if mark.start < end and mark.end > start]
        inside = [mark for mark in touching if start <= mark.start and mark.end <= end]
        is_crossed = any(
            start < mark.start < end < mark.end or mark.start < start < mark.end < end for mark in touching
        )
        if not is_crossed and not _WRITTEN_OTHERWISE.search(text[start:end]):
            scripts.append(Script(start, end, inside, is_note=is_note))
    return scripts


def after_digits(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of the letters after the digits in a stretch of a translation: "er" in "1er"; none in "1." """
    match = _DIGITS.search(text, start, end)
    return match.span("letters") if match else (end, end)


def _places(text: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int, bool]]:
    """Yield the stretches of scripts, with True for a reference to a note."""
    for mark in marks:
        start, end = mark.start, mark.end
        if not mark.script or not 0 < end - start <= _LONGEST:
            continue
        own = text[start:end]
        before = _WORD_BEFORE.search(text, max(0, start - _LONGEST), start)
        word = before[0] if before else ""
        after = _WORD.match(text, end)
        stop = after.end() if after else end
        if mark.script == "sup" and _NOTE.fullmatch(own) and stop == end and not _has_power(word, text):
            yield start, end, True
        elif not word or (word.isdigit() and _ORDINAL.fullmatch(own)) or (own.isalpha() and len(own) > 3):
            continue
        else:
            yield start - len(word), stop, False


def _has_power(word: str, text: str) -> bool:
    """Return True if a superscript after a word of a text is more probably a power than a note.

    Short words are variables if they have no vowel, as in "mc<sup>2</sup>", or if the text is an equation.
    """
    match = _LETTERS_BEFORE.search(word)
    if match is None or match[0] in _WITH_POWER or len(match[0]) < len(word):
        return bool(word)
    letters = match[0]
    if len(letters) == 1 or (len(letters) == 2 and (letters[0].isupper() or _EQUATION.search(text))):
        return True
    return len(letters) <= 3 and not _VOWEL.search(letters)
