"""A document: segments to translate, and the content around them, which stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
        """Return a line for each such thing, once the languages are set. After `rebuild` there may be more lines."""


class Segment(Protocol):
    """A part of a file with a text to translate."""

    @property
    def source(self) -> MarkedText:
        """The text."""

    def fill(self, translation: Translation) -> str:
        """Return the part with another text."""


@runtime_checkable
class Group(Protocol):
    """A part of a file that depends on several segments, such as the forms of a plural, or on the language alone."""

    def segments(self) -> Iterator[Segment]:
        """Yield its segments, in order."""

    def written(self, given: Iterator[Translation], target: str | None) -> str:
        """Return it in another language, given the translations of its segments."""


#: Text that stays, and what becomes another text.
Part = str | Segment | Group


def segments_of(parts: Iterable[Part]) -> Iterator[Segment]:
    """Yield the segments of some parts, in order."""
    for part in parts:
        if not isinstance(part, str):
            yield from part.segments() if isinstance(part, Group) else (part,)


def written(parts: Iterable[Part], given: Iterator[Translation], target: str | None) -> str:
    """Return the parts with a translation in place of each segment."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Group):
            texts.append(part.written(given, target))
        else:
            texts.append(part.fill(next(given)))
    return "".join(texts)


@dataclass(frozen=True)
class TextFile:
    """A text file: segments, and the text between them.

    Args:
        mark: its byte order mark, or nothing.
        parts: all of it, in order.
    """

    mark: bytes
    parts: Sequence[Part]
    encoding: str = "utf-8"

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate."""
        return [segment.source for segment in segments_of(self.parts)]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a translation in place of each segment."""
        text = written(self.parts, iter(translations), target_lang)
        return self.mark + text.encode(self.encoding, "xmlcharrefreplace")
