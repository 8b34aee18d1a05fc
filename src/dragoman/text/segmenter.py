"""A segmenter: text to pieces and back. The vocabulary has their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from dragoman.text.cleaning import REPLACEMENT, without_controls


class Segmenter(Protocol):
    """One way to cut text into pieces."""

    def split(self, text: str) -> list[str]:
        """Return the pieces of a text that `dragoman.text.cleaning.clean` has cleaned."""

    def join(self, pieces: Sequence[str | None]) -> str:
        """Return the text of pieces, without controls. None is a piece that the vocabulary does not know."""

    def lowercasing(self) -> Self:
        """Return the segmenter that lower-cases text before it cuts it, or the words that it has cut."""


@dataclass(frozen=True)
class Characters:
    """Cuts text into single characters (code points)."""

    lowercase: bool = False

    def split(self, text: str) -> list[str]:
        """Return the characters of a cleaned text."""
        return list(text.lower() if self.lowercase else text)

    def join(self, pieces: Sequence[str | None]) -> str:
        """Return the text of characters; an unknown one is U+FFFD."""
        return without_controls("".join(REPLACEMENT if piece is None else piece for piece in pieces))

    def lowercasing(self) -> Characters:
        """Return the same, with text lower-cased first."""
        return replace(self, lowercase=True)
