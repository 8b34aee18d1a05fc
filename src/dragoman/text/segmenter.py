"""A segmenter: text to pieces and back. The vocabulary has their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self


class Segmenter(Protocol):
    """One way to cut text into pieces."""

    def split(self, text: str) -> list[str]:
        """Return the pieces of a text that `dragoman.text.cleaning.clean` has cleaned."""

    def join(self, pieces: Sequence[str | None]) -> str:
        """Return the text of pieces, without controls. None is a piece that the vocabulary does not know."""

    def lowercasing(self) -> Self:
        """Return the segmenter that lower-cases text before it cuts it, or the words that it has cut."""
