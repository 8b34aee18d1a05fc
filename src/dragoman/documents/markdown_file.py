"""Markdown files: blocks, code, tags and targets of links stay as they are; their text is translated.

A segment is a paragraph, a heading, or a cell of a table. Its emphasis and links are marks, its code is verbatim.
Blocks of HTML are read as web pages; their attributes stay. Blocks of code, link definitions and front matter are left
alone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from markdown_it.token import Token

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.document import Segment, TextFile
from dragoman.documents.html_page import html_parts
from dragoman.documents.mark_projection import project
from dragoman.documents.markdown_marks import FIXED_SPACE, MarkdownParser
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
from dragoman.translator import Translation

_LINE_END = re.compile(r"(\r\n|\n|\r)")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
#: Characters that would begin markup.
_MARKUP = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?!\s)|(?<!\s)\*|(?<!\w)_|_(?!\w)|\[(?=[^\]]*\](?:[\[(:]|\Z))|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)|~(?=~)"
)
#: The beginning of a line that would begin a block: a list, a quote, a heading, a fence, a line below a heading.
_BLOCK = re.compile(r"(?P<number>\d{1,9})?(?P<mark>[-+*>#=|]|(?<=\d)[.)]|~~~|```|:(?=-))")
_MIN_WIDTH = 40
#: The most characters of a paragraph; to find the emphasis in it takes up to a time of their square.
_LONGEST = 100_000


@dataclass(frozen=True)
class _Paragraph:
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

    def fill(self, translation: Translation) -> str:
        """Return the paragraph with another text."""
        if translation.text == self.source.text:
            return self.raw
        task = self.raw[:4] if re.match(r"\[[ xX]\] ", self.raw) else ""
        written = project(self.source, translation.text, translation.alignment, self._escape)
        written = task + (written if self.source.marks[:1] and not written[:1].isalnum() else _guarded(written))
        lines = written.split("\n")
        if self.width:
            wrapped = [line for part in lines for line in self._wrapped(part)]
            lines = lines if any(_BLOCK.match(line) for line in wrapped[1:]) else wrapped
        return (self.line_end + self.indent).join(lines).replace(FIXED_SPACE, " ")

    def _wrapped(self, line: str) -> list[str]:
        width = max(self.width - self.n_before, _MIN_WIDTH)
        return textwrap.wrap(line.strip(), width, break_long_words=False, break_on_hyphens=False)

    def _escape(self, text: str) -> str:
        text = _MARKUP.sub(lambda match: "\\" + match[0], text.replace("\n", " "))
        return text.replace("|", "\\|") if self.is_cell else text


def parse_markdown(content: bytes, name: Path) -> TextFile:
    """Find the segments of a Markdown file.

    Raises:
        DataError: it is not UTF-8, its blocks are nested too deeply, or a paragraph is too long.
    """
    mark, text = decode(content, name)
    try:
        return TextFile(mark, tuple(_parts(text, name)))
    except RecursionError:
        raise DataError("markup nested too deeply", name, advice="simplify it") from None


def _parts(text: str, name: Path) -> Iterator[str | Segment]:
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    lines = _Lines(text[start:])
    parser = MarkdownParser()
    references: dict[str, Any] = {}
    yield text[:start]
    at = 0
    for token in parser.blocks.parse(lines.joined, references):
        if token.type == "html_block":
            start_of_block, end_of_block = lines.block(token)
            block = lines.text[start_of_block:end_of_block]
            if start_of_block >= at and _is_whole(token, block):
                yield lines.text[at:start_of_block]
                yield from _html(block, name)
                at = end_of_block
            continue
        place = lines.place(token, at) if token.type == "inline" else None
        if place is None:
            continue
        if len(token.content) > _LONGEST:
            line = text.count("\n", 0, start + place[0]) + 1
            raise DataError(f"a paragraph of more than {_LONGEST:,} characters", name, line=line, advice="split it")
        source = parser.marked(token.content, references)
        if not source.has_words:
            continue
        yield lines.text[at : place[0]]
        yield lines.paragraph(token, place, source)
        at = place[1]
    yield lines.text[at:]


class _Lines:
    """The lines of a file, and the places of its paragraphs in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = [*_LINE_END.split(text), ""]
        self._lines, self._ends = pieces[::2], pieces[1::2]
        sizes = (len(line) + len(end) for line, end in zip(self._lines, self._ends, strict=True))
        self._starts = [*accumulate(sizes, initial=0)]
        self.joined = "\n".join(self._lines)

    def block(self, token: Token) -> Stretch:
        """Return the place of the lines of a block."""
        first, last = token.map or (0, 0)
        return self._starts[first], self._starts[last]

    def place(self, token: Token, after: int) -> Stretch | None:
        """Return the place of the text of a paragraph in the file; None if the parser has changed the text."""
        first, last = token.map or (0, 0)
        contents = token.content.split("\n")
        if not token.content or last - first < len(contents):
            return None
        is_cell = token.level > 2 and len(contents) == 1 and "|" in self._lines[first]
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

    def paragraph(self, token: Token, place: Stretch, source: MarkedText) -> _Paragraph:
        """Return the paragraph at a place."""
        first, _ = token.map or (0, 0)
        contents = token.content.split("\n")
        is_wrapped = len(contents) > 1
        second = self._lines[first + 1] if is_wrapped else ""
        indent = second[: max(0, second.find(contents[1]))] if is_wrapped else ""
        width = max(len(self._lines[first + number]) for number in range(len(contents))) if is_wrapped else 0
        raw = self.text[slice(*place)]
        before = place[0] - self._starts[first]
        is_cell = "|" in self._lines[first] and not is_wrapped
        return _Paragraph(raw, source, indent, self._ends[first] or "\n", width, before, is_cell)


def _is_whole(token: Token, block: str) -> bool:
    """Return True if a block of HTML has lines of its own, not those of a quote or a list."""
    return "".join(token.content.split()) == "".join(block.split())


def _html(block: str, name: Path) -> list[str | Segment]:
    """Return the parts of a block of HTML; all of it as it is if it cannot be read."""
    try:
        return html_parts(block, name)
    except DataError:
        return [block]


def _guarded(text: str) -> str:
    """Return a text whose beginning begins no block."""
    match = _BLOCK.match(text)
    return text[: match.start("mark")] + "\\" + text[match.start("mark") :] if match else text
