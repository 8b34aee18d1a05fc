"""The text of a segment as a model reads it, without ellipses, and the way back to the segment's translation."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self

from dragoman.documents.ellipses import Ellipses, put_ellipses, take_ellipses
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
from dragoman.translator import Translation


class SegmentText(NamedTuple):
    """The text of a segment, without ellipses at its ends."""

    text: str
    verbatim: tuple[Stretch, ...]
    ellipses: Ellipses
    segment: MarkedText

    @classmethod
    def of(cls, segment: MarkedText, *, keeps_ellipses: bool = False) -> Self:
        """Return the text of a segment.

        Args:
            keeps_ellipses: True for a lookup of the whole text in a memory, or if the translation has a given prefix.
        """
        if keeps_ellipses:
            return cls(segment.text, segment.verbatim, Ellipses("", ""), segment)
        return cls(*take_ellipses(segment.text, segment.verbatim), segment)

    @property
    def aligns(self) -> bool:
        """True if words must be aligned, because the segment has marks to place."""
        return bool(self.segment.marks)

    @property
    def marked(self) -> tuple[str, ...]:
        """The parts without letters that are marked: numbers and prices in tags of their own."""
        parts = (self.segment.text[mark.start : mark.end] for mark in self.segment.marks)
        return tuple(part for part in parts if part and not any(map(str.isalpha, part)))

    def finish(self, translation: Translation, target_lang: str | None) -> Translation:
        """Return the translation of the segment and its alternatives, given those of the text.

        They get the ellipses and the first capital: "Help" in a menu is a heading, so its translation begins with a
        capital. A word that was copied stays as it is.
        """
        alternatives = tuple(
            replace(each, text=self._finished(each.text, target_lang), parts=()) for each in translation.alternatives
        )
        return replace(translation, text=self._finished(translation.text, target_lang), alternatives=alternatives)

    def _finished(self, text: str, target_lang: str | None) -> str:
        if any(self.ellipses):
            text = put_ellipses(text, self.ellipses, target_lang)
        is_small = text[:1].islower() and len(text[:1].upper()) == 1
        if is_small and self.segment.text[:1].isupper() and text.split()[0] not in self.segment.text.split():
            text = text[0].upper() + text[1:]
        return text
