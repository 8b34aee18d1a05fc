"""Web pages (HTML): everything but their text stays as it is, byte for byte.

A segment is the text between two tags that are not inline, or between line breaks, with its inline tags as marks.
Scripts, styles, `<pre>`, code, and what has `translate="no"` or another language are left alone. Some attributes are
segments, too.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.html_attributes import (
    LANGUAGES,
    attribute_texts,
    direction_of,
    is_page,
    tag_in_language,
    with_new,
)
from dragoman.documents.html_flows import HtmlFlow, PageCutter
from dragoman.documents.html_tokens import HtmlToken, html_tokens, unclosed_notes
from dragoman.documents.markup_texts import MarkupText, filled, sources
from dragoman.documents.xml_tokens import ENCODINGS, declared_encoding, in_encoding
from dragoman.errors import DataError
from dragoman.text.languages import KNOWN_CODES, base_language
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: The encoding that a page names, and how far browsers look for it.
_CHARSET, _N_LOOKED = (
    re.compile(rb"""<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE),
    1_024,
)
#: Encodings of HTML that browsers read as larger ones, by their names in Python.
_LARGER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip


class WebPage:
    """A web page: segments, and what is between them.

    Args:
        content: of the page.
        name: of the page, for messages.

    Raises:
        DataError: it is not in the encoding that it names, or no HTML.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._mark, text, self._encoding = _decoded(content, name)
        self._tokens = html_tokens(text, name)
        self._language = self._source = _language(self._tokens)
        self._parts, self._texts, self._cutter = _cut(self._tokens, self._language)

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation: elements in another one than that of the source stay."""
        self._source = source or self._language
        if self._source != self._language:
            self._parts, self._texts, self._cutter = _cut(self._tokens, self._source)

    def notes(self) -> list[str]:
        """Return a line if the page names another language than its source's, and one if something has no end."""
        return language_notes("page", self._language, self._source) + unclosed_notes(self._tokens)

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of the page, then those of attributes."""
        return [part.source for part in self._parts if isinstance(part, HtmlFlow)] + sources(self._texts)

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the page with a translation in place of each segment, and its language in the tags around them."""
        n_flows = sum(isinstance(part, HtmlFlow) for part in self._parts)
        flows = iter(translations[:n_flows])
        tags = filled(self._texts, iter(translations[n_flows:]))
        if target_lang:
            named, kept = self._cutter.named, self._cutter.kept
            tags |= {tag: tag_in_language(tags.get(tag, tag), target_lang) for tag in named}
            if any(map(is_page, named)):
                others = {tag: way for tag, way in kept.items() if way != direction_of(target_lang)}
                tags |= {tag: with_new(tags.get(tag, tag), dir=way) for tag, way in others.items()}
        written = (
            part.fill(next(flows), tags) if isinstance(part, HtmlFlow) else tags.get(part, part) for part in self._parts
        )
        return self._mark + "".join(written).encode(self._encoding, "xmlcharrefreplace")


def language_notes(kind: str, stated: str | None, source: str | None) -> list[str]:
    """Return a line if a document names another language than the one that it is translated from."""
    stated, source = stated or "", source or ""
    if base_language(stated) not in KNOWN_CODES or base_language(stated) == base_language(source):
        return []
    return [
        f"the {kind} says that it is in {stated}, but is translated from {source}: check the language of the source"
    ]


def html_parts(text: str, name: Path) -> tuple[list[str | HtmlFlow], dict[str, list[MarkupText]]]:
    """Return the parts of a stretch of HTML inside another document, and the texts of its tags.

    Raises:
        DataError: it is no HTML.
    """
    parts, texts, _ = _cut(html_tokens(text, name), None)
    return parts, texts


def _cut(
    tokens: Sequence[HtmlToken], language: str | None
) -> tuple[list[str | HtmlFlow], dict[str, list[MarkupText]], PageCutter]:
    """Return the parts of a page, the texts of those that are tags or objects, and what cut them."""
    cutter = PageCutter(tokens, language)
    parts = [*cutter.parts()]
    in_use = {raw for part in parts for raw in (part.parts if isinstance(part, HtmlFlow) else (part,))}
    texts = cutter.texts
    for token in tokens:
        is_tag = token.kind in ("start", "empty") and token.raw in in_use
        if is_tag and token.raw not in texts and (attributes := attribute_texts(token)):
            texts[token.raw] = attributes
    return parts, texts, cutter


def _language(tokens: Sequence[HtmlToken]) -> str | None:
    """Return the language that the page names."""
    start = next((token for token in tokens if token.kind == "start" and token.name == "html"), None)
    attributes = {one.name: one.value for one in start.attributes()} if start else {}
    return next((attributes[name] for name in LANGUAGES if attributes.get(name)), None)


def _decoded(content: bytes, name: Path) -> tuple[bytes, str, str]:
    """Return the byte order mark of a page, its text and its encoding.

    It is UTF-8 if it can be, whatever it names: other programs may have changed it. Only ASCII is as it says.
    """
    if b"\x1b" in content:  # such encodings switch by it, and their Japanese looks like ASCII
        raise DataError("pages in an encoding such as ISO-2022-JP are not read", name, advice="convert it to UTF-8")
    encoding = _encoding(content)
    if encoding and content.isascii():  # characters that it gets have their numbers
        return b"", content.decode(), "ascii"
    try:
        return *decode(content, name), "utf-8"
    except DataError:
        if not encoding:
            raise
        return b"", in_encoding(content, encoding, name), encoding


def _encoding(content: bytes) -> str:
    """Return the encoding that a page names, or nothing for UTF-8 and for unknown ones."""
    declared, found = declared_encoding(content), _CHARSET.search(content, 0, _N_LOOKED)
    stated = declared or (found[1].decode().lower() if found else "")
    try:
        name = codecs.lookup(stated).name if ENCODINGS.fullmatch(stated) else ""
    except LookupError:
        return ""
    return "" if name == "utf-8" else name if declared else _LARGER.get(name, name)
