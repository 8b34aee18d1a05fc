"""Kinds of a table's columns: text, or other content, such as numbers, links and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.data.formats.column_names import language_code

TEXT, NUMBERS, EMPTY, LANGUAGES, LINKS = "text", "numbers", "empty", "language codes", "links"
DATES, IDENTIFIERS, SIGNS = "dates", "identifiers", "signs"

#: The share of the cells that decide the kind of a column.
_SHARE = 0.9
#: A column is of labels if it has at most this share of different values, at least this many rows, and at most this
#: many words a cell.
_LABEL_SHARE, _LABEL_ROWS, _LABEL_WORDS = 0.05, 40, 3
_ENDS = ".!?\u2026\u3002\uff01\uff1f"
#: The kinds that a whole cell shows.
_PATTERNS = {
    DATES: re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}.*)?|\\N"),
    NUMBERS: re.compile(
        r"[-+]?(?=[.,]?\d)[\d.,'\u00a0\u202f]*\d[.,]?([eE][-+]?\d+)?\s*%?|\\N|[-+]?(nan|inf)|n/?a|null|none|-",
        re.IGNORECASE,
    ),
    LINKS: re.compile(r"(https?|ftp)://\S+|www\.\S+", re.IGNORECASE),
    IDENTIFIERS: re.compile(r"(?=.*\d)[A-Za-z0-9_.:#/@-]+"),
}
_ATTRIBUTION = re.compile(r"\bCC[- ]?(BY|0)\b|licen[sc]e|copyright|\u00a9|attribution|tatoeba\.org", re.IGNORECASE)


def kind_of(cells: Sequence[str]) -> str:
    """Return the kind of a column.

    >>> kind_of(["1", "2.5"]), kind_of(["Hello.", "2"]), kind_of(["CC-BY 2.0 (CM)"]), kind_of(["de", "de"])
    ('numbers', 'text', 'attribution', 'language codes')
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if not filled:
        return EMPTY
    needed = _SHARE * len(filled)
    for kind, pattern in _PATTERNS.items():
        if sum(pattern.fullmatch(cell) is not None for cell in filled) >= needed:
            return kind
    n_values = len(set(filled))
    if n_values <= max(2, _LABEL_SHARE * len(filled)) and all(map(language_code, filled)):
        return LANGUAGES
    if sum(_ATTRIBUTION.search(cell) is not None for cell in filled) >= needed:
        return "attribution"
    if sum(not any(map(str.isalpha, cell)) for cell in filled) >= needed:
        return SIGNS
    if len(filled) > 2 and n_values == 1:
        return "always the same"
    is_short = all(len(cell.split()) <= _LABEL_WORDS and cell[-1] not in _ENDS for cell in set(filled))
    if is_short and len(filled) >= _LABEL_ROWS and n_values <= _LABEL_SHARE * len(filled):
        return "labels"
    return TEXT


def has_heading(columns: Sequence[Sequence[str]]) -> bool:
    """Return True if the first cells are names: a word stands above numbers, links or codes."""
    tell = {NUMBERS, DATES, LINKS, "attribution", IDENTIFIERS}
    return any(len(cells) > 2 and kind_of(cells[1:]) in tell and kind_of(cells[:1]) == TEXT for cells in columns)


def describe(cells: Sequence[str]) -> str:
    """Return the kind of a column and its first values, for people.

    >>> describe(["1", "2", "3", "4"])
    'numbers ("1", "2", "3")'
    """
    shown = [f'"{cell if len(cell) <= 30 else cell[:27] + "..."}"' for cell in dict.fromkeys(cells) if cell.strip()]
    return kind_of(cells) + (f" ({', '.join(shown[:3])})" if shown else "")
