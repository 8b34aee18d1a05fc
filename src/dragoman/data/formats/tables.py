"""Tables of pairs: which columns are the pair, and the pairs of a file in order.

The delimiter, quoting, header and columns of a table are decided once, by its first lines, so that every pass over the
file reads the same.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from dragoman.data.formats.column_choice import Columns, choose_columns, join_lines
from dragoman.data.formats.column_names import Languages
from dragoman.data.formats.delimiters import DELIMITERS, Layout, find_layout
from dragoman.data.formats.json_lines import Keys, find_keys, is_json, read_objects
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import Line, Unreadable, check_text_file, count_lines, read_lines
from dragoman.errors import DataError

#: (line, source, target): a pair, and the line of the file where it begins.
NumberedLine = tuple[int, Line, Line]
InvalidUtf8 = Literal["error", "drop"]

#: The sample by which a table is judged.
SAMPLE_LINES, SAMPLE_CHARACTERS = 20_000, 4_000_000


@dataclass(frozen=True)
class Table:
    """A file of pairs, ready to be read.

    Args:
        numbered: starts reading: each pair, also those with an unreadable side, and the line where it begins.
        count: counts the pairs.
        languages: of source and target, as far as the file says them.
        notes: what the file was taken for, for a person.
    """

    numbered: Callable[[], Iterator[NumberedLine]]
    count: Callable[[], int]
    languages: Languages
    notes: tuple[str, ...]


def open_table(path: Path, wanted: Languages, columns: str | None, invalid_utf8: InvalidUtf8) -> Table:
    """Judge a file of pairs by its first lines.

    Args:
        wanted: the languages of source and target, as far as they are known.
        columns: the two columns, by number or name ("2,4", "en,de"); found if not given.

    Raises:
        DataError: the file cannot be read, or it does not show which columns are the pair.
        ConfigError: its header contradicts the languages or columns that are wanted.
    """
    state = check_text_file(path)
    refuse_documents(path, allow_tables=True)
    reader = _Reader(path, invalid_utf8, state)
    sample = reader.sample()
    if not sample:
        return Table(reader.empty, lambda: count_lines(path), (None, None), ())
    if is_json(path, sample):
        keys = find_keys(path, sample, wanted, columns)
        numbered = _Objects(reader, keys).numbered
        return Table(numbered, lambda: count_lines(path), keys.languages, keys.notes)
    layout = find_layout(sample, is_csv=".csv" in path.suffixes)
    if layout.n_columns < 2:
        advice = "put a tab between source and target, or give two files: --source and --target"
        raise DataError("one column, where a pair needs two", path, line=1, advice=advice)
    found = choose_columns(path, sample, layout, wanted, columns)
    table = _Delimited(reader, layout, found)
    return Table(table.numbered, table.count, found.languages, found.notes)


@dataclass(frozen=True)
class _Reader:
    """The lines of a file, the same in every pass."""

    path: Path
    invalid_utf8: InvalidUtf8
    state: os.stat_result

    def lines(self) -> Iterator[Line]:
        return read_lines(self.path, self.invalid_utf8, self.state, allow_json=True)

    def sample(self) -> list[str]:
        """The first lines that can be read; none if they are all blank."""
        found: list[str] = []
        n_characters = 0
        for line in islice(self.lines(), SAMPLE_LINES):
            found.append(line if isinstance(line, str) else "")  # so that a line keeps its number
            n_characters += len(found[-1])
            if n_characters > SAMPLE_CHARACTERS:
                break
        return found if any(map(str.strip, found)) else []

    def empty(self) -> Iterator[NumberedLine]:
        """Lines of which none of the first can be read, or has text."""
        for number, line in enumerate(self.lines(), start=1):
            if isinstance(line, str) and line.strip():
                raise DataError(f"only blank lines before this, the first {SAMPLE_LINES:,}", self.path, line=number)
            side = "" if isinstance(line, str) else line
            yield number, side, side


@dataclass(frozen=True)
class _Objects:
    """JSON, one object a line."""

    reader: _Reader
    keys: Keys

    def numbered(self) -> Iterator[NumberedLine]:
        return read_objects(self.reader.lines(), self.keys, self.reader.path)


@dataclass(frozen=True)
class _Delimited:
    """Rows of cells."""

    reader: _Reader
    layout: Layout
    columns: Columns

    def count(self) -> int:
        if self.layout.is_quoted:
            return sum(1 for _ in self.numbered())
        return max(0, count_lines(self.reader.path) - self.columns.n_heading)

    def numbered(self) -> Iterator[NumberedLine]:
        rows = self._quoted_rows() if self.layout.is_quoted else self._plain_rows()
        source, target, n_columns = self.columns.source, self.columns.target, self.layout.n_columns
        for number, row in islice(rows, self.columns.n_heading, None):
            if isinstance(row, Unreadable):
                yield number, row, row
            elif not any(map(str.strip, row)):
                yield number, "", ""
            elif len(row) != n_columns:
                raise self._wrong(number, len(row))
            else:
                yield number, row[source], row[target]

    def _plain_rows(self) -> Iterator[tuple[int, list[str] | Unreadable]]:
        delimiter = self.layout.delimiter
        for number, line in enumerate(self.reader.lines(), start=1):
            yield number, (line if isinstance(line, Unreadable) else line.split(delimiter))

    def _quoted_rows(self) -> Iterator[tuple[int, list[str] | Unreadable]]:
        feed = _Feed(self.reader.lines())
        rows = csv.reader(feed, delimiter=self.layout.delimiter, skipinitialspace=True, strict=True)
        while True:
            begin = feed.begin_row()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                advice = "mend the line; a mark inside a quoted cell is written twice"
                raise DataError(
                    f"wrong quotation marks ({error})", self.reader.path, line=begin, advice=advice
                ) from None
            yield begin, (feed.unreadable or [join_lines(cell) for cell in row])

    def _wrong(self, number: int, n_cells: int) -> DataError:
        delimiter = DELIMITERS[self.layout.delimiter]
        what = f"{n_cells} column{'s' * (n_cells != 1)}, and {self.layout.n_columns} in most lines"
        advice = (
            f"each line must have {self.layout.n_columns} columns with a {delimiter} between them; mend or remove it"
        )
        return DataError(what, self.reader.path, line=number, advice=advice)


class _Feed:
    """Lines for `csv.reader`, which counts none that it was not given."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._number = 0
        self.unreadable: Unreadable | None = None

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._number += 1
        if isinstance(line, Unreadable):
            self.unreadable = line
            return "\n"
        return line.replace("\r", " ") + "\n"  # elsewhere than in a quoted cell it is an error of the module

    def begin_row(self) -> int:
        """Forget the row before; return the number of the next line."""
        self.unreadable = None
        return self._number + 1
