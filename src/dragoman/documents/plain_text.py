"""Plain text as a document: blank lines, line ends, indentation, list marks and a byte order mark stay as they are.

A segment is a line, or several lines if they look like one that was wrapped. In a line with columns, each is a segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.text_files.compression import HEAD_BYTES
from dragoman.data.text_files.file_signatures import refuse_other_formats
from dragoman.data.text_files.whole_files import decode
from dragoman.documents.columns import Cell, split_columns
from dragoman.documents.document import Segment, TextFile
from dragoman.documents.wrapping import MIN_WIDTH, lines_and_ends, wrap
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.languages import UNSPACED
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: The end of a sentence, and the mark of a list item: no line is wrapped there.
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'»”’)\]]*\Z")
_MARK = re.compile(r"([-*•·–—+>#|]|[0-9]{1,3}[.)])\s+(?=\S)")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True)
class _Line:
    """A line with text: the characters before the text, the text, and the characters after it, with the line end."""

    indent: str
    text: str
    end: str
    is_item: bool
    #: Those before the text, in a line with columns.
    cells: tuple[Cell, ...] = ()

    @property
    def column(self) -> int:
        """The place of the text in the line."""
        return len(self.indent) + sum(len(cell.text) + len(cell.gap) for cell in self.cells)

    @property
    def width(self) -> int:
        """Columns that the line takes."""
        return self.column + len(self.text)

    def is_wrapped_before(self, other: _Line, width: int) -> bool:
        """Return True if the next line continues this one: its first word did not fit into the width of the
        paragraph."""
        first = other.text.split()[0]
        return (
            self.width + 1 + len(first) > width >= MIN_WIDTH
            and not _SENTENCE_END.search(self.text)
            and not other.is_item
            and not (self.cells and self.column != other.column)
            and not _UNSPACED.search(self.text[-1] + other.text[0])
        )


@dataclass(frozen=True)
class _CellSegment:
    """A column that others follow."""

    cell: Cell

    @property
    def source(self) -> MarkedText:
        """Its text."""
        return MarkedText(self.cell.text)

    def fill(self, translation: Translation) -> str:
        """Return it with another text, and the spaces after it."""
        return self.cell.padded(translation.text)


@dataclass(frozen=True)
class _Segment:
    """Lines that are translated as one, and the columns that they may take."""

    lines: tuple[_Line, ...]
    width: int

    @property
    def source(self) -> MarkedText:
        """The lines, joined."""
        return MarkedText(" ".join(line.text for line in self.lines))

    def fill(self, translation: Translation) -> str:
        """Return the lines with another text, wrapped if the old lines were."""
        first, last = self.lines[0], self.lines[-1]
        indent = "" if first.cells else first.indent  # written before the cells
        if translation.text == self.source.text:
            return indent + "".join(line.indent + line.text + line.end for line in self.lines)[len(first.indent) :]
        if len(self.lines) == 1:
            return indent + translation.text + first.end
        first_indent = " " * first.column if first.cells else first.indent
        wrapped = wrap(translation.text, self.width, first_indent, self.lines[1].indent)
        line_end = first.end[len(first.end.rstrip("\r\n")) :]
        return line_end.join(wrapped)[first.column if first.cells else 0 :] + last.end


def parse_text(content: bytes, name: Path) -> TextFile:
    """Find the segments of a text file.

    Raises:
        DataError: it is not UTF-8, or no plain text.
    """
    refuse_other_formats(content[:HEAD_BYTES], name)
    mark, text = decode(content, name)
    return TextFile(mark, tuple(text_parts(text)))


def text_parts(text: str) -> Iterator[str | Segment]:
    """Yield the segments of a text, and what is between them."""
    paragraph: list[tuple[str, str]] = []
    for line, end in zip(*lines_and_ends(text), strict=True):
        if line.strip():
            paragraph.append((line, end))
        else:
            yield from _paragraph_parts(paragraph)
            paragraph = []
            yield line + end
    yield from _paragraph_parts(paragraph)


def _paragraph_parts(paragraph: Sequence[tuple[str, str]]) -> Iterator[str | Segment]:
    """Yield the segments of a paragraph, given its lines with their ends. A message of ICU over lines is one."""
    lines: list[tuple[str, str]] = []
    depth = 0
    for line, end in paragraph:
        if depth <= 0 and has_icu_message(line):
            yield from _segments([*_lines(lines)])
            lines, depth = [], line.count("{") - line.count("}")
        elif depth > 0:
            depth += line.count("{") - line.count("}")
        else:
            lines.append((line, end))
            continue
        lines.append((line, end))
        if depth <= 0:
            yield _message(lines)
            lines = []
    yield from [_message(lines)] if depth > 0 else _segments([*_lines(lines)])


def _message(lines: Sequence[tuple[str, str]]) -> _Segment:
    """Return lines as one segment."""
    parted = [
        (line[: len(line) - len(line.lstrip())], line.strip(), line[len(line.rstrip()) :], end) for line, end in lines
    ]
    return _Segment(tuple(_Line(indent, core, behind + end, False) for indent, core, behind, end in parted), 0)


def _lines(paragraph: Sequence[tuple[str, str]]) -> Iterator[_Line]:
    """Yield the lines of a paragraph, given each with its line end."""
    for (line, end), cells in zip(paragraph, split_columns([line for line, _ in paragraph]), strict=True):
        core = line.strip()
        indent, _, behind = line.partition(core)
        mark = _MARK.match(core)
        if len(cells) > 1 and not mark:
            yield _Line(indent, cells[-1].text, behind + end, is_item=True, cells=tuple(cells[:-1]))
            continue
        text = core[mark.end() :] if mark else core
        yield _Line(indent + core[: len(core) - len(text)], text, behind + end, mark is not None)


def _segments(paragraph: Sequence[_Line]) -> Iterator[str | Segment]:
    width = max((line.width for line in paragraph), default=0)
    lines: list[_Line] = []
    for line in paragraph:
        if lines and not lines[-1].is_wrapped_before(line, width):
            yield from _parts_of(lines, width)
            lines = []
        lines.append(line)
    if lines:
        yield from _parts_of(lines, width)


def _parts_of(lines: Sequence[_Line], width: int) -> Iterator[str | Segment]:
    """Yield the columns before the text of the first line, and the segment of all lines."""
    if lines[0].cells:
        yield lines[0].indent
    for cell in lines[0].cells:
        yield _CellSegment(cell) if cell.is_translated else cell.text + cell.gap
    yield _Segment(tuple(lines), width)
