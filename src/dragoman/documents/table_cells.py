"""Cells of a table: those that are text, and each as a document of its own, HTML if it has tags, else plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_kinds import DATES, IDENTIFIERS, LINKS, NUMBERS, kind_of
from dragoman.documents.document import Document, TextFile
from dragoman.documents.html_page import parse_html
from dragoman.documents.plain_text import text_parts
from dragoman.translator import Translation

#: A tag of HTML as shops write it into descriptions, or a character reference.
_HTML = re.compile(
    r"</?(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|sub|sup|table|tbody|td|th|tr|u|ul)"
    r"(?:\s[^<>]*+)?/?>|&(?:[a-z]{2,8}|#[0-9]{1,6}|#x[0-9a-f]{1,5});",
    re.IGNORECASE,
)
#: A whole cell that a program reads: an address, the path of a file, a name with "_", a truth value.
_CODE = re.compile(
    r"[^\s@]+@[^\s@]+\.\w+|(?:[a-z][a-z0-9+.-]*://|mailto:|tel:|urn:)\S+"
    r"|[/~]\S+|(?:\.{0,2}/)?(?:[\w%.~-]+/)*[\w%.~-]+\.[a-z0-9]{2,5}|(?=\w*_)\w+|true|false",
    re.IGNORECASE,
)
_LONGEST_CODE = 300
#: Signs by which a spreadsheet takes a cell for a formula, and the beginnings of formulas.
_SIGNS = "=+-@＝＋－＠"
_FORMULA = re.compile(r"[=＝]|[+\-@＋－＠]\S*?[(|]")
_UNTRANSLATED = (NUMBERS, DATES, LINKS, IDENTIFIERS)


def is_formula(value: str) -> bool:
    """Return True if a spreadsheet computes the value of a cell.

    >>> [is_formula(value) for value in ("=SUM(A1)", "+cmd|' /C calc'!A0", "-5", "- a point", "@anna")]
    [True, True, False, False, False]
    """
    return _FORMULA.match(value.lstrip()) is not None


def is_text(value: str) -> bool:
    """Return True if a cell is text to translate, and no number, date, code, address or formula.

    >>> [is_text(value) for value in ("A lamp", "Yes/No", "12 cm")]
    [True, True, True]
    >>> [is_text(value) for value in ("3,50 €", "A-100", "img/lamp.png", "ann@example.org", "=A1", "unit_price")]
    [False, False, False, False, False, False]
    """
    value = value.strip()
    if is_formula(value) or not any(map(str.isalpha, value)):
        return False
    is_short = len(value) <= _LONGEST_CODE
    return kind_of([value]) not in _UNTRANSLATED and not (is_short and _CODE.fullmatch(value))


def without_formula(value: str, source: str) -> str:
    """Return a translation that no spreadsheet takes for a formula, unless its source already begins as it does.

    >>> without_formula("=HYPERLINK(A1)", "Look: =HYPERLINK(A1)"), without_formula("- ein Punkt", "- a point")
    ("'=HYPERLINK(A1)", '- ein Punkt')
    """
    first = value.lstrip()[:1]
    is_new = first != "" and first in _SIGNS and source.lstrip()[:1] != first
    return f"'{value}" if is_new else value


@dataclass(frozen=True)
class CellText:
    """The text of a cell as a document."""

    value: str
    document: Document

    @classmethod
    def of(cls, value: str) -> CellText:
        """Find the segments of a cell."""
        if _HTML.search(value):
            return cls(value, parse_html(value.encode(), Path("a cell")))
        return cls(value, TextFile(b"", tuple(text_parts(value))))

    def fill(self, translations: Sequence[Translation]) -> str:
        """Return the value of the cell with a translation of each segment."""
        return without_formula(self.document.rebuild(translations).decode(), self.value)
