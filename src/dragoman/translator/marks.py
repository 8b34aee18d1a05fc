"""Marks: characters for private use that stand for stretches of a text while it is cut and read."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.text.protection import Stretch

#: The last plane but one. Marks of one text are different.
_FIRST, _LAST = 0xF0000, 0xFFFFD


class Marks:
    """The marks of one text, and what each stands for.

    Args:
        text: has none of the characters that become marks.
    """

    def __init__(self, text: str) -> None:
        taken = {character for character in text if character >= chr(_FIRST)}
        self._free = (chr(code) for code in range(_FIRST, _LAST + 1) if chr(code) not in taken)
        self._stretches: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._stretches)

    def __contains__(self, character: str) -> bool:
        return character in self._stretches

    def __getitem__(self, mark: str) -> str:
        return self._stretches[mark]

    def replace(self, text: str, stretches: Iterable[Stretch]) -> str:
        """Return a text, which may have marks already, with a mark in place of each stretch while there are marks."""
        parts, end = [], 0
        for start, next_end in stretches:
            if (mark := next(self._free, None)) is None:
                break
            self._stretches[mark] = self.original(text[start:next_end])
            parts += [text[end:start], mark]
            end = next_end
        return "".join([*parts, text[end:]])

    def original(self, text: str) -> str:
        """Return a text with the stretches in place of their marks."""
        return "".join(self._stretches.get(character, character) for character in text) if self._stretches else text
