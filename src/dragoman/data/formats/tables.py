"""Tables of pairs, with any delimiter, quoted or not.

The first lines decide once on delimiter, quoting, header and columns, so that every pass over the file reads the same.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dragoman.data.formats.column_choice import Columns, choose_columns, join_lines
from dragoman.data.formats.delimiters import DELIMITERS, Layout, find_layout
from dragoman.data.formats.pair_file import LocatedPair, PairFile, PairRequest, TextFile, open_blank
from dragoman.data.text_files.lines import Line, Unreadable, count_lines
from dragoman.errors import DataError, counted

SUFFIXES = frozenset((".tsv", ".csv"))


def open_table(request: PairRequest) -> PairFile:
    """Return the pairs of a table, judged by its first lines.

    Raises:
        DataError: the file cannot be read, or it does not show which columns are the pair.
        ConfigError: its header contradicts the requested languages or columns.
    """
    path, sample = request.path, request.sample
    if not sample:
        return open_blank(request.text)
    layout = find_layout(sample, is_csv=".csv" in path.suffixes)
    if layout.n_columns < 2:
        advice = "put a tab between source and target, or give two files: --source and --target"
        raise DataError("one column, where a pair needs two", path, line=1, advice=advice)
    columns = choose_columns(path, sample, layout, request.languages, request.columns)
    table = _Table(request.text, layout, columns)
    return PairFile(table.read, table.count, columns.languages, columns.notes)


@dataclass(frozen=True)
class _Table:
    """Rows of cells."""

    text: TextFile
    layout: Layout
    columns: Columns

    def count(self) -> int:
        if self.layout.is_quoted:
            return sum(1 for _ in self.read())
        return max(0, count_lines(self.text.path) - self.columns.n_heading)

    def read(self) -> Iterator[LocatedPair]:
        rows = self._quoted_rows() if self.layout.is_quoted else self._plain_rows()
        source, target, n_columns = self.columns.source, self.columns.target, self.layout.n_columns
        for number, row in islice(rows, self.columns.n_heading, None):
            if isinstance(row, Unreadable):
                yield number, row, row
            elif not any(map(str.strip, row)):
                yield number, "", ""
            elif len(row) != n_columns:
                raise self._row_error(number, len(row))
            else:
                yield number, row[source], row[target]

    def _plain_rows(self) -> Iterator[tuple[int, list[str] | Unreadable]]:
        delimiter = self.layout.delimiter
        for number, line in enumerate(self.text.lines(), start=1):
            yield number, (line if isinstance(line, Unreadable) else line.split(delimiter))

    def _quoted_rows(self) -> Iterator[tuple[int, list[str] | Unreadable]]:
        feed = _LineFeed(self.text.lines())
        rows = csv.reader(feed, delimiter=self.layout.delimiter, skipinitialspace=True, strict=True)
        while True:
            begin = feed.begin_row()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                advice = "mend the line; a mark inside a quoted cell is written twice"
                raise DataError(f"wrong quotation marks ({error})", self.text.path, line=begin, advice=advice) from None
            yield begin, (feed.unreadable or [join_lines(cell) for cell in row])

    def _row_error(self, number: int, n_cells: int) -> DataError:
        delimiter = DELIMITERS[self.layout.delimiter]
        problem = f"{counted(n_cells, 'column')}, and {self.layout.n_columns} in most lines"
        advice = (
            f"each line must have {self.layout.n_columns} columns with a {delimiter} between them; mend or remove it"
        )
        return DataError(problem, self.text.path, line=number, advice=advice)


class _LineFeed:
    """Lines for `csv.reader`, counted as it takes them."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._number = 0
        self.unreadable: Unreadable | None = None

    def __iter__(self) -> _LineFeed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._number += 1
        if isinstance(line, Unreadable):
            self.unreadable = line
            return "\n"
        return line.replace("\r", " ") + "\n"  # the module accepts it in quoted cells only

    def begin_row(self) -> int:
        """Forget the row before; return the number of the next line."""
        self.unreadable = None
        return self._number + 1
