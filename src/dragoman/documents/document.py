"""A document: segments to translate, and the content around them, which stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


class Document(Protocol):
    """Text to translate, and the content around it, which stays."""

    def segments(self) -> Sequence[MarkedText]:
        """Return the texts to translate, in order."""

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the document with a translation in place of each segment.

        A segment that is its own translation changes nothing.

        Args:
            target_lang: the code of their language, which some formats name.
        """


def is_left_out(translations: Iterable[Translation]) -> bool:
    """Return True if the model is not sure of one of them, so that a place for translations alone stays as it is."""
    return any("unsure" in translation.flags for translation in translations)


def are_remembered(translations: Iterable[Translation]) -> bool:
    """Return True if all of them are those of equal texts in a translation memory."""
    return all(translation.memory and translation.memory[0].score == 1 for translation in translations)


@runtime_checkable
class Reviewed(Protocol):
    """A document that people check: its new translations can be marked as fuzzy, or to be reviewed."""

    is_fuzzy: bool


@runtime_checkable
class Bilingual(Protocol):
    """A document that names its languages. They are set before its segments are read."""

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation, as far as they are known.

        Raises:
            DataError: the document is in others.
        """


@runtime_checkable
class Tabular(Protocol):
    """A table. Its columns are chosen before its segments are read."""

    def choose_columns(self, columns: str | None) -> None:
        """Choose the columns to translate, such as "name,description"; None is not said.

        Raises:
            DataError: none are given, one is not there, or a row is malformed.
        """

    def describe(self) -> str:
        """Return a line for people on how the table is read."""


@runtime_checkable
class Noted(Protocol):
    """A document with something that a person should check, such as text that is left alone."""

    def notes(self) -> Sequence[str]:
        """Return a line for people on each kind of it, after the languages are set."""


class Segment(Protocol):
    """A part of a file with a text to translate."""

    @property
    def source(self) -> MarkedText:
        """The text."""

    def fill(self, translation: Translation) -> str:
        """Return the part with another text."""


@dataclass(frozen=True)
class TextFile:
    """A text file: segments, and the text between them.

    Args:
        mark: its byte order mark, or nothing.
        parts: all of it, in order.
    """

    mark: bytes
    parts: Sequence[str | Segment]

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate."""
        return [part.source for part in self.parts if not isinstance(part, str)]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a translation in place of each segment."""
        given = iter(translations)
        written = (part if isinstance(part, str) else part.fill(next(given)) for part in self.parts)
        return self.mark + "".join(written).encode()
