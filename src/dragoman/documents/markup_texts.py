"""Texts inside markup, such as the alternative text of an image: segments of their own, after the others of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


class MarkupText(NamedTuple):
    """A text between two characters of a piece of markup."""

    start: int
    end: int
    source: MarkedText
    #: Writes what stands between these characters, quotes included.
    write: Callable[[Translation], str]


#: By the markup that has them, as it is in the file.
MarkupTexts = Mapping[str, Sequence[MarkupText]]


def sources(texts: MarkupTexts) -> list[MarkedText]:
    """Return the texts to translate."""
    return [text.source for several in texts.values() for text in several]


def filled(texts: MarkupTexts, translations: Iterator[Translation]) -> dict[str, str]:
    """Return the new markup for each piece of old markup."""
    return {markup: _filled(markup, several, translations) for markup, several in texts.items()}


def replaced(markup: str, changed: Mapping[str, str]) -> str:
    """Return new markup for old, which may have a space beside it; all other text as it is."""
    core = markup.strip()
    return markup.replace(core, changed[core]) if core in changed else markup


def _filled(markup: str, texts: Sequence[MarkupText], translations: Iterator[Translation]) -> str:
    parts, at = [], 0
    for text in texts:
        translation = next(translations)
        is_same = translation.text == text.source.text
        parts += [markup[at : text.start], markup[text.start : text.end] if is_same else text.write(translation)]
        at = text.end
    return "".join([*parts, markup[at:]])
