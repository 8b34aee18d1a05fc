"""Columns of a table to translate, as people name them: "name,description", "2,4" or "description=description_de"."""

from __future__ import annotations

import csv
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dragoman.data.formats.column_choice import join_lines
from dragoman.errors import DataError

_LONGEST_NAME, _MOST_NAMES = 30, 12
#: Columns that one table is translated in at most: each costs a translation of every row.
_MOST_COLUMNS = 100


class UnnamedColumnsError(DataError):
    """The columns to translate are not named.

    Args:
        names: the first row.
        texts: the columns that look like text, as `choose` reads them.
        is_form: the client of a server is told, whose form has a field for them.
    """

    def __init__(self, path: Path, names: Sequence[str], texts: Sequence[str], *, is_form: bool = False) -> None:
        self._parts = path, names, texts
        example = ",".join(texts[:_MOST_NAMES])
        place, such = "in the field columns", f"columns={example}"
        if not is_form:
            place, such = "by --columns", f"--columns {shlex.quote(example)}"
        such = f", such as {such}" if texts else ""
        advice = f"name those of text {place}{such}; the first row is: {shown_names(names)}"
        super().__init__("the columns to translate are not named", path, advice=advice)

    def for_form(self) -> UnnamedColumnsError:
        """Return the error for the client of a server."""
        return UnnamedColumnsError(*self._parts, is_form=True)


class ColumnPair(NamedTuple):
    """The column of the text and that of its translation, from 0; the same one if it is translated in place."""

    source: int
    target: int


@dataclass(frozen=True)
class ChosenColumns:
    """The columns to translate.

    Args:
        pairs: in the order of their targets.
        new_names: of columns that the table gets at its end.
        has_header: the first row has names, and stays.
    """

    pairs: Sequence[ColumnPair]
    new_names: Sequence[str]
    has_header: bool


def choose(columns: str, first_row: Sequence[str], path: Path, line: int) -> ChosenColumns:
    """Find the columns that people name. The first row is a header if one of them is given by its name.

    Args:
        columns: names of the first row or numbers from 1, with commas between them, each perhaps with `=` and the
            column for its translations. A name with a comma is quoted.
        line: of the first row.

    Raises:
        DataError: a column is not there, is named twice, or has several columns for its translations.
    """
    return _Choice(first_row, path, line).choose(columns)


def shown_names(names: Sequence[str]) -> str:
    """Return names of columns, for people."""
    shown = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..." for name in map(plain, names)]
    return ", ".join([*shown[:_MOST_NAMES], *(["..."] if len(shown) > _MOST_NAMES else [])])


def plain(name: str) -> str:
    """Return a name on one line."""
    return join_lines(name).strip()


def quoted(name: str) -> str:
    """Return a name as `choose` reads it."""
    name = plain(name)
    return '"' + name.replace('"', '""') + '"' if set(name) & {",", '"'} else name


class _Choice:
    """One reading of such a text."""

    def __init__(self, first_row: Sequence[str], path: Path, line: int) -> None:
        self._names = [plain(cell) for cell in first_row]
        self._places = _places(self._names)
        self._folded_places = _places(map(str.casefold, self._names))
        self._path, self._line = path, line
        self._new: list[str] = []
        self._has_header = False

    def choose(self, columns: str) -> ChosenColumns:
        """Return the columns."""
        try:
            parts = [part.strip() for part in next(csv.reader([join_lines(columns)], skipinitialspace=True), [])]
        except csv.Error:
            parts = []
        if not all(parts) or not parts:
            raise self._error(f"columns {columns!r} cannot be read")
        if len(parts) > _MOST_COLUMNS:
            raise self._error(f"more than {_MOST_COLUMNS} columns are named")
        pairs = sorted([self._pair(part) for part in parts], key=lambda pair: pair.target)
        for sides in zip(*pairs, strict=True):
            at, n_uses = Counter(sides).most_common(1)[0]
            if n_uses > 1:
                raise self._error(f"column {[*self._names, *self._new][at] or at + 1} is named twice")
        return ChosenColumns(pairs, self._new, self._has_header)

    def _pair(self, part: str) -> ColumnPair:
        whole = self._find(part)
        source, sign, target = (side.strip() for side in part.partition("="))
        if whole is not None or not sign:
            at = self._require(part, whole)
            return ColumnPair(at, at)
        found = self._find(target)
        if found is None and (not target or target.isdecimal()):
            raise self._error(f"there is no column {target}" if target else f"no name after the = of {part}")
        if found is None:
            self._has_header = True
            self._new = self._new if target in self._new else [*self._new, target]
            found = len(self._names) + self._new.index(target)
        return ColumnPair(self._require(source, self._find(source)), found)

    def _require(self, name: str, at: int | None) -> int:
        if at is None:
            raise self._error(f"there is no column {name}")
        return at

    def _find(self, name: str) -> int | None:
        """Return the column with a number or a name, if there is one."""
        if name.isdecimal() and len(name) < 9 and 1 <= int(name) <= len(self._names):
            return int(name) - 1
        same = self._places.get(name) or self._folded_places.get(name.casefold(), [])
        if len(same) > 1 and name:
            raise self._error(f"several columns are named {name}")
        if not same or not name:
            return None
        self._has_header = True
        return same[0]

    def _error(self, problem: str) -> DataError:
        advice = f"give names of the first row, or numbers from 1 to {len(self._names)}; the first row is: "
        return DataError(problem, self._path, line=self._line, advice=advice + shown_names(self._names))


def _places(names: Iterable[str]) -> dict[str, list[int]]:
    """Return the columns of each name."""
    places = defaultdict(list)
    for at, name in enumerate(names):
        places[name].append(at)
    return dict(places)
