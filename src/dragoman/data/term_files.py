"""Term lists in files: tables with a header, term bases (TBX), and lines of the form "source = target"."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dragoman.data.text_files.compression import uncompressed_name
from dragoman.data.text_files.lines import Unreadable, read_lines
from dragoman.errors import ConfigError, DataError
from dragoman.text.terms import BETWEEN_TARGETS, GOES_ON, Term, TermList

if TYPE_CHECKING:
    from dragoman.data.formats.column_names import Languages

_log = logging.getLogger(__name__)

#: The names of each column, in small letters, with hyphens for spaces and underscores.
_COLUMNS = {
    "source": ("source", "source-term", "sourcestring"),
    "target": ("target", "targets", "target-term", "targetstring"),
    "do-not-translate": ("do-not-translate", "dnt"),
    "case": ("case", "case-sensitive"),
}
_YES, _NO = frozenset(("yes", "y", "true", "1", "x")), frozenset(("", "no", "n", "false", "0"))
_DELIMITERS = "\t,;"
#: The advice for a source with a mark of targets.
_ONE_EACH = "write a line for each form of the word"
#: Names of columns that an error lists.
_MOST_NAMES = 8


class _Row(NamedTuple):
    line: int
    cells: list[str]


def read_terms(path: Path, languages: Languages = (None, None)) -> TermList:
    """Return the terms of a term base (TBX), or of a table: CSV or TSV with a header, one term a row.

    The columns of a table are `source`, `target` (several with | between them), and, if wanted, `do-not-translate` and
    `case` (yes or no). Rows with the same source are one term, which any of their targets satisfies.

    Args:
        languages: codes of source and target, for a term base. If one is None, the term base must have two languages.

    Raises:
        DataError: the file is no table or term base, or a row or concept is no valid term; the message has the line.
        ConfigError: a term base lacks a requested language, or has more than two and not both are given.
    """
    from dragoman.data.termbase import is_termbase, read_termbase

    if is_termbase(path) or ".tbx" in path.suffixes:
        return _merged(read_termbase(path, languages), path, "concepts")
    return _merged(_table_terms(path), path, "rows")


def _table_terms(path: Path) -> Iterator[tuple[int, Term]]:
    """Yield the terms of a table with their lines."""
    rows = _rows(path)
    header = next(rows, None)
    if header is None:
        raise DataError("the term list is empty", path, advice="begin with a line: source,target")
    columns = _columns(header.cells, path)
    is_empty = True
    for row in rows:
        if any(map(str.strip, row.cells)):
            if any(map(str.strip, row.cells[len(header.cells) :])):
                advice = "put quotation marks around a text with the separator in it"
                raise DataError("the row has more cells than the header", path, line=row.line, advice=advice)
            yield row.line, _term(row, columns, path)
            is_empty = False
    if is_empty:
        raise DataError("the term list has no terms", path, advice="write one in each line after the first")


def _merged(located: Iterable[tuple[int, Term]], path: Path, unit: str) -> TermList:
    """Return the terms of a file as a list; tell of those with the same source.

    Args:
        located: each with its line.
        unit: the name of what holds a term.
    """
    terms: list[Term] = []
    lines: dict[tuple[bool, tuple[str, ...]], tuple[int, Term]] = {}
    n_repeated = 0
    for line, term in located:
        first_line, first = lines.setdefault((term.case, term.units), (line, term))
        if first.is_kept != term.is_kept:
            problem = f"line {first_line} says otherwise whether {term.source!r} is translated"
            raise DataError(problem, path, line=line, advice="remove one of the two")
        n_repeated += not set(term.targets) <= set(first.targets)
        terms.append(term)
    if n_repeated:
        _log.warning(f"{path}: {n_repeated:,} {unit} have the source of another; any of their targets will do")
    return TermList(terms)


def typed_terms(text: str) -> TermList:
    """Return the terms of lines as a person types them: "source = target | another"; a source alone is kept.

    Raises:
        ConfigError: a line is no term; the message has its number.
    """
    terms = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            source, equals, targets = (part.strip() for part in line.partition("="))
            if equals and not targets:
                raise ConfigError(f"line {number} of the terms has no target", advice="write: source = target")
            if not source:
                raise ConfigError(f"line {number} of the terms has no source", advice="write: source = target")
            if mark := _mark_of_targets(source) if equals else "":
                problem = f"line {number} of the terms has {mark} in its source, which only a target may have"
                raise ConfigError(problem, advice=_ONE_EACH)
            terms.append(Term(source, _targets(targets)))
    return TermList(terms)


def _rows(path: Path) -> Iterator[_Row]:
    lines = _lines(path)
    first = next(lines, "")
    delimiter = "\t" if uncompressed_name(path).suffix == ".tsv" else max(_DELIMITERS, key=first.count)
    has_quotes = delimiter != "\t"
    rows = csv.reader(
        (line + "\n" for line in chain([first], lines)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
        strict=True,
    )
    last = 0
    try:
        for cells in rows:
            if cells:
                yield _Row(last + 1, [" ".join(cell.split()) for cell in cells])
            last = rows.line_num
    except csv.Error as error:
        advice = "mend the line; a mark inside a quoted cell is written twice"
        raise DataError(f"wrong quotation marks ({error})", path, line=last + 1, advice=advice) from None


def _lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), 1):
        if isinstance(line, Unreadable):
            raise DataError(f"the line is {line.value}", path, line=number, advice="mend or remove it")
        yield line.replace("\r", " ")


def _columns(header: Sequence[str], path: Path) -> dict[str, int]:
    """Return the number of each column that a header has."""
    names = [name.lower().replace(" ", "-").replace("_", "-") for name in header]
    found = {
        column: names.index(name) for column, known in _COLUMNS.items() for name in reversed(known) if name in names
    }
    shown = ", ".join(header[:_MOST_NAMES])
    missing = [name for name in ("source", "target") if name not in found]
    if "source" in missing or (missing and "do-not-translate" not in found):
        problem = f"there is no column {' and no column '.join(missing)} (the first line has: {shown})"
        raise DataError(problem, path, line=1, advice="begin with a line that names the columns: source,target")
    return found


def _term(row: _Row, columns: dict[str, int], path: Path) -> Term:
    def cell(column: str) -> str:
        at = columns.get(column, len(row.cells))
        return row.cells[at] if at < len(row.cells) else ""

    def is_yes(column: str) -> bool:
        value = cell(column).lower()
        if value not in _YES and value not in _NO:
            raise DataError(f"{value!r} in column {column}", path, line=row.line, advice="write yes or no")
        return value in _YES

    is_kept, targets = is_yes("do-not-translate"), _targets(cell("target"))
    if mark := "" if is_kept else _mark_of_targets(cell("source")):
        problem = f"the source {cell('source')!r} has {mark}, which only a target may have"
        raise DataError(problem, path, line=row.line, advice=_ONE_EACH)
    if is_kept and targets not in ((), (cell("source"),)):
        raise DataError("a term that is kept has another target", path, line=row.line, advice="remove one of the two")
    if not is_kept and not targets:
        advice = "write one, or yes under do-not-translate"
        raise DataError(f"the term {cell('source')!r} has no target", path, line=row.line, advice=advice)
    try:
        return Term(cell("source"), () if is_kept else targets, is_yes("case"))
    except ConfigError as error:
        raise DataError(str(error).split(";")[0], path, line=row.line, advice="mend or remove the row") from None


def _mark_of_targets(source: str) -> str:
    """Return a mark of a source that has a meaning in targets only: between forms, or at the end of a word."""
    has_end = any(word.endswith(GOES_ON) and word != GOES_ON for word in source.split())
    return BETWEEN_TARGETS if BETWEEN_TARGETS in source else GOES_ON if has_end else ""


def _targets(text: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, text.split(BETWEEN_TARGETS)) if part)
