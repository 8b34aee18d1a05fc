"""How the cells of a table are told apart: the delimiter, and quoting as spreadsheets write it.

A cell that is quoted begins and ends with a quotation mark, and each mark inside it is doubled. Text has such marks
too. So a table counts as quoted only if every cell with a mark is quoted in this way, and if there is a reason for it:
a mark is doubled, a line break or a delimiter is kept inside a cell, or a whole column is quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dragoman.data.column_names import choose_by_name
from dragoman.errors import ConfigError

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
#: Lines that the delimiter and the columns are judged by; quoting is judged by the whole sample.
N_JUDGED = 1_000
#: A delimiter stands in nearly every line, and nearly all rows have the same number of cells.
_MOST = 0.9
#: A program that quotes each cell with a comma is known by so many of these cells.
_FEW = 5
#: A first line by which a spreadsheet says what the delimiter is.
_SEPARATOR = re.compile(r"sep=([\t,;])")
_ENDLESS = re.compile(r'"[^"]*+(?:""[^"]*+)*+\Z')


@dataclass(frozen=True)
class Layout:
    """How to cut a table into cells.

    Args:
        n_columns: cells of a row; 1 if there is no delimiter.
        n_before: rows before the first that is data or header.
    """

    delimiter: str
    is_quoted: bool
    n_columns: int
    n_before: int = 0


class _Score(NamedTuple):
    """Reasons for a delimiter; the first that differs between two decides."""

    is_named: bool  # the first row is a header
    has_evidence: bool  # of quoting
    has_tabs: bool  # in nearly every line
    share: float  # of the rows that have the usual number of cells
    n_columns: int

    @property
    def is_sure(self) -> bool:
        """True if this is no accident of punctuation."""
        return self.is_named or self.has_evidence or self.share == 1


@dataclass
class _Parsed:
    """A sample, read as quoted."""

    rows: list[list[str]]
    n_bad: int = 0
    n_doubled: int = 0
    n_whole_rows: int = 0
    has_whole_column: bool = False
    quotes_commas: bool = False


def find_layout(lines: Sequence[str], *, is_csv: bool) -> Layout:
    """Find the layout of a table by its first lines.

    Args:
        is_csv: whether the name of the file ends in .csv, where a comma is likelier than a tab.
    """
    if lines and (separator := _SEPARATOR.fullmatch(lines[0].strip(" \r"))):
        return replace(_judge(lines[1:], separator[1])[0], n_before=1)
    order = (",", ";", "\t") if is_csv else ("\t", ",", ";")
    head = [line for line in lines if line.strip()][:N_JUDGED]
    found = {delimiter: _judge(head, delimiter) for delimiter in order}
    best = max(order, key=lambda delimiter: found[delimiter][1])  # the first of equally good ones
    if best != "\t" and not is_csv and not found[best][1].is_sure:
        best = "\t"  # commas are in most text; such a table is read only if every row agrees
    return _judge(lines, best)[0] if '"' in "".join(lines[N_JUDGED:]) else found[best][0]


def cut(lines: Sequence[str], layout: Layout) -> list[list[str]]:
    """Return the rows of a sample that have the right number of cells."""
    lines = lines[layout.n_before :]
    if layout.is_quoted:
        rows = _parse(lines, layout.delimiter).rows
    else:
        rows = [line.split(layout.delimiter) for line in lines]
    return [row for row in rows if len(row) == layout.n_columns and any(map(str.strip, row))]


def _judge(lines: Sequence[str], delimiter: str) -> tuple[Layout, _Score]:
    """Return the layout with this delimiter, and how well it fits."""
    rows = [line.split(delimiter) for line in lines if line.strip()]
    n_columns, share = _usual(rows)
    is_everywhere = delimiter == "\t" and sum(len(row) > 1 for row in rows) >= _MOST * len(rows) > 0
    is_quoted, has_evidence = delimiter != "\t", False
    if any('"' in line for line in lines):
        parsed = _parse(lines, delimiter)
        n_quoted, quoted_share = _usual(parsed.rows)
        has_evidence = quoted_share >= share and _is_evidence(parsed, quoted_share > share)
        is_quoted = has_evidence or (is_quoted and not parsed.n_bad)
        if is_quoted:
            rows, n_columns, share = parsed.rows, n_quoted, quoted_share
    fits = share >= _MOST
    is_named = fits and bool(rows) and _is_header(rows[0])
    score = _Score(is_named, fits and has_evidence, is_everywhere, share, n_columns)
    return Layout(delimiter, is_quoted, n_columns), score


def _is_evidence(parsed: _Parsed, mends_rows: bool) -> bool:
    if parsed.n_bad:
        return parsed.n_whole_rows >= _MOST * (len(parsed.rows) + parsed.n_bad)
    return parsed.n_doubled > 0 or parsed.has_whole_column or parsed.quotes_commas or mends_rows


def _usual(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """The most frequent number of cells above one, and the share of the rows that have it; (1, 0) without any."""
    counts = Counter(len(row) for row in rows)
    several = [(size, n) for size, n in counts.most_common() if size > 1]
    return (several[0][0], several[0][1] / len(rows)) if several else (1, 0.0)


def _is_header(names: Sequence[str]) -> bool:
    if len(names) < 2 or any(len(name) > 60 for name in names):
        return False
    try:
        return choose_by_name(names, (None, None)) is not None
    except ConfigError:
        return True  # it names more than two languages


def _parse(lines: Sequence[str], delimiter: str) -> _Parsed:
    """Read lines as quoted; a row with a mark in the wrong place is passed over, and counted."""
    text = "\n".join(lines) + "\n"
    found = _Parsed([])
    commas = Counter[bool]()
    marks: list[list[bool]] = []
    row: list[str] = []
    marked: list[bool] = []
    for cell, is_marked, end in _cells(text, delimiter):
        if end is None:
            found.n_bad += 1
            row, marked = [], []
            continue
        row.append(cell)
        marked.append(is_marked)
        found.n_doubled += is_marked and '"' in cell
        if "," in cell and delimiter == "\t":
            commas[is_marked] += 1
        if end == "\n":
            if any(map(str.strip, row)):
                found.rows.append(row)
                marks.append(marked)
                found.n_whole_rows += all(marked)
            row, marked = [], []
    found.has_whole_column = _has_whole_column(found.rows, marks)
    found.quotes_commas = commas[True] >= _FEW and not commas[False]
    return found


def _has_whole_column(rows: Sequence[Sequence[str]], marks: Sequence[Sequence[bool]]) -> bool:
    """Say if every cell of a column is quoted, except perhaps its name; of few rows, every cell of all columns."""
    if len(rows) < _FEW:
        return bool(rows) and all(map(all, marks))
    for at in range(_usual(rows)[0]):
        cells = [(row[at], marked[at]) for row, marked in zip(rows[1:], marks[1:], strict=True) if len(row) > at]
        if any(marked and cell for cell, marked in cells) and all(marked or not cell for cell, marked in cells):
            return True
    return False


def _cells(text: str, delimiter: str) -> Iterator[tuple[str, bool, str | None]]:
    """Yield each cell, whether it is quoted, and what ends it; no end for a row that is wrong.

    A quoted cell that does not end ends the sample: the rest of it may not be there.
    """
    cell = re.compile(rf'(?:"([^"]*+(?:""[^"]*+)*+)"|([^"\n{delimiter}]*+))([{delimiter}\n])')
    at = 0
    while at < len(text) and not _ENDLESS.match(text, at):
        if match := cell.match(text, at):
            is_marked = match[1] is not None
            yield (match[1].replace('""', '"') if is_marked else match[2]), is_marked, match[3]
            at = match.end()
        else:
            yield "", False, None
            at = text.index("\n", at) + 1
