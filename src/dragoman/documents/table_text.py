"""The text of a table: the places of its cells, so that the others stay byte for byte, and how a cell is written.

Rows are those of Python's `csv.reader` with `strict=True` and `skipinitialspace=True`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dragoman.data.formats.delimiters import DELIMITERS, find_layout
from dragoman.data.formats.pair_file import SAMPLE_CHARACTERS, SAMPLE_LINES
from dragoman.data.text_files.compression import HEAD_BYTES
from dragoman.data.text_files.file_signatures import refuse_other_formats
from dragoman.data.text_files.whole_files import decode
from dragoman.errors import DataError, counted

_LINE_END = re.compile(r"\r\n|\n|\r")
_QUOTED = r' *+"[^"]*+(?:""[^"]*+)*+'
_ENDLESS = re.compile(rf"{_QUOTED}\Z")
#: The most characters of a cell to translate: as many as `csv.reader` accepts.
MAX_CHARACTERS = 131_072

#: Start and end of a cell in the text.
Place = tuple[int, int]


@dataclass(frozen=True)
class TableText:
    """The text of a table.

    Args:
        is_quoted: a quotation mark at the start of a cell quotes it; else all marks are text.
        start: of the first row.
    """

    name: Path
    mark: bytes
    text: str
    delimiter: str
    is_quoted: bool
    start: int

    def rows(self) -> Iterator[list[Place]]:
        """Yield the cells of each row that is not blank.

        Raises:
            DataError: a row is badly quoted, or has more or fewer cells than the first.
        """
        at, n_columns = self.start, 0
        while at < len(self.text):
            row = self._row(at)
            begin, end = at, row[-1][1]
            at = end + 2 if self.text.startswith("\r\n", end) else end + 1
            if len(row) == 1 and not self.text[begin:end].strip():
                continue
            n_columns = n_columns or len(row)
            if len(row) != n_columns:
                cells = counted(len(row), "cell")
                advice = f"cells stand between {self.delimiter_name}s; quote a cell that has one inside"
                raise self.error(f"{cells}, and the first row has {n_columns}", begin, advice)
            yield row

    def value(self, place: Place) -> str:
        """Return the value of a cell."""
        raw = self.raw(place)
        return raw.strip(" ")[1:-1].replace('""', '"') if self._is_marked(raw) else raw

    def raw(self, place: Place) -> str:
        """Return a cell as it is written."""
        return self.text[slice(*place)]

    def written(self, value: str, like: str) -> str:
        """Return another value as it is written: quoted if it must be, or if a cell is that it replaces."""
        if not self.is_quoted:
            return re.sub(rf"[{re.escape(self.delimiter)}\r\n]+", " ", value)
        if self._is_marked(like) or value.startswith(" ") or re.search(rf'["\r\n{re.escape(self.delimiter)}]', value):
            return '"' + value.replace('"', '""') + '"'
        return value

    def error(self, problem: str, at: int, advice: str) -> DataError:
        """Return an error at a place of the text."""
        return DataError(problem, self.name, line=self.line(at), advice=advice)

    def line(self, at: int) -> int:
        """Return the number of the line at a place of the text."""
        return _line(self.text, at)

    @property
    def delimiter_name(self) -> str:
        """The name of the delimiter."""
        return DELIMITERS[self.delimiter]

    @cached_property
    def _cell(self) -> re.Pattern[str]:
        plain = rf"[^{re.escape(self.delimiter)}\r\n]*+"
        if not self.is_quoted:
            return re.compile(plain)
        return re.compile(rf'{_QUOTED}"(?=[{re.escape(self.delimiter)}\r\n]|\Z)|(?! *"){plain}')

    def _row(self, at: int) -> list[Place]:
        row: list[Place] = []
        while True:
            match = self._cell.match(self.text, at)
            if match is None:
                is_endless = _ENDLESS.match(self.text, at) is not None
                problem = "a quoted cell without its end" if is_endless else "text after the end of a quoted cell"
                raise self.error(problem, at, "a quotation mark inside a quoted cell is written twice")
            row.append(match.span())
            at = match.end()
            if not self.text.startswith(self.delimiter, at):
                return row
            at += 1

    def _is_marked(self, raw: str) -> bool:
        return self.is_quoted and raw.lstrip(" ").startswith('"')


def read_table(content: bytes, name: Path, *, is_csv: bool) -> TableText:
    """Read a table; its first lines decide on the delimiter, and if tabs are between the cells, on the quoting.

    Args:
        is_csv: a comma is likelier than a tab.

    Raises:
        DataError: it is not UTF-8, is no text, or is empty.
    """
    refuse_other_formats(content[:HEAD_BYTES], name)
    mark, text = decode(content, name)
    if "\0" in text:
        line = _line(text, text.index("\0"))
        raise DataError("a NUL character", name, line=line, advice="save the table as CSV in UTF-8 again")
    lines = _LINE_END.split(text[:SAMPLE_CHARACTERS])[:SAMPLE_LINES]
    layout = find_layout(lines, is_csv=is_csv)
    end = _LINE_END.search(text) if layout.n_before else None
    start = 0 if end is None else end.end()
    if not text[start:].strip():
        raise DataError("an empty table", name, line=1, advice="give one with rows")
    return TableText(name, mark, text, layout.delimiter, layout.is_quoted or layout.delimiter != "\t", start)


def _line(text: str, at: int) -> int:
    return len(_LINE_END.findall(text, 0, at)) + 1
