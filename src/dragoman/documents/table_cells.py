"""Cells of a table: those that are text, and each as a document of its own, HTML if it has tags, else plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_kinds import DATES, IDENTIFIERS, NUMBERS, TEXT, kind_of
from dragoman.documents.document import Document, TextFile
from dragoman.documents.html_page import WebPage
from dragoman.documents.plain_text import text_parts
from dragoman.translator import Translation

#: A tag of HTML as shops write it into descriptions, or a character reference.
_HTML = re.compile(
    r"</?(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|sub|sup|table|tbody|td|th|tr|u|ul)"
    r"(?:\s[^<>]*+)?/?>|&(?:[a-z]{2,8}|#[0-9]{1,6}|#x[0-9a-f]{1,5});",
    re.IGNORECASE,
)
#: A word character of Latin script. Others show text, as in 网站example.com.
_LATIN = r"A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_LINK = rf"(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)[{_LATIN}.:@%~-]*(?:[/?#][^\s\u3000-\u3002\uff01-\uff1f]*)?"
_FILE = rf"(?:\.{{0,2}}/)?(?:[{_LATIN}%.~-]+/)*[{_LATIN}%.~-]+\.(?=\d*[A-Za-z])(?:[a-z0-9]{{2,5}}|[A-Z0-9]{{2,5}})"
#: A whole cell that a program reads: an address, the path of a file, a name with "_", a truth value.
_CODE = re.compile(
    rf"[!#-'*+./0-9=?A-Z^-~-]+@[A-Za-z0-9.-]+\.[A-Za-z]{{2,}}|{_LINK}|(?i:mailto:|tel:|urn:)[!-~]+"
    rf"|[/~][!-~]+|{_FILE}|(?=[^_]*_)[{_LATIN}]+|(?i:true|false)"
)
#: A part of a word with hyphens that makes it an ordinary word: "Drucker" in "3D-Drucker".
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_LONGEST_CODE = 300
#: Numbers without a digit, such as "null", are no longer.
_LONGEST_WITHOUT_DIGITS = 4
#: Signs by which a spreadsheet takes a cell for a formula, and the beginnings of formulas: a function, a cell in
#: brackets, or the command of a program.
_SIGNS = "=+-@＝＋－＠"
_FORMULA = re.compile(
    r"[=＝]|[+\-@＋－＠](?:[-+*/^($0-9A-Z:._]*(?<=[A-Z0-9])\(|[-+*/^$0-9A-Z]*\([-+*/^(0-9.]*\$?[A-Z]{1,3}\$?[0-9]"
    r"|[^\s|]*\|.*!\S)"
)
_UNTRANSLATED = (NUMBERS, DATES, IDENTIFIERS)


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
    has_digit = any(map(str.isdecimal, value))
    kind = kind_of([value]) if has_digit or len(value) <= _LONGEST_WITHOUT_DIGITS else TEXT
    if kind == IDENTIFIERS and _is_word(value):
        return True
    is_code = len(value) <= _LONGEST_CODE and _CODE.fullmatch(value)
    return kind not in _UNTRANSLATED and not is_code


def _is_word(value: str) -> bool:
    """Return True for a word with hyphens whose longest part is of small letters; a number at its end makes it a code.

    >>> [_is_word(value) for value in ("3D-Drucker", "MP3-Player", "AB-1234", "lamp-12", "1234-blue")]
    [True, True, False, False, False]
    """
    parts = value.split("-")
    return _WORD.fullmatch(max(parts, key=len)) is not None and not parts[-1].isdecimal()


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
            return cls(value, WebPage(value.encode(), Path("a cell")))
        return cls(value, TextFile(b"", tuple(text_parts(value))))

    def translated(self, translations: Sequence[Translation]) -> str:
        """Return the value of the cell with a translation of each segment."""
        return self.document.rebuild(translations).decode()

    def fill(self, translations: Sequence[Translation]) -> str:
        """Return the same, as no formula."""
        return without_formula(self.translated(translations), self.value)
