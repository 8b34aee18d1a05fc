"""Books (EPUB 2 and 3): pages are read as web pages; titles, the description and the table of contents are XML.

One part of the package is read at a time. What has no text to translate stays, byte for byte.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from dragoman.documents.html_attributes import tag_in_language
from dragoman.documents.html_flows import escape_html
from dragoman.documents.html_page import WebPage, language_notes
from dragoman.documents.table_cells import CellText
from dragoman.documents.xml_tokens import XmlFile, escape_xml, parse_xml, with_attribute
from dragoman.documents.zip_package import ZipPackage
from dragoman.errors import DataError, counted
from dragoman.text.languages import base_language, is_right_to_left
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_BOOK, _CONTENTS = "application/oebps-package+xml", "application/x-dtbncx+xml"
#: Kinds of pages; some programs give theirs the second one, and old books have the third one.
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
#: Elements with text, by the kind of a part and without prefixes; what is inside some others stays.
_WITH_TEXT = {_BOOK: ("title", "description"), _CONTENTS: ("text",)}
_KEPT = ("docAuthor", "pageList")
#: Of all parts with text, because each takes RAM.
_MOST_TAGS = 2_000_000


class _BookList:
    """The package document of a book, or its table of contents (NCX).

    Args:
        source: the language of the texts to translate.
    """

    def __init__(self, content: bytes, name: Path, kind: str, source: str | None) -> None:
        self._file = parse_xml(content, name, allow_doctype=True)
        self._source = source
        #: Texts by the places of their tokens, read as cells of a table are: as HTML if they have tags.
        self._texts = {
            at: CellText.of(self._file.tokens[at].text)
            for at in _texts(self._file, *_WITH_TEXT[kind])
            if not self._is_foreign(self._file.tokens[at - 1].attributes.get("xml:lang"))
        }

    @property
    def languages(self) -> list[str]:
        """The languages that the book names."""
        return [self._file.tokens[at].text.strip() for at in _texts(self._file, "language")]

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate."""
        return [segment for cell in self._texts.values() for segment in cell.document.segments()]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the part with a translation in place of each segment, and their language."""
        given = iter(translations)
        changed: dict[int, str] = {}
        for at, cell in self._texts.items():
            text = cell.document.rebuild([next(given) for _ in cell.document.segments()]).decode()
            if text != cell.value:
                changed[at] = escape_xml(text)
        return self._file.written(changed | dict(self._language_changes(target_lang)) if target_lang else changed)

    def _language_changes(self, target: str) -> Iterator[tuple[int, str]]:
        """Yield the places of tokens that name the language or its direction, and the new tokens."""
        tokens, root = self._file.tokens, self._file.root
        for number, at in enumerate(_texts(self._file, "language")):
            if number == 0 or not self._is_foreign(tokens[at].text.strip()):
                yield at, escape_xml(target)
        for at in (root, *(at - 1 for at in self._texts)):
            yield at, tag_in_language(tokens[at].raw, target)
        is_reversed = is_right_to_left(target) != is_right_to_left(self._source or "")
        if is_reversed and tokens[root].attributes.get("version", "").startswith("3"):
            direction = "rtl" if is_right_to_left(target) else "ltr"
            for at in _elements(self._file, "spine"):
                yield at, with_attribute(tokens[at].raw, "page-progression-direction", direction)

    def _is_foreign(self, language: str | None) -> bool:
        return bool(language and self._source) and base_language(language or "") != base_language(self._source or "")


class EpubFile:
    """A book.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        DataError: it is no book, damaged, encrypted, or made to do harm.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._content, self._name = content, name
        self._package = ZipPackage(content, name, ".epub", "make it again")
        if _CONTAINER not in self._package.names:
            raise DataError(f"this is no book (no {_CONTAINER})", name, advice="give an .epub")
        books = [path for path, kind in self._listed(_CONTAINER, "rootfile", "full-path") if kind == _BOOK]
        if not books:
            raise DataError("this is no book (it names no package document)", name, advice="give an .epub")
        #: The kind of each part with text, by its name.
        self._kinds = dict.fromkeys(books, _BOOK)
        for book in books:
            self._kinds |= {
                path: kind for path, kind in self._listed(book, "item", "href") if kind in (_CONTENTS, *_PAGES)
            }
        self._refuse_encrypted()
        self._contents = {part: self._package.read(part) for part in self._kinds}
        if (n_tags := sum(content.count(b"<") for content in self._contents.values())) > _MOST_TAGS:
            raise DataError(f"{n_tags:,} tags; at most {_MOST_TAGS:,} are read", name, advice="split it")
        languages = _BookList(self._contents[books[0]], name / books[0], _BOOK, None).languages
        self._language = self._source = next(iter(languages), None)

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation: elements in another one than that of the source stay."""
        self._source = source or self._language

    def notes(self) -> list[str]:
        """Return a line if the book, or pages of it, name another language than the one they are translated from."""
        if notes := language_notes("book", self._language, self._source):
            return notes
        heads = {part: self._page(part, end=b"<body") for part, kind in self._kinds.items() if kind in _PAGES}
        others = [part for part, head in heads.items() if head.notes()]
        if not others:
            return []
        n_pages, first = counted(len(others), "page"), others[0]
        return [f"{n_pages} of the book, such as {first}: {heads[first].notes()[0]}"]

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: title and description, then those of pages, in the order of the manifest."""
        return [segment for part in self._kinds for segment in self._open(part).segments()]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the book with a translation in place of each segment, and its language in all parts."""
        given = iter(translations)
        changed: dict[str, bytes] = {}
        for part, content in self._contents.items():
            document = self._open(part)
            written = document.rebuild([next(given) for _ in document.segments()], target_lang)
            if written not in (content, _without_sections(content)):
                changed[part] = written
        return self._package.rebuild(changed) if changed else self._content

    def _open(self, part: str) -> WebPage | _BookList:
        """Read a part with text."""
        kind = self._kinds[part]
        if kind not in _PAGES:
            return _BookList(self._contents[part], self._name / part, kind, self._source)
        return self._page(part)

    def _page(self, part: str, end: bytes | None = None) -> WebPage:
        """Read a page, up to what begins with some characters."""
        content, name = self._contents[part], self._name / part
        if b"<!ENTITY" in content:
            raise DataError("the page declares entities, which are not read", name, advice="write characters instead")
        page = WebPage(_without_sections(content.partition(end)[0] if end else content), name)
        page.set_languages(self._source, None)
        return page

    def _listed(self, part: str, element: str, attribute: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the kind of each part that an element of another part names.

        Raises:
            DataError: one with text is missing.
        """
        file = parse_xml(self._package.read(part), self._name / part, allow_doctype=True)
        folder = "" if part == _CONTAINER else posixpath.dirname(part)
        for at in _elements(file, element):
            given = file.tokens[at].attributes
            path = posixpath.normpath(posixpath.join(folder, unquote(given.get(attribute, ""))))
            kind = given.get("media-type", "")
            if kind in (_BOOK, _CONTENTS, *_PAGES) and path not in self._package.names:
                raise DataError(f"{path!r}, which it lists, is missing", self._name / part, advice="use another copy")
            yield path, kind

    def _refuse_encrypted(self) -> None:
        """Refuse a book whose text is encrypted; fonts may be."""
        if _ENCRYPTION in self._package.names:
            file = parse_xml(self._package.read(_ENCRYPTION), self._name / _ENCRYPTION)
            found = (unquote(file.tokens[at].attributes.get("URI", "")) for at in _elements(file, "CipherReference"))
            if any(part in self._kinds for part in found):
                raise DataError("the book is encrypted (DRM)", self._name, advice="give one without a copy protection")


def _elements(file: XmlFile, *names: str) -> Iterator[int]:
    """Yield the places of the elements of some names, without prefixes."""
    at = 0
    while at < len(file.tokens):
        token = file.tokens[at]
        name = token.name.rpartition(":")[2] if token.kind == "start" else ""
        if name in names:
            yield at
        at = file.ends[at] if name in _KEPT else at + 1


def _texts(file: XmlFile, *names: str) -> Iterator[int]:
    """Yield the places of the texts that are all the content of elements of some names."""
    found = (at + 1 for at in _elements(file, *names) if file.ends[at] == at + 2)
    return (at for at in found if file.tokens[at].kind == "text")


#: A section of CDATA, or what may have its signs and no section: a comment, a script, a style.
_SECTION = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b(?:[^<>]*[^<>/])?>.*?(?:</\1\b|\Z)"
    rb"|<!\[CDATA\[(?P<text>.*?)(?:(?P<end>\]\]>)|\Z)",
    re.DOTALL,
)


def _without_sections(page: bytes) -> bytes:
    """Return a page without sections of CDATA, which HTML lacks, except in scripts and styles."""

    def written(match: re.Match[bytes]) -> bytes:
        return escape_html(match["text"].decode("latin-1")).encode("latin-1") if match["end"] else match[0]

    return _SECTION.sub(written, page) if b"<![CDATA[" in page else page
