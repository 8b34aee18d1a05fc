"""Tables (CSV and TSV): the cells of the columns that people name are translated; everything else stays.

A translation replaces the text of its cell, or goes into another column, where that is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_choice import can_be_header
from dragoman.data.formats.column_kinds import TEXT, kind_of
from dragoman.documents.document import is_left_out
from dragoman.documents.table_cells import CellText, is_formula, is_text
from dragoman.documents.table_columns import ChosenColumns, ColumnPair, UnnamedColumnsError, choose, plain, quoted
from dragoman.documents.table_text import MAX_CHARACTERS, Place, TableText, read_table
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: Rows by which an error suggests columns.
_N_JUDGED = 1_000


@dataclass(frozen=True)
class _Cell:
    """A cell that gets a translation: as it is written, and the text to translate."""

    raw: str
    text: CellText
    is_in_place: bool


class TableFile:
    """A table. It has segments when its columns are chosen."""

    def __init__(self, table: TableText) -> None:
        self._table = table
        self._parts: list[str | _Cell] = []
        self._segments: list[list[MarkedText]] = []
        self._note = ""
        self._n_untranslated = 0
        #: By the value of a cell; None for one that is no text.
        self._texts: dict[str, CellText | None] = {}

    def choose_columns(self, columns: str | None) -> None:
        """Choose the columns to translate.

        Raises:
            DataError: none are given, one is not there, or a row is malformed.
        """
        table = self._table
        first = next(table.rows())
        names = [*map(table.value, first)]
        if columns is None:
            raise self._unnamed(names)
        chosen = choose(columns, names, table.name, table.line(first[0][0]))
        self._n_untranslated = 0
        self._parts = [*self._cut(chosen)]
        self._segments = [[*part.text.document.segments()] for part in self._parts if isinstance(part, _Cell)]
        self._note = _note(table, names, chosen) + _left(self._n_untranslated)

    def describe(self) -> str:
        """Return a line for people on how the table is read."""
        return self._note

    def segments(self) -> list[MarkedText]:
        """Return the texts of the cells to translate."""
        return [segment for cell in self._segments for segment in cell]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the table with translations in the chosen columns."""
        at, sizes, written = 0, iter(map(len, self._segments)), []
        for part in self._parts:
            if isinstance(part, str):
                written.append(part)
                continue
            size = next(sizes)
            written.append(self._filled(part, translations[at : at + size]))
            at += size
        return self._table.mark + "".join(written).encode()

    def _filled(self, cell: _Cell, translations: Sequence[Translation]) -> str:
        """Return a cell with its translation. In a column of its own, one that the model is not sure of is left out."""
        if not cell.is_in_place and is_left_out(translations):
            return cell.raw
        value = cell.text.fill(translations)
        return cell.raw if cell.is_in_place and value == cell.text.value else self._table.written(value, cell.raw)

    def _cut(self, chosen: ChosenColumns) -> Iterator[str | _Cell]:
        """Yield the cells to translate, and what is between them."""
        table, at = self._table, 0
        for number, row in enumerate(table.rows()):
            is_header = number == 0 and chosen.has_header
            end = row[-1][1]
            for pair in chosen.pairs:
                is_new = pair.target >= len(row)
                place = (end, end) if is_new else row[pair.target]
                yield table.text[at : place[0]] + (table.delimiter if is_new else "")
                at = place[1]
                if is_header:
                    name = chosen.new_names[pair.target - len(row)] if is_new else ""
                    yield table.written(name, "") if is_new else table.raw(place)
                else:
                    yield self._cell(row[pair.source], place, pair)
        yield table.text[at:]

    def _cell(self, source: Place, target: Place, pair: ColumnPair) -> str | _Cell:
        """Return a cell to translate, or the text of one that stays. A number is copied into an empty cell."""
        table = self._table
        raw, value = table.raw(target), table.value(source)
        is_in_place = pair.source == pair.target
        if not is_in_place and table.value(target).strip():
            return raw
        if value not in self._texts:
            self._texts[value] = CellText.of(value) if is_text(value) else None
        if (text := self._texts[value]) is None:
            self._n_untranslated += bool(value.strip())
            is_copied = not is_in_place and value.strip() and not is_formula(value)
            return table.written(value, raw) if is_copied else raw
        if len(value) > MAX_CHARACTERS:
            problem = f"a cell of {len(value):,} characters, and {MAX_CHARACTERS:,} is the most"
            raise table.error(problem, source[0], "look for a missing quotation mark, or split it")
        return _Cell(raw, text, is_in_place)

    def _unnamed(self, names: Sequence[str]) -> UnnamedColumnsError:
        """Return the error that no columns are given: it names all, and those that look like text."""
        rows = [row for row, _ in zip(self._table.rows(), range(_N_JUDGED), strict=False)]
        columns = [[self._table.value(row[at]) for row in rows] for at in range(len(names))]
        texts = [at for at, cells in enumerate(columns) if kind_of(cells[1:]) == TEXT]
        has_names = can_be_header(columns)
        suggested = [quoted(names[at]) if has_names else str(at + 1) for at in texts]
        return UnnamedColumnsError(self._table.name, names, suggested)


def parse_csv(content: bytes, name: Path) -> TableFile:
    """Read a table, most likely with commas.

    Raises:
        DataError: it is no text in UTF-8, or empty.
    """
    return TableFile(read_table(content, name, is_csv=True))


def parse_tsv(content: bytes, name: Path) -> TableFile:
    """Read a table, most likely with tabs.

    Raises:
        DataError: it is no text in UTF-8, or empty.
    """
    return TableFile(read_table(content, name, is_csv=False))


def _note(table: TableText, names: Sequence[str], chosen: ChosenColumns) -> str:
    shown = [plain(name) if chosen.has_header and name else str(at) for at, name in enumerate(names, start=1)]
    shown += chosen.new_names
    sides = (dict.fromkeys((shown[pair.source], shown[pair.target])) for pair in chosen.pairs)
    translated = ", ".join("=".join(pair) for pair in sides)
    header = "the first row has the names, and stays" if chosen.has_header else "the first row is translated too"
    return f"{table.name}: {len(names)} {table.delimiter_name}-separated columns; to translate: {translated}; {header}"


def _left(n_cells: int) -> str:
    """Return how many cells of the columns are not translated."""
    return f"; {n_cells:,} cell{'s are' if n_cells > 1 else ' is'} no text, and not translated" if n_cells else ""
