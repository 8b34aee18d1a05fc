"""Choice of the two columns that are a pair: as the user says, by the header, else by their content.

A column without text is never chosen. If the choice is not clear, an error shows the columns and asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_kinds import EMPTY, LANGUAGES, LINKS, NUMBERS, TEXT, describe, has_heading, kind_of
from dragoman.data.formats.column_names import (
    Choice,
    Languages,
    Meaning,
    are_names,
    choose_by_name,
    contradiction,
    is_swapped,
    language_code,
    meaning,
)
from dragoman.data.formats.delimiters import DELIMITERS, N_JUDGED, Layout, cut
from dragoman.data.formats.file_names import table_languages
from dragoman.errors import ConfigError, DataError

_LONGEST_NAME = 60
#: Rows below a header that it is compared with.
_N_COMPARED = 20
_BREAKS = re.compile("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Columns:
    """The columns of a pair, counted from 0.

    Args:
        languages: of source and target, as far as the table says them.
        n_heading: rows at the beginning that are no pairs.
        notes: lines for people.
    """

    source: int
    target: int
    languages: Languages
    n_heading: int
    notes: tuple[str, ...]


def join_lines(text: str) -> str:
    """Return a text on one line: each line break and each tab becomes a space.

    >>> join_lines("A man\\nis riding.\\r\\n")
    'A man is riding.'
    """
    return " ".join(filter(None, map(str.strip, _BREAKS.split(text)))) if _BREAKS.search(text) else text


def choose_columns(
    path: Path, sample: Sequence[str], layout: Layout, requested: Languages, column_option: str | None
) -> Columns:
    """Choose the columns of a table by its first lines.

    Raises:
        DataError: the table does not show which columns are the pair.
        ConfigError: it contradicts the languages, or does not have the columns that the user names.
    """
    all_rows = cut(sample, layout)
    rows = [row for row in all_rows if len(row) == layout.n_columns][:N_JUDGED]
    if not rows:  # empty cells alone
        return Columns(0, 1, (None, None), layout.n_before, ())
    names = [join_lines(cell).strip() for cell in rows[0]]
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    may_be_header = rows[0] is all_rows[0] and can_be_header(columns) and not _is_one_of_many(rows[:_N_COMPARED])
    by_name = choose_by_name(names, requested, path) if may_be_header and column_option is None else None
    is_header = may_be_header and (by_name is not None or are_names(names) or has_heading(columns))
    content = [cells[1:] if is_header and len(rows) > 1 else cells for cells in columns]
    if column_option is not None:
        choice, is_header = _by_option(path, names, column_option, requested, is_header)
    elif by_name is not None and any(by_name.languages):
        choice = by_name
    else:
        pair = by_name[:2] if by_name is not None else _by_content(path, content)
        choice = _in_direction(path, content, pair, requested)
    n_blank = next((n for n, line in enumerate(sample[layout.n_before :]) if _has_text(line)), 0)
    n_heading = layout.n_before + (n_blank + 1 if is_header else 0)
    return Columns(
        choice.source, choice.target, choice.languages, n_heading, _notes(path, layout, choice, names, is_header)
    )


def unclear_columns(
    path: Path | str, names: Sequence[str], columns: Sequence[Sequence[str]], problem: str
) -> DataError:
    """Return an error that shows the columns and asks for two of them."""
    texts = [name for name, cells in zip(names, columns, strict=True) if kind_of(cells) == TEXT]
    details = [f"column {name}: {describe(cells)}" for name, cells in zip(names, columns, strict=True)]
    if len(texts) < 2:
        advice = "give a table with two columns of text; --columns takes two columns of any kind"
    else:
        advice = f"say which two are source and target, such as --columns {','.join(texts[:2])}"
    return DataError(problem, path, advice=f"{advice} (data.columns in a recipe)", details=details)


def can_be_header(columns: Sequence[Sequence[str]]) -> bool:
    """Return True if the first cells can be names: short, no numbers, and different from the cells below."""
    return all(
        len(cells[0]) <= _LONGEST_NAME
        and kind_of(cells[:1]) != NUMBERS
        and (len(cells) == 1 or not cells[0].strip() or cells[0] != cells[1])
        for cells in columns
    )


def _is_one_of_many(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if most rows below mean the same as the first, as in "source 1", "source 2": then it is no header."""
    first, *below = ([meaning(cell) for cell in row] for row in rows)
    return any(name != Meaning() for name in first) and 2 * below.count(first) > len(below)


def _has_text(line: str) -> bool:
    return bool(line.strip(' \t\r\n,;"'))


def _by_option(
    path: Path, names: Sequence[str], column_option: str, requested: Languages, is_header: bool
) -> tuple[Choice, bool]:
    """Return the columns that the user names, and True if the first row is a header, as it is if it has such a name."""
    parts = [part.strip() for part in column_option.split(",")]
    source, target = (_column(path, names, part) for part in parts)
    is_header = is_header or not all(part.isdecimal() for part in parts)
    languages: Languages = (None, None)
    if is_header:
        languages = meaning(names[source], requested).language, meaning(names[target], requested).language
        if is_swapped(languages, requested) is not False:
            raise contradiction(path, languages, requested)
    elif len(names) == 2:
        by_name = table_languages(path.name)
        languages = _unless_wrong(by_name if source < target else by_name[::-1], requested)
    return Choice(source, target, languages), is_header


def _column(path: Path, names: Sequence[str], part: str) -> int:
    """Return the column with a number or a name."""
    if part.isdecimal():
        if not 1 <= int(part) <= len(names):
            advice = f"the columns are 1 to {len(names)}"
            raise ConfigError(f"there is no column {part}", path, advice=advice)
        return int(part) - 1
    same = [at for at, name in enumerate(names) if name == part]
    same = same or [at for at, name in enumerate(names) if name.casefold() == part.casefold()]
    if len(same) != 1:
        shown = ", ".join(name if len(name) <= 30 else name[:27] + "..." for name in names)
        problem = f"{'several columns are' if same else 'no column is'} named {part}"
        raise ConfigError(
            problem, path, line=1, advice=f"give numbers, from 1 to {len(names)}; the first row is: {shown}"
        )
    return same[0]


def _by_content(path: Path, columns: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the two columns of text. If there are only two columns, just numbers, codes and links are refused."""
    kinds = [kind_of(cells) for cells in columns]
    filled = [at for at, kind in enumerate(kinds) if kind != EMPTY]
    texts = [at for at in filled if kinds[at] == TEXT]
    if len(texts) != 2 and len(filled) == 2:
        texts = [at for at in filled if kinds[at] not in (NUMBERS, LANGUAGES, LINKS)]
    if len(texts) == 2:
        return texts[0], texts[1]
    n_texts = {0: "no column", 1: "one column"}.get(len(texts), f"{len(texts)} columns")
    problem = f"{n_texts} of {len(columns)} {'is' if len(texts) < 2 else 'are'} text, and a pair needs two"
    raise unclear_columns(path, [str(at + 1) for at in range(len(columns))], columns, problem)


def _in_direction(path: Path, columns: Sequence[Sequence[str]], pair: tuple[int, int], requested: Languages) -> Choice:
    """Return the pair in the requested direction, if columns of codes or the file's name say the languages."""
    codes = [{cell.strip() for cell in cells if cell.strip()} for cells in columns if kind_of(cells) == LANGUAGES]
    languages: Languages = (None, None)
    evidence = "the name of the file"
    if len(codes) == 2 and all(len(values) == 1 for values in codes):
        first, second = (language_code(values.pop()) for values in codes)
        languages, evidence = (first, second) if pair[0] < pair[1] else (second, first), "a column of codes"
        if is_swapped(languages, requested) is None:
            raise contradiction(path, languages, requested)
    else:
        languages = table_languages(path.name)
    if None not in languages and is_swapped(languages, requested):
        return Choice(pair[1], pair[0], languages[::-1], evidence)
    return Choice(pair[0], pair[1], _unless_wrong(languages, requested))


def _unless_wrong(languages: Languages, requested: Languages) -> Languages:
    """Return the languages by a file's name, unless they contradict the requested ones."""
    return (None, None) if is_swapped(languages, requested) is None else languages


def _notes(path: Path, layout: Layout, choice: Choice, names: Sequence[str], is_header: bool) -> tuple[str, ...]:
    quoted = ", cells quoted" if layout.is_quoted and layout.delimiter == "\t" else ""
    header = ", the header left out" if is_header else ""
    kind = f"{layout.n_columns} {DELIMITERS[layout.delimiter]}-separated columns{quoted}{header}"
    sides = [
        f"{side}: column {at + 1}" + (f' ("{names[at]}")' if is_header and names[at] else "")
        for side, at in (("source", choice.source), ("target", choice.target))
    ]
    note = f"{path}: read as a table of {kind}; {', '.join(sides)}"
    if choice.swapped_by is None:
        return (note,)
    header_order = ", ".join(code or "?" for code in choice.languages[::-1])
    direction = " to ".join(code or "?" for code in choice.languages)
    return note, f"{path}: columns swapped: {choice.swapped_by} says {header_order}, and {direction} is asked for"
