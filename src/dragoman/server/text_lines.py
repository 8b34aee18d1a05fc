"""The lines of a text: each is translated by itself, and the space around it stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.text.sentences import has_words

_LINE_END = re.compile(r"(\r\n|\n|\r)")


def whole(text: str) -> str:
    """Return a text with signs in place of halves of surrogate pairs, which JSON may have.

    >>> whole("a\\ud800b") == "a\\ufffdb"
    True
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True)
class TextLines:
    """A text in parts: those to translate, and the others."""

    #: Each with True if it is to be translated.
    parts: tuple[tuple[str, bool], ...]

    @property
    def lines(self) -> list[str]:
        """The parts to translate."""
        return [part for part, is_line in self.parts if is_line]

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with a translation in place of each line; `join(lines)` is the text."""
        texts = iter(translations)
        joined = "".join(next(texts) if is_line else part for part, is_line in self.parts)
        if next(texts, None) is not None:
            raise ValueError("more translations than lines")
        return joined


def split_lines(text: str) -> TextLines:
    """Cut a text into lines. A line without a letter or a digit, such as an emoji alone, is not translated."""
    parts: list[tuple[str, bool]] = []
    for piece in _LINE_END.split(text):
        line = piece.strip()
        indent, _, end = piece.partition(line) if line else (piece, "", "")
        parts += [(indent, False), (line, has_words(line)), (end, False)]
    return TextLines(tuple(part for part in parts if part[0]))
