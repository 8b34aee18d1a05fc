"""Workbooks of Excel: the texts of cells, comments, drawings and charts. All else stays, byte for byte.

Formulas and tables find cells by their text. So a text stays if the workbook also names it elsewhere: as a column of a
table or of a pivot table, in a formula, in the list of a validation, in a filter.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dragoman.documents.office_file import OfficeFile, check_tags
from dragoman.documents.office_formats import EXCEL, EXCEL_STRINGS
from dragoman.documents.office_paragraph import OfficeParagraph
from dragoman.documents.table_cells import CellText, is_text
from dragoman.documents.xml_tokens import (
    ILLEGAL,
    Element,
    XmlToken,
    escape_xml,
    opening,
    read_xml,
    with_attribute,
    xml_tree,
)
from dragoman.errors import counted
from dragoman.text.languages import is_right_to_left
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: Kinds of parts that may name texts of others.
_OTHERS = (*EXCEL.main, "spreadsheetml.table+xml", "pivotCacheDefinition+xml")
_FORMULAS = frozenset(
    ("f", "formula", "formula1", "formula2", "definedName", "calculatedColumnFormula", "totalsRowFormula")
)
#: Attributes of elements that name the text of a cell.
_NAMING = {
    "definedName": ("name",),
    "tableColumn": ("name", "totalsRowLabel"),
    "cacheField": ("name",),
    "filter": ("val",),
    "customFilter": ("val",),
}
_LITERAL = re.compile(r'"((?:[^"]|"")*+)"')
#: A character written as its code, and the sign of one.
_CODE, _CODE_SIGN = re.compile(r"_x([0-9A-Fa-f]{4})_"), re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_TRUE = ("1", "true")
_BREAK = re.compile(r"_x000[Dd]_\n")
#: Characters of a cell: Excel calls a file with more damaged.
_MOST_CHARACTERS = 32_767
#: Characters of a text in a message.
_MOST_SHOWN = 80


class _String:
    """A text of a cell or a comment: characters, which are read like a cell of a table, or runs.

    Args:
        element: the whole of it.
    """

    def __init__(self, element: Element) -> None:
        self.element = element
        is_bare = element.name == "text" and not any(element.elements)
        texts = [element] if is_bare else [one for one in element.all(("rPh",)) if one.name == "t"]
        self._runs = OfficeParagraph([element], EXCEL_STRINGS) if element.child("r") else None
        self._characters = texts[0] if texts else element
        #: True if its last translation is longer than Excel takes, so that the text stays.
        self.is_too_long = False
        raw = "".join(text.text() for text in texts)
        self.value = _decoded(raw)
        #: In runs, only the code of a line break is read.
        has_codes = self._runs is not None and _CODE.search(_BREAK.sub("", raw))
        self.is_text = is_text(self.value) and not ILLEGAL.search(self.value) and not has_codes

    @cached_property
    def segments(self) -> Sequence[MarkedText]:
        """The texts to translate; none if it stays."""
        if not self.is_text:
            return []
        if self._runs is not None:
            return [flow.source for flow in self._runs.flows]
        return [*self._cell.document.segments()]

    def written(self, translations: Sequence[Translation]) -> str:
        """Return it with translations of its segments."""
        pairs = zip(translations, self.segments, strict=True)
        is_same = all(translation.text == segment.text for translation, segment in pairs)
        self.is_too_long = not is_same and self._n_characters(translations) > _MOST_CHARACTERS
        if is_same or self.is_too_long:
            return self.element.raw()
        if self._runs is not None:
            return self.element.start + self._runs.write(translations, None, Element.raw)
        text = _CODE_SIGN.sub("_x005F_", self._cell.translated(translations)).replace("\r", "_x000D_")
        text, place = escape_xml(text), self._characters
        if place is self.element:
            return f"{place.start}{text}{place.end}"
        tag = with_attribute(opening(place.start), "xml:space", "preserve")
        return f"{self.element.start}{tag}{text}{place.end}{self.element.end}"

    def _n_characters(self, translations: Sequence[Translation]) -> int:
        """Return the length of the new text, with its spaces, tags and line breaks, as Excel counts it."""
        if self._runs is None:
            text = self._cell.translated(translations)
        else:
            text = "\n".join(translation.text for translation in translations)
        return len(text.encode("utf-16-le", "replace")) // 2

    @cached_property
    def _cell(self) -> CellText:
        return CellText.of(self.value)


@dataclass(frozen=True)
class _Part:
    """A part of the package: its strings to translate, tags that depend on the language, and all between them."""

    mark: bytes
    encoding: str
    pieces: Sequence[str | XmlToken | _String]

    @property
    def strings(self) -> Iterator[_String]:
        """Its strings."""
        return (piece for piece in self.pieces if isinstance(piece, _String))

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate."""
        return [segment for string in self.strings for segment in string.segments]

    def rebuild(self, translations: Iterator[Translation], language: str | None) -> bytes:
        """Return the part with translations."""
        written = []
        for piece in self.pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif isinstance(piece, XmlToken):
                written.append(_set(piece, language))
            else:
                written.append(piece.written([next(translations) for _ in piece.segments]))
        return self.mark + "".join(written).encode(self.encoding, "xmlcharrefreplace")


class ExcelFile:
    """A workbook.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        DataError: it is no such file, damaged, encrypted, or made to do harm.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._content, self._name, self._n_tags = content, name, 0
        #: Text boxes and charts.
        self._drawings = OfficeFile(content, name, EXCEL)
        #: Texts that are named elsewhere, in small letters: Excel does not distinguish them from capitals.
        self._named: set[str] = set()
        self._parts = {
            part: self._read(self._drawings.package.read(part), name / part)
            for part in self._drawings.parts_of((*EXCEL_STRINGS.parts, *_OTHERS))
        }
        strings = (string for part in self._parts.values() for string in part.strings)
        kept = [string for string in strings if string.is_text and string.value.casefold() in self._named]
        for string in kept:
            string.is_text = False
        self._kept = list(dict.fromkeys(string.value for string in kept))

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation, for text boxes; see `OfficeFile`."""
        self._drawings.set_languages(source, target)

    def notes(self) -> list[str]:
        """Return a line on texts that are named elsewhere and, once rebuilt, one on too long translations."""
        long = [one.value for part in self._parts.values() for one in part.strings if one.is_too_long]
        named = "a table, a formula or a filter names them"
        too_long = f"their translations have more than {_MOST_CHARACTERS:,} characters, the most that Excel takes"
        return [
            f"{counted(len(texts), 'text')} of cells left alone, such as {_shortened(texts[0])!r}: {reason}"
            for texts, reason in ((self._kept, named), (long, too_long))
            if texts
        ]

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of cells, comments, drawings and charts."""
        cells = [segment for part in self._parts.values() for segment in part.segments()]
        return cells + self._drawings.segments()

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a translation in place of each segment; its sheets have the language's direction."""
        if all(one.text == segment.text for one, segment in zip(translations, self.segments(), strict=True)):
            return self._content
        given = iter(translations)
        changed = {name: part.rebuild(given, target_lang) for name, part in self._parts.items()}
        return self._drawings.package.rebuild(changed | self._drawings.changed([*given], target_lang))

    def _read(self, content: bytes, name: Path) -> _Part:
        mark, encoding, tokens = read_xml(content, name)
        pieces: list[str | XmlToken | _String] = []
        gap, inside, depth, around = io.StringIO(), list[XmlToken](), 0, ""
        for token in tokens:
            element = token.name.rpartition(":")[2]
            if inside or (token.kind == "start" and element in EXCEL_STRINGS.paragraphs):
                inside.append(token)
                self._count(token.kind != "text")
                depth += {"start": 1, "end": -1}.get(token.kind, 0)
                if depth == 0:
                    pieces += [gap.getvalue(), _String(next(xml_tree(inside).elements))]
                    gap, inside = io.StringIO(), []
                continue
            around = element if token.kind == "start" else "" if token.kind == "end" else around
            if token.kind == "text" and around in _FORMULAS:
                self._add_named(literal.replace('""', '"') for literal in _LITERAL.findall(token.text))
            elif token.kind == "start" and element in _NAMING:
                self._add_named(token.attributes.get(attribute, "") for attribute in _NAMING[element])
            elif token.kind == "start" and element == "mention" and pieces and isinstance(pieces[-1], _String):
                pieces[-1].is_text = False  # its places are counted in characters
            if token.kind == "start" and element in ("sheetView", "calcPr"):
                pieces += [gap.getvalue(), token]
                gap = io.StringIO()
            else:
                gap.write(token.raw)
        return _Part(mark, encoding, [*pieces, gap.getvalue()])

    def _add_named(self, texts: Iterable[str]) -> None:
        """Add texts, and the parts of lists such as "Yes,No"."""
        for text in texts:
            decoded = _decoded(text).casefold()
            self._named |= {decoded, *map(str.strip, decoded.split(","))}

    def _count(self, n_tags: int) -> None:
        self._n_tags += n_tags
        check_tags(self._n_tags, self._name)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} …"


def _decoded(raw: str) -> str:
    return _CODE.sub(lambda match: chr(int(match[1], 16)), raw)


def _set(token: XmlToken, language: str | None) -> str:
    """Return a tag for another language: the direction of a sheet; formulas are computed anew."""
    tag, own = token.raw, token.attributes
    if token.name.endswith("calcPr"):
        return tag if own.get("fullCalcOnLoad") in _TRUE else with_attribute(tag, "fullCalcOnLoad", "1")
    is_rtl = is_right_to_left(language) if language else False
    if language is None or is_rtl == (own.get("rightToLeft") in _TRUE):
        return tag
    return with_attribute(tag, "rightToLeft", "1" if is_rtl else "")
