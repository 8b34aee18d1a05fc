"""A unit of a translation memory: a text and its translation."""

from __future__ import annotations

from typing import NamedTuple

from dragoman.text.languages import base_language


class Unit(NamedTuple):
    """A text and its translation, with the codes of their languages; None is unknown."""

    source: str
    target: str
    source_lang: str | None = None
    target_lang: str | None = None

    @property
    def direction(self) -> tuple[str | None, str | None]:
        """The languages of the text and of its translation, without regions."""
        return language(self.source_lang), language(self.target_lang)


def language(code: str | None) -> str | None:
    """Return the language of a code, without its region; None if it is unknown."""
    return None if code is None else base_language(code)
