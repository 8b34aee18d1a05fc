"""A paragraph of Markdown: its place in the lines of its file, and how a translation is written there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from markdown_it.token import Token

from dragoman.documents.mark_projection import project
from dragoman.documents.markdown_emphasis import place_emphasis, with_places
from dragoman.documents.markdown_lines import QUOTED
from dragoman.documents.markdown_marks import FIXED_SPACE, MarkedLine
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
    #: It stands between quotation marks.
    is_quoted: bool = False

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
        marks = (
            mark._replace(opening=replaced(mark.opening, changed), closing=replaced(mark.closing, changed))
            for mark in self.source.marks
        )
        source = replace(self.source, marks=tuple(map(with_places, marks)))
        escape = escaped_near_links if any(mark.opening.startswith("[") for mark in source.marks) else escaped
        written = place_emphasis(project(source, translation.text, translation.alignment, escape))
        written = written.replace("|", "\\|") if self.is_cell else written
        written = written.replace('"', "'") if self.is_quoted else written
        written = written if source.marks[:1] and not written[:1].isalnum() else _guarded(written)
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

    def places(self, token: Token, after: int, *, is_cell: bool) -> list[Stretch]:
        """Return the place of each line of a paragraph in the file; nothing if the parser has changed the text."""
        first, last = token.map or (0, 0)
        contents = token.content.split("\n")
        if not token.content or last - first < len(contents):
            return []
        places = []
        for number, content in enumerate(contents, first):
            line, start = self._lines[number], max(0, after - self._starts[number])
            column = line.find(content, start) if is_cell else line.rstrip().rfind(content.rstrip(), start)
            if column < 0 and "|" in content:
                content = content.replace("|", "\\|")
                column = line.find(content, start)
            if column < 0:
                return []
            places.append((self._starts[number] + column, self._starts[number] + column + len(content)))
        return places

    def paragraphs(
        self, token: Token, places: Sequence[Stretch], lines: Sequence[MarkedLine], *, is_cell: bool
    ) -> Iterator[str | Paragraph]:
        """Yield the segments of a paragraph, and what is between them in the file.

        Args:
            places: of its lines.
            lines: those that hard breaks part.
        """
        first, _ = token.map or (0, 0)
        contents = token.content.split("\n")
        starts = [*accumulate((len(content) + 1 for content in contents), initial=0)]
        at = places[0][0]
        for line in lines:
            core = token.content[line.start : line.end].strip()
            if not core:
                continue
            begin = token.content.index(core, line.start)
            top, bottom = (bisect_right(starts, place) - 1 for place in (begin, begin + len(core)))
            start = self._in_file(places[top], contents[top], begin - starts[top])
            end = self._in_file(places[bottom], contents[bottom], begin + len(core) - starts[bottom])
            is_wrapped = bottom > top
            second = self._lines[first + top + 1] if is_wrapped else ""
            indent = second[: max(0, second.find(contents[top + 1]))] if is_wrapped else ""
            width = max(map(len, self._lines[first + top : first + bottom + 1])) if is_wrapped else 0
            yield self.text[at:start]
            n_before, line_end = start - self._starts[first + top], self._ends[first] or "\n"
            is_quoted = bool(token.meta.get(QUOTED))
            yield Paragraph(self.text[start:end], line.text, indent, line_end, width, n_before, is_cell, is_quoted)
            at = end
        yield self.text[at : places[-1][1]]

    def _in_file(self, place: Stretch, content: str, column: int) -> int:
        """Return the place in the file of a column of a line, which may have more backslashes there."""
        is_same = self.text[slice(*place)] == content
        return place[0] + (column if is_same else len(content[:column].replace("|", "\\|")))


def _guarded(text: str) -> str:
    """Return a text whose beginning begins no block."""
    match = _BLOCK.match(text)
    is_block = match is not None and match["mark"] != "```"  # which only code begins with here
    return text[: match.start("mark")] + "\\" + text[match.start("mark") :] if match and is_block else text
