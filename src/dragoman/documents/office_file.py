"""Office documents: only paragraphs with a translation are written anew. All else stays, byte for byte."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from dragoman.documents.office_directions import WrittenPart, placeholder, properties_of, styles_in
from dragoman.documents.office_events import is_code_paragraph, is_filled, is_large_letter
from dragoman.documents.office_formats import (
    DRAWINGS,
    EXCEL,
    OPEN_DOCUMENT,
    PATTERNS,
    POWERPOINT,
    WORD,
    OfficeFormat,
    with_styles,
)
from dragoman.documents.office_looks import Languages
from dragoman.documents.office_paragraph import OfficeParagraph
from dragoman.documents.xml_tokens import Element, opening, read_xml, xml_tree
from dragoman.documents.zip_package import ZipPackage
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: Where a package says which part is of which type: Microsoft's, and OpenDocument's.
_TYPES = "[Content_Types].xml"
_MIMETYPE, _MANIFEST = "mimetype", "META-INF/manifest.xml"
#: Of all parts with text: each takes some hundred bytes of RAM, and most documents have a few ten thousand.
_MOST_TAGS = 1_000_000


class _Part:
    """A part of the package with text.

    Args:
        content: of the part.
        name: of the part in the package.
        file: the name of the package, for messages.
        kind: the end of its type.
    """

    def __init__(self, content: bytes, name: str, file: Path, kind: str, format: OfficeFormat) -> None:
        self._mark, self._encoding, tokens = read_xml(content, file / name)
        self._name, self._format = name, POWERPOINT if kind in DRAWINGS else format
        self._is_pattern = kind in PATTERNS
        self.root = xml_tree(tokens)
        self._paragraphs: dict[int, OfficeParagraph] = {}
        #: The paragraphs that have the direction of the language, with text or without.
        self._directed: list[Element] = []

    def find_paragraphs(self, named: Iterable[Element]) -> None:
        """Find the paragraphs with text.

        Args:
            named: styles of OpenDocument that all parts share.
        """
        own = styles_in(self.root, "automatic-styles")
        format = self._format if self._format.text else with_styles(self._format, [*named, *own])
        prefix = next((element.prefix for element in self.root.elements), "")
        joined = _joined(self.root)
        beginnings = {id(part) for before in joined.values() for part in before}
        kept = {id(inner) for one in self.root.all() if self._stays(one) for inner in one.all()}
        elements = [
            element
            for element in self.root.all(format.left_out)
            if element.name in format.paragraphs
            and (element.prefix == prefix or not format.has_root_prefix)
            and id(element) not in kept
        ]
        self._paragraphs = {
            id(element): paragraph
            for element in elements
            if id(element) not in beginnings
            and (paragraph := OfficeParagraph([*joined.get(id(element), ()), element], format)).flows
        }
        self._directed = [element for element in elements if not is_code_paragraph(element, format)]

    def _stays(self, element: Element) -> bool:
        """Return True if no paragraph in an element is translated: slides have texts of their own for placeholders."""
        if element.name == "sp":
            return self._is_pattern and placeholder(element) is not None
        if element.name in ("tr", "tc"):
            return _is_deleted(element)
        return element.name == "txPr" or (element.name == "sdt" and is_filled(element))

    def segments(self) -> list[MarkedText]:
        """Return its texts to translate."""
        return [flow.source for paragraph in self._paragraphs.values() for flow in paragraph.flows]

    def rebuild(
        self, translations: Iterator[Translation], languages: Languages | None, tree: Callable[[str], Element]
    ) -> bytes | None:
        """Return the part with translations, or None if they are what it has.

        If the direction of writing changes, it changes for paragraphs that stay, too.

        Args:
            tree: returns the root of another part, or an element without children.
        """
        changed: dict[int, Sequence[Translation]] = {}
        for key, paragraph in self._paragraphs.items():
            given = [next(translations) for _ in paragraph.flows]
            if any(one.text != flow.source.text for one, flow in zip(given, paragraph.flows, strict=True)):
                changed[key] = given
        turned = self._directed if languages and languages.is_rtl != languages.was_rtl else []
        written = {id(one): one for one in (*(self._paragraphs[key].element for key in changed), *turned)}
        heads, styles = self._heads([*written.values()], languages, tree)
        heads = {key: head for key, head in heads.items() if key in changed or head != _head(written[key])}
        if not heads:
            return None
        gone = {id(one) for key in changed for one in self._paragraphs[key].before}

        def write(element: Element) -> str:
            if id(element) in gone:
                return ""
            if (given := changed.get(id(element))) is not None:
                return heads[id(element)] + self._paragraphs[id(element)].write(given, languages, write)
            if (head := heads.get(id(element))) is not None:
                return _with_head(element, head, write)
            children = [child if isinstance(child, str) else write(child) for child in element.children]
            if styles and element.name == "automatic-styles":
                end = element.end or f"</{element.prefix}{element.name}>"
                return "".join([opening(element.start), *children, *styles, end])
            return "".join([element.start, *children, element.end])

        return self._mark + write(self.root).encode(self._encoding, "xmlcharrefreplace")

    def _heads(
        self, paragraphs: Sequence[Element], languages: Languages | None, tree: Callable[[str], Element]
    ) -> tuple[dict[int, str], Sequence[str]]:
        """Return the heads of paragraphs by their ids, and the new styles that they need."""
        if languages is None:
            return {id(one): _head(one) for one in paragraphs}, ()
        part = WrittenPart(self._name, self.root, languages, tree)
        head = self._format.heads(part)
        return {id(one): head(one) for one in paragraphs}, [*part.styles.values()]


def _head(paragraph: Element) -> str:
    """Return the start tag and the properties of a paragraph as they are."""
    return paragraph.start + properties_of(paragraph)


def _with_head(paragraph: Element, head: str, write: Callable[[Element], str]) -> str:
    """Return a paragraph with another head. One without content, whose tag is closed in itself, may get properties."""
    properties = paragraph.child("pPr")
    children = [one if isinstance(one, str) else write(one) for one in paragraph.children if one is not properties]
    end = paragraph.end
    if not end and len(rest := head.removeprefix(paragraph.start)) < len(head):
        head, end = opening(paragraph.start) + rest, f"</{paragraph.prefix}{paragraph.name}>"
    return "".join([head, *children, end])


def _is_deleted(element: Element) -> bool:
    """Return True for a row or a cell of a table of Word that a tracked change deletes."""
    properties = element.child(f"{element.name}Pr")
    return properties is not None and any(one.name in ("del", "cellDel") for one in properties.elements)


def _joined(root: Element) -> dict[int, list[Element]]:
    """Return the paragraphs of Word that are the beginning of another one, by that one.

    The end of such a paragraph was deleted, in a tracked change, or it is a large first letter.
    """
    found: dict[int, list[Element]] = {}
    for parent in root.all():
        before: list[Element] = []
        for child in parent.elements:
            if child.name == "p" and _goes_on(child):
                before.append(child)
                continue
            if before and child.name == "p":
                found[id(child)] = before
            before = []
    return found


def _goes_on(paragraph: Element) -> bool:
    """Return True for the beginning of another paragraph; one that ends a section stays, and the section with it."""
    properties = paragraph.child("pPr")
    if properties is None or properties.child("sectPr"):
        return False
    mark = properties.child("rPr")
    is_deleted = mark is not None and any(one.name in ("del", "moveFrom") for one in mark.elements)
    return is_deleted or is_large_letter(paragraph)


def check_tags(n_tags: int, name: Path) -> None:
    """Refuse a file whose text has too many tags.

    Raises:
        DataError: it has.
    """
    if n_tags > _MOST_TAGS:
        raise DataError(f"{n_tags:,} tags; at most {_MOST_TAGS:,} are read", name, advice="split it")


def _suffix_of(types: Iterable[str]) -> str:
    """Return the suffix for a package with parts of some types; nothing for one that is not read."""
    formats = (WORD, POWERPOINT, OPEN_DOCUMENT, EXCEL)
    return next((one.suffix for one in formats if any(kind.endswith(one.main) for kind in types)), "")


def parse_docx(content: bytes, name: Path) -> OfficeFile:
    """Read a document of Word; see `OfficeFile`."""
    return OfficeFile(content, name, WORD)


def parse_pptx(content: bytes, name: Path) -> OfficeFile:
    """Read a presentation of PowerPoint; see `OfficeFile`."""
    return OfficeFile(content, name, POWERPOINT)


def parse_odt(content: bytes, name: Path) -> OfficeFile:
    """Read a text of OpenDocument; see `OfficeFile`."""
    return OfficeFile(content, name, OPEN_DOCUMENT)


class OfficeFile:
    """An office document.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        DataError: it is no such file, damaged, encrypted, or made to do harm.
    """

    def __init__(self, content: bytes, name: Path, format: OfficeFormat) -> None:
        self._content, self._name, self._format = content, name, format
        self._source: str | None = None
        #: The roots of parts without text to translate.
        self._others: dict[str, Element] = {}
        self.package = ZipPackage(content, name, format.suffix)
        kinds = self._parts_with_text(name)
        texts = {part: self.package.read(part) for part in kinds}
        check_tags(sum(content.count(b"<") for content in texts.values()), name)
        self._parts = {part: _Part(content, part, name, kinds[part], format) for part, content in texts.items()}
        named = [style for part in self._parts.values() for style in styles_in(part.root, "styles")]
        for part in self._parts.values():
            part.find_paragraphs(named)

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the language of the source; a translation that is written the other way needs it."""
        self._source = source

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of the main part, then those of others."""
        return [segment for part in self._parts.values() for segment in part.segments()]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a translation in place of each segment; its words have the language."""
        if all(one.text == segment.text for one, segment in zip(translations, self.segments(), strict=True)):
            return self._content
        return self.package.rebuild(self.changed(translations, target_lang))

    def changed(self, translations: Sequence[Translation], target_lang: str | None) -> dict[str, bytes]:
        """Return the parts that translations change, by their names."""
        given = iter(translations)
        languages = Languages(self._source, target_lang) if target_lang else None
        parts = {name: part.rebuild(given, languages, self._tree) for name, part in self._parts.items()}
        return {name: content for name, content in parts.items() if content is not None}

    def _tree(self, part: str) -> Element:
        """Return the root of a part; of one that is not there, or damaged, an element without children."""
        if part in self._parts:
            return self._parts[part].root
        if part not in self._others:
            self._others[part] = Element("", "")
            with contextlib.suppress(DataError):
                if part in self.package.names:
                    self._others[part] = xml_tree(read_xml(self.package.read(part), self._name / part)[2])
        return self._others[part]

    def _parts_with_text(self, name: Path) -> dict[str, str]:
        """Return the kinds of the parts to translate by their names, in the order of kinds."""
        types = dict[str, str]()
        if _MIMETYPE in self.package.names:
            kind = self.package.read(_MIMETYPE).decode(errors="replace").strip()
            types = {"content.xml": kind, "styles.xml": f"{kind}/styles.xml"}
            if _MANIFEST in self.package.names and b"encryption-data" in self.package.read(_MANIFEST):
                raise DataError("it has a password", name, advice="save it without a password")
        elif _TYPES in self.package.names:
            _, _, tokens = read_xml(self.package.read(_TYPES), name / _TYPES)
            given = [*xml_tree(tokens).all()]
            usual = {one.get("Extension"): one.get("ContentType") for one in given if one.name == "Default"}
            types = {part: usual.get(part.rpartition(".")[2], "") for part in self.package.names}
            types |= {
                one.get("PartName").removeprefix("/"): one.get("ContentType") for one in given if one.name == "Override"
            }
        self._types = types = {part: types[part] for part in self.package.names if part in types}
        if not any(kind.endswith(self._format.main) for kind in types.values()):
            own = _suffix_of(types.values())
            advice = f"it is a {own}: rename it" if own else self.package.save
            raise DataError(f"this is no {self._format.name}", name, advice=advice)
        return self.parts_of(self._format.parts)

    def parts_of(self, kinds: Sequence[str]) -> dict[str, str]:
        """Return the kinds of parts by their names, in the order of kinds, which are ends of types."""
        return {part: kind for kind in kinds for part, own in self._types.items() if own.endswith(kind)}
