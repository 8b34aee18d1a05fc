"""A paragraph of Markdown: its place in the lines of its file, and how a translation is written there."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from markdown_it.token import Token

from dragoman.documents.mark_projection import project
from dragoman.documents.markdown_marks import FIXED_SPACE
from dragoman.documents.markdown_texts import escaped, escaped_near_links
from dragoman.documents.markup_texts import replaced
from dragoman.documents.wrapping import MIN_WIDTH, lines_and_ends, wrap
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
from dragoman.translator import Translation

#: The beginning of a line that would begin a block: a list, a quote, a heading, a fence, a line below a heading.
_BLOCK = re.compile(r"(?P<number>\d{1,9})?(?P<mark>[-+*>#=|]|(?<=\d)[.)]|~~~|```|:(?=-))")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, a heading or a cell."""

    raw: str
    source: MarkedText
    #: What begins its second line, the end of its lines, and the columns that they may take; 0 for a single line.
    indent: str
    line_end: str
    width: int
    #: The columns before its first line.
    n_before: int
    is_cell: bool

    def pieces(self, texts: Container[str]) -> Iterator[str]:
        """Yield what is in the file, with markup that has texts in pieces of its own."""
        at = 0
        for markup in (markup for mark in self.source.marks for markup in (mark.opening.strip(), mark.closing.strip())):
            if markup in texts and (start := self.raw.find(markup, at)) >= 0:
                yield from (self.raw[at:start], markup)
                at = start + len(markup)
        yield self.raw[at:]

    def fill(self, translation: Translation, changed: Mapping[str, str]) -> str:
        """Return the paragraph with another text.

        Args:
            changed: new markup for old.
        """
        if translation.text == self.source.text:
            return "".join(changed.get(piece, piece) for piece in self.pieces(changed))
        task = self.raw[:4] if re.match(r"\[[ xX]\] ", self.raw) else ""
        marks = (
            mark._replace(opening=replaced(mark.opening, changed), closing=replaced(mark.closing, changed))
            for mark in self.source.marks
        )
        source = replace(self.source, marks=tuple(marks))
        escape = escaped_near_links if any(mark.opening.startswith("[") for mark in source.marks) else escaped
        written = project(source, translation.text, translation.alignment, escape)
        written = written.replace("|", "\\|") if self.is_cell else written
        written = task + (written if source.marks[:1] and not written[:1].isalnum() else _guarded(written))
        lines = written.split("\n")
        if self.width:
            wrapped = [line for part in lines for line in self._wrapped(part)]
            lines = lines if any(_BLOCK.match(line) for line in wrapped[1:]) else wrapped
        return (self.line_end + self.indent).join(lines).replace(FIXED_SPACE, " ")

    def _wrapped(self, line: str) -> list[str]:
        return wrap(line.strip(), max(self.width - self.n_before, MIN_WIDTH))


class Lines:
    """The lines of a file, and the places of its paragraphs in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines, self._ends = lines_and_ends(text)
        sizes = (len(line) + len(end) for line, end in zip(self._lines, self._ends, strict=True))
        self._starts = [*accumulate(sizes, initial=0)]
        self.joined = "\n".join(self._lines)

    def block(self, token: Token) -> Stretch:
        """Return the place of the lines of a block."""
        return self.between(*(token.map or (0, 0)))

    def between(self, first: int, last: int) -> Stretch:
        """Return the place of the lines from the first to that before the last."""
        return self._starts[first], self._starts[last]

    def place(self, token: Token, after: int, *, is_cell: bool) -> Stretch | None:
        """Return the place of the text of a paragraph in the file; None if the parser has changed the text."""
        first, last = token.map or (0, 0)
        contents = token.content.split("\n")
        if not token.content or last - first < len(contents):
            return None
        places = []
        for number, content in enumerate(contents, first):
            line, start = self._lines[number], max(0, after - self._starts[number])
            column = line.find(content, start) if is_cell else line.rstrip().rfind(content.rstrip(), start)
            if column < 0 and "|" in content:
                content = content.replace("|", "\\|")
                column = line.find(content, start)
            if column < 0:
                return None
            places.append((self._starts[number] + column, self._starts[number] + column + len(content)))
        return places[0][0], places[-1][1]

    def paragraph(self, token: Token, place: Stretch, source: MarkedText, *, is_cell: bool) -> Paragraph:
        """Return the paragraph at a place."""
        first, _ = token.map or (0, 0)
        contents = token.content.split("\n")
        is_wrapped = len(contents) > 1
        second = self._lines[first + 1] if is_wrapped else ""
        indent = second[: max(0, second.find(contents[1]))] if is_wrapped else ""
        width = max(len(self._lines[first + number]) for number in range(len(contents))) if is_wrapped else 0
        raw = self.text[slice(*place)]
        before = place[0] - self._starts[first]
        return Paragraph(raw, source, indent, self._ends[first] or "\n", width, before, is_cell)


def _guarded(text: str) -> str:
    """Return a text whose beginning begins no block."""
    match = _BLOCK.match(text)
    return text[: match.start("mark")] + "\\" + text[match.start("mark") :] if match else text
