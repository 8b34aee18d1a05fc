"""Office documents: only paragraphs with a translation are written anew. All else stays, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dragoman.documents.office_directions import WrittenPart, properties_of, styles_in
from dragoman.documents.office_formats import OPEN_DOCUMENT, POWERPOINT, WORD, OfficeFormat, with_styles
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
    """

    def __init__(self, content: bytes, name: str, file: Path, format: OfficeFormat) -> None:
        self._mark, self._encoding, tokens = read_xml(content, file / name)
        self._name, self._format = name, format
        self.root = xml_tree(tokens)
        self._paragraphs: dict[int, OfficeParagraph] = {}

    def find_paragraphs(self, named: Iterable[Element]) -> None:
        """Find the paragraphs with text.

        Args:
            named: styles of OpenDocument that all parts share.
        """
        own = styles_in(self.root, "automatic-styles")
        format = self._format if self._format.text else with_styles(self._format, [*named, *own])
        prefix = next((element.prefix for element in self.root.elements), "")
        joined = _joined(self.root)
        parts = {id(part) for before in joined.values() for part in before}
        self._paragraphs = {
            id(element): paragraph
            for element in self.root.all(format.left_out)
            if element.name in format.paragraphs
            and (element.prefix == prefix or not format.has_root_prefix)
            and id(element) not in parts
            and (paragraph := OfficeParagraph([*joined.get(id(element), ()), element], format)).flows
        }

    def segments(self) -> list[MarkedText]:
        """Return its texts to translate."""
        return [flow.source for paragraph in self._paragraphs.values() for flow in paragraph.flows]

    def rebuild(
        self, translations: Iterator[Translation], languages: Languages | None, tree: Callable[[str], Element]
    ) -> bytes | None:
        """Return the part with translations, or None if they are what it has.

        Args:
            tree: returns the root of another part, or an element without children.
        """
        changed: dict[int, Sequence[Translation]] = {}
        for key, paragraph in self._paragraphs.items():
            given = [next(translations) for _ in paragraph.flows]
            if any(one.text != flow.source.text for one, flow in zip(given, paragraph.flows, strict=True)):
                changed[key] = given

        if not changed:
            return None
        gone = {id(one) for key in changed for one in self._paragraphs[key].before}
        heads, styles = self._heads([self._paragraphs[key].element for key in changed], languages, tree)

        def write(element: Element) -> str:
            if id(element) in gone:
                return ""
            if (given := changed.get(id(element))) is not None:
                return heads[id(element)] + self._paragraphs[id(element)].write(given, languages, write)
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
            return {id(one): one.start + properties_of(one) for one in paragraphs}, ()
        part = WrittenPart(self._name, self.root, languages, tree)
        head = self._format.heads(part)
        return {id(one): head(one) for one in paragraphs}, [*part.styles.values()]


def _joined(root: Element) -> dict[int, list[Element]]:
    """Return the paragraphs of Word whose ends were deleted, in a tracked change, by the one that they go on in."""
    found: dict[int, list[Element]] = {}
    for parent in root.all():
        before: list[Element] = []
        for child in parent.elements:
            properties = child.child("pPr") if child.name == "p" else None
            mark = properties.child("rPr") if properties else None
            if mark and (mark.child("del") or mark.child("moveFrom")):
                before.append(child)
                continue
            if before and child.name == "p":
                found[id(child)] = before
            before = []
    return found


def _suffix_of(types: Mapping[str, str]) -> str:
    """Return the suffix for a package with parts of some types; nothing for one that is not read."""
    formats = (WORD, POWERPOINT, OPEN_DOCUMENT)
    return next((one.suffix for one in formats if any(kind.endswith(one.main) for kind in types.values())), "")


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
        self._package = ZipPackage(content, name, format.suffix)
        texts = {part: self._package.read(part) for part in self._parts_with_text(name)}
        if (n_tags := sum(content.count(b"<") for content in texts.values())) > _MOST_TAGS:
            raise DataError(f"{n_tags:,} tags; at most {_MOST_TAGS:,} are read", name, advice="split it")
        self._parts = {part: _Part(content, part, name, format) for part, content in texts.items()}
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
        given = iter(translations)
        languages = Languages(self._source, target_lang) if target_lang else None
        parts = {name: part.rebuild(given, languages, self._tree) for name, part in self._parts.items()}
        changed = {name: content for name, content in parts.items() if content is not None}
        return self._package.rebuild(changed) if changed else self._content

    def _tree(self, part: str) -> Element:
        """Return the root of a part; of one that is not there, an element without children."""
        if part in self._parts:
            return self._parts[part].root
        if part not in self._others:
            is_there = part in self._package.names
            tokens = read_xml(self._package.read(part), self._name / part)[2] if is_there else ()
            self._others[part] = xml_tree(tokens)
        return self._others[part]

    def _parts_with_text(self, name: Path) -> list[str]:
        """Return the names of the parts to translate, in the order of their kinds."""
        types: dict[str, str] = {}
        if _MIMETYPE in self._package.names:
            kind = self._package.read(_MIMETYPE).decode(errors="replace").strip()
            types = {"content.xml": kind, "styles.xml": f"{kind}/styles.xml"}
            if _MANIFEST in self._package.names and b"encryption-data" in self._package.read(_MANIFEST):
                raise DataError("it has a password", name, advice="save it without a password")
        elif _TYPES in self._package.names:
            _, _, tokens = read_xml(self._package.read(_TYPES), name / _TYPES)
            overrides = (element for element in xml_tree(tokens).all() if element.name == "Override")
            types = {one.get("PartName").removeprefix("/"): one.get("ContentType") for one in overrides}
        kinds, main = self._format.parts, self._format.main
        found = [part for part in self._package.names if types.get(part, "").endswith(kinds)]
        found.sort(key=lambda part: next(place for place, kind in enumerate(kinds) if types[part].endswith(kind)))
        if not any(types.get(part, "").endswith(main) for part in self._package.names):
            own = _suffix_of(types)
            advice = f"it is a {own}: rename it" if own else self._package.save
            raise DataError(f"this is no {self._format.name}", name, advice=advice)
        return found
