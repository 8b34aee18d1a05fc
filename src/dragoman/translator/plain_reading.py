"""The text that a model reads of a plain request: the text itself, with the markup of a document masked."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.text.protection import Stretch
from dragoman.translator.marks import Marks
from dragoman.translator.reading import Reading


class PlainReader:
    """The readings of the segments of a text that the model reads as it is, but for the markup of a document.

    Args:
        text: sanitized, without tags, with marks for the stretches that its request protects.
        marks: those of the text.
        reserved: pieces of the model that mask these stretches; none if it has not learned any.
    """

    def __init__(self, text: str, marks: Marks, reserved: Sequence[str]) -> None:
        self.text, self._marks, self._reserved = text, marks, reserved

    def original(self, segment: str) -> str:
        """Return a stretch of `text` as it was."""
        return self._marks.original(segment)

    def written(self, segment: str) -> str:
        """Return "": no rule writes a translation."""
        return ""

    def protected(self, segment: str) -> list[Stretch]:
        """Return the places of protected stretches in the original of a stretch of `text`."""
        return self._marks.places(segment)

    def read(self, segment: str) -> Reading:
        """Return what the model reads in place of a stretch of `text`."""
        if not self._marks:
            return Reading(segment, is_plain=True)
        marks = [character for character in segment if character in self._marks]
        pieces = dict(zip(marks, self._reserved, strict=False))
        return Reading(
            self.original("".join(pieces.get(character, character) for character in segment)),
            [(piece, self._marks[mark]) for mark, piece in pieces.items()],
            verbatim=[self._marks[mark] for mark in marks],
            unmasked=[self._marks[mark] for mark in marks if mark not in pieces],
            is_plain=True,
        )
