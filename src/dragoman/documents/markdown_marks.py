"""A paragraph of Markdown as marked texts: one for each line that a hard break ends, except in a sentence."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, MutableMapping, Sequence
from html import unescape
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

from dragoman.documents.hard_breaks import OBJECT, cut_at
from dragoman.documents.html_attributes import attribute_texts
from dragoman.documents.html_tokens import HtmlToken
from dragoman.documents.markdown_blocks import add_dialects
from dragoman.documents.markdown_markup import Found, MarkupFinder
from dragoman.documents.markdown_texts import image_texts, note_texts, title_texts
from dragoman.documents.markup_texts import MarkupText
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.protection import Stretch

#: A reference to a footnote.
_FOOTNOTE = re.compile(r"(\[\^[^\]\s]+\])")
_TASK = re.compile(r"\[[ xX]\]\s+(?=\S)")
#: A backslash that is no text.
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
#: A space that stays where it is when lines are wrapped.
FIXED_SPACE = "\ue000"


class MarkedLine(NamedTuple):
    """A marked text, and its place in the source of a paragraph."""

    start: int
    end: int
    text: MarkedText


class MarkdownParser:
    """The parser of CommonMark with tables, strikethrough and dialects."""

    def __init__(self) -> None:
        self.blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        self.blocks.core.ruler.enableOnly(["normalize", "block"])
        add_dialects(self.blocks)
        self._finder = MarkupFinder()
        #: Texts inside the inline markup so far.
        self.texts: dict[str, list[MarkupText]] = {}

    def lines(self, source: str, references: MutableMapping[str, Any]) -> list[MarkedLine]:
        """Return the lines of a paragraph that hard breaks part; the box of a task and the breaks are in none.

        Args:
            references: the `env` of the document.
        """
        task = _TASK.match(source)
        found = self._finder.find(source[task.end() :] if task else source, references)
        begin = task.end() if task else 0
        found = [one._replace(start=one.start + begin, end=one.end + begin) for one in found] if begin else found
        breaks = [(one.start, one.end) for one in found if one.is_break]
        places = cut_at(breaks, (begin, len(source)), lambda *place: "".join(_stretches(source, found, *place)))
        return [MarkedLine(*place, self._marked(source, _within(found, *place), place, references)) for place in places]

    def marked(self, source: str, references: MutableMapping[str, Any]) -> MarkedText:
        """Return a text inside markup, such as the label of an image, as marked text."""
        return self._marked(source, self._finder.find(source, references), (0, len(source)), references)

    def _marked(
        self, source: str, pieces: Sequence[Found], place: Stretch, references: MutableMapping[str, Any]
    ) -> MarkedText:
        builder = MarkedTextBuilder()
        at, end = place
        with_texts: list[tuple[Found, str]] = []
        for found in pieces:
            if found.start >= at:
                _add_text(builder, source[at : found.start])
                markup = _add_markup(builder, found, source)
                with_texts += [(found, markup)] if markup not in self.texts else []
                at = found.end
        _add_text(builder, source[at:end])
        for found, markup in with_texts:
            if texts := self._texts(found, markup, references):
                self.texts[markup] = texts
        return builder.build()

    def _texts(self, found: Found, markup: str, references: MutableMapping[str, Any]) -> list[MarkupText]:
        """Return the texts inside a piece of markup."""
        if found.label_end:
            return image_texts(markup, found.label_end - found.start, lambda label: self.marked(label, references))
        if found.name == "^[":
            return note_texts(markup, lambda note: self.marked(note, references))
        if found.name == "link" and markup.startswith("]("):
            return title_texts(markup, 2)
        if found.kind in ("open", "point") and markup.startswith("<"):
            return attribute_texts(HtmlToken("start", markup, found.name))
        return []


def _stretches(source: str, found: Sequence[Found], start: int, end: int) -> Iterator[str]:
    """Yield what a stretch shows."""
    at = start
    for one in _within(found, start, end):
        if at <= one.start:
            yield source[at : one.start]
            yield OBJECT if one.kind == "verbatim" else source[one.start + 1 : one.end] if one.kind == "escape" else ""
            at = one.end
    yield source[at:end]


def _within(found: Sequence[Found], start: int, end: int) -> Sequence[Found]:
    """Return the pieces of markup in a stretch."""
    first, last = (bisect_left(found, place, key=lambda one: one.start) for place in (start, end))
    return found[first:last]


def _add_text(builder: MarkedTextBuilder, text: str) -> None:
    for number, part in enumerate(_FOOTNOTE.split(text)):
        if number % 2:
            builder.add_point(part)
        elif part:
            builder.add_text(part)


def _add_markup(builder: MarkedTextBuilder, found: Found, source: str) -> str:
    """Add a piece of markup, and return it as one line."""
    raw = found.markup or source[found.start : found.end]
    line = " ".join(raw.split("\n"))
    if found.kind == "escape":
        # The parser reports a backslash before a letter too; it is text, as in C:\Users.
        builder.add_text(raw[1:] if _ESCAPED.match(raw) else unescape(raw))
    elif found.kind == "verbatim":
        builder.add_verbatim(line)
    elif found.kind == "break":
        builder.add_point("\\\n" if raw.startswith("\\") else f"{FIXED_SPACE * 2}\n", is_space=True)
    elif found.kind == "open":
        builder.open(found.name, line)
    elif found.kind == "close":
        builder.close(found.name, line)
    else:
        builder.add_point(line, is_space=found.name == "br")
    return line
