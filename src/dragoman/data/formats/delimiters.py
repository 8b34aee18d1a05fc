"""Cells of a table: its delimiter, and quotation marks as spreadsheets write them.

A quoted cell begins and ends with a quotation mark, and each mark inside is doubled. Text has such marks too. So a
table counts as quoted only if every cell with a mark is quoted in this way, and if there is evidence: a doubled mark, a
line break or a delimiter inside a cell, or a whole column that is quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dragoman.data.formats.column_names import are_names
from dragoman.data.text_files.lines import Line

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe"}
#: Lines by which delimiter and columns are chosen; quoting is judged by the whole sample.
N_JUDGED = 1_000
#: The share of lines that have a delimiter, and of rows that have the usual number of cells.
_USUAL_SHARE = 0.9
#: This many quoted cells with a comma, and none unquoted, are evidence of quoting.
_MIN_EVIDENCE = 5
#: A first line by which a spreadsheet names the delimiter.
_SEPARATOR = re.compile(r"sep=([\t,;|])")
_ENDLESS = re.compile(r' *"[^"]*+(?:""[^"]*+)*+\Z')


@dataclass(frozen=True)
class Layout:
    """The delimiter and the quoting of a table.

    Args:
        n_columns: cells of a row; 1 if there is no delimiter.
        n_before: rows before the first that is data or header.
    """

    delimiter: str
    is_quoted: bool
    n_columns: int
    n_before: int = 0


class _Score(NamedTuple):
    """Evidence for a delimiter; the first field that differs between two decides."""

    is_named: bool  # the first row is a header
    has_evidence: bool  # of quoting
    has_tabs: bool  # in nearly every line
    share: float  # of the rows that have the usual number of cells
    n_columns: int
    n_bad: int  # rows that are not well quoted, if quotation marks quote

    @property
    def is_sure(self) -> bool:
        """True if the delimiter is not just punctuation."""
        return self.is_named or self.has_evidence or self.share == 1


@dataclass
class _Parsed:
    """A sample read as quoted: its rows, True for each quoted cell, and the number of rows that are badly quoted."""

    rows: list[list[str]]
    marks: list[list[bool]]
    n_bad: int = 0


def find_layout(lines: Sequence[str], *, is_csv: bool) -> Layout:
    """Find the layout of a table by its first lines.

    Args:
        is_csv: the name of the file ends in .csv, so that a comma is likelier than a tab.
    """
    if lines and (separator := _SEPARATOR.fullmatch(lines[0].strip(" \r"))):
        return replace(_judge(lines[1:], separator[1])[0], n_before=1)
    order = (",", ";", "|", "\t") if is_csv else ("\t", ",", ";", "|")
    head = [line for line in lines if line.strip()][:N_JUDGED]
    judgements = {delimiter: _judge(head, delimiter) for delimiter in order}
    best = max(order, key=lambda delimiter: judgements[delimiter][1])  # the first of equally good ones
    if best != "\t" and not is_csv and not judgements[best][1].is_sure:
        best = "\t"  # commas are in most text; such a table is read only if every row agrees
    layout, score = judgements[best]
    is_open = best == "\t" and not layout.is_quoted and not score.n_bad
    return _judge(lines, best)[0] if is_open and any('"' in line for line in lines) else layout


def needs_quotes(*cells: Line) -> bool:
    """Return True if a cell begins with a quotation mark, so that a table must be quoted to be read as it is."""
    return any(isinstance(cell, str) and cell.lstrip()[:1] == '"' for cell in cells)


def cut(lines: Sequence[str], layout: Layout) -> list[list[str]]:
    """Return the rows of a sample that are not blank."""
    lines = lines[layout.n_before :]
    if layout.is_quoted:
        rows = _parse(lines, layout.delimiter).rows
    else:
        rows = [line.split(layout.delimiter) for line in lines]
    return [row for row in rows if any(map(str.strip, row))]


def _judge(lines: Sequence[str], delimiter: str) -> tuple[Layout, _Score]:
    """Return the layout with a delimiter, and the evidence for it."""
    rows = [line.split(delimiter) for line in lines if line.strip()]
    n_columns, share = _usual(rows)
    is_everywhere = delimiter == "\t" and sum(len(row) > 1 for row in rows) >= _USUAL_SHARE * len(rows) > 0
    is_quoted, has_evidence, n_bad = delimiter != "\t", False, 0
    if any('"' in line for line in lines):
        parsed = _parse(lines, delimiter)
        n_bad = parsed.n_bad
        n_quoted, usual_share = _usual(parsed.rows)
        quoted_share = usual_share * len(parsed.rows) / max(1, len(parsed.rows) + n_bad)
        has_evidence = quoted_share > share or (usual_share >= share and _is_evidence(parsed, delimiter))
        is_quoted = has_evidence or (is_quoted and not parsed.n_bad)
        if is_quoted:
            rows, n_columns, share = parsed.rows, n_quoted, quoted_share
    fits = share >= _USUAL_SHARE
    is_named = fits and bool(rows) and are_names(rows[0])
    score = _Score(is_named, fits and has_evidence, is_everywhere, share, n_columns, n_bad)
    return Layout(delimiter, is_quoted, n_columns), score


def _is_evidence(parsed: _Parsed, delimiter: str) -> bool:
    """Return True if a sample is quoted, and not text with quotation marks."""
    if parsed.n_bad:
        return sum(map(all, parsed.marks)) >= _USUAL_SHARE * (len(parsed.rows) + parsed.n_bad)
    cells = [
        (cell, is_marked)
        for row, marked in zip(parsed.rows, parsed.marks, strict=True)
        for cell, is_marked in zip(row, marked, strict=True)
    ]
    is_doubled = any(is_marked and '"' in cell for cell, is_marked in cells)
    holds_delimiter = any(
        is_marked and re.search(f"[{delimiter}\r]", cell) and "\n" not in cell for cell, is_marked in cells
    )
    commas = [is_marked for cell, is_marked in cells if "," in cell] if delimiter == "\t" else []
    quotes_commas = len(commas) >= _MIN_EVIDENCE and all(commas)
    return is_doubled or holds_delimiter or quotes_commas or _has_whole_column(parsed.rows, parsed.marks)


def _usual(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Return the most frequent number of cells above one and the share of rows that have it, else (1, 0)."""
    counts = Counter(len(row) for row in rows)
    several = [(size, n) for size, n in counts.most_common() if size > 1]
    return (several[0][0], several[0][1] / len(rows)) if several else (1, 0.0)


def _parse(lines: Sequence[str], delimiter: str) -> _Parsed:
    """Read lines as quoted; a row with a mark in a wrong place is skipped and counted."""
    text = "\n".join(lines) + "\n"
    parsed = _Parsed([], [])
    at = 0
    while at < len(text):
        end = text.index("\n", at)
        if '"' not in text[at:end]:
            row = text[at:end].split(delimiter)
            marked = [False] * len(row)
        else:
            row, marked, end = _quoted_row(text, at, delimiter)
        if end == len(text):
            break  # a quoted cell does not end; the rest of it may lie beyond the sample
        if not row:
            parsed.n_bad += 1
        elif any(marked) or any(map(str.strip, row)):
            parsed.rows.append(row)
            parsed.marks.append(marked)
        at = end + 1
    return parsed


def _quoted_row(text: str, at: int, delimiter: str) -> tuple[list[str], list[bool], int]:
    """Return the cells of a row, True for each quoted one, and the end of the row.

    There are no cells if it is badly quoted; the end is that of the text if a quoted cell does not end.
    """
    cell = re.compile(rf'(?: *"([^"]*+(?:""[^"]*+)*+)"|([^"\n{delimiter}]*+))([{delimiter}\n])')
    row, marked = [], []
    while match := cell.match(text, at):
        is_marked = match[1] is not None
        row.append(match[1].replace('""', '"') if is_marked else match[2])
        marked.append(is_marked)
        at = match.end()
        if match[3] == "\n":
            return row, marked, at - 1
    return [], [], len(text) if _ENDLESS.match(text, at) else text.index("\n", at)


def _has_whole_column(rows: Sequence[Sequence[str]], marks: Sequence[Sequence[bool]]) -> bool:
    """Return True if every cell of a column is quoted, except perhaps its name; of few rows, every cell of all."""
    if len(rows) < _MIN_EVIDENCE:
        return bool(rows) and all(map(all, marks))
    for at in range(_usual(rows)[0]):
        cells = [(row[at], marked[at]) for row, marked in zip(rows[1:], marks[1:], strict=True) if len(row) > at]
        if any(marked and cell for cell, marked in cells) and all(marked or not cell for cell, marked in cells):
            return True
    return False
