"""Text of one side of a unit of TMX or XLIFF, which both surround native code by elements."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from dragoman.data.formats.column_choice import join_lines
from dragoman.data.text_files.lines import Line, Unreadable
from dragoman.data.text_files.raw_lines import MAX_LINE_BYTES
from dragoman.errors import counted


def code_lines(path: Path, n_units: int, elements: Set[str]) -> tuple[str, ...]:
    """Return a line for people if inline codes were left out of the text of some units."""
    found = f"{path}: inline codes ({', '.join(sorted(elements))}) left out of the text of {counted(n_units, 'unit')}"
    return (found,) if n_units else ()


class SideText:
    """Collects the text inside an element, without native code; a text that is too long is not kept in RAM.

    Args:
        code_elements: names of the elements that hold native code.
        wrapping: those around text, which stays.
    """

    def __init__(self, code_elements: Set[str], wrapping: Set[str] = frozenset()) -> None:
        self._code_elements, self._wrapping = code_elements, wrapping
        self._pieces: list[str] = []
        self._n_characters = self._code_depth = 0
        self.has_code = False

    @property
    def is_in_code(self) -> bool:
        """True between the tags of an element of native code."""
        return self._code_depth > 0

    def start(self, name: str, *, is_break: bool) -> None:
        """Take a start tag.

        Args:
            is_break: it is a line break, if it begins native code.
        """
        if self.is_in_code:
            self._code_depth += 1
        elif name in self._code_elements:
            self._code_depth = 1
            self.has_code = True
            if is_break:
                self._pieces.append(" ")
        elif name in self._wrapping:
            self.has_code = True

    def end_code(self) -> None:
        """Take an end tag inside native code, or the one that ends it."""
        self._code_depth -= 1

    def add(self, text: str) -> None:
        """Take some text."""
        if not self.is_in_code:
            self._n_characters += len(text)
            if self._n_characters <= MAX_LINE_BYTES:
                self._pieces.append(text)

    def line(self) -> Line:
        """Return the text on one line."""
        return Unreadable.TOO_LONG if self._n_characters > MAX_LINE_BYTES else join_lines("".join(self._pieces))
