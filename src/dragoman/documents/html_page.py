"""Web pages (HTML): everything but their text stays as it is, byte for byte.

A segment is the text between two tags that are not inline, or between line breaks, with its inline tags as marks.
Scripts, styles, `<pre>`, code, and what has `translate="no"` or another language are left alone. Some attributes are
segments, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.html_attributes import (
    LANGUAGES,
    attribute_texts,
    direction_of,
    is_page,
    tag_in_direction,
    tag_in_language,
)
from dragoman.documents.html_flows import HtmlFlow, PageCutter
from dragoman.documents.html_tokens import HtmlToken, html_tokens
from dragoman.documents.markup_texts import MarkupText, filled, sources
from dragoman.text.languages import KNOWN_CODES, base_language
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


class WebPage:
    """A web page: segments, and what is between them.

    Args:
        content: of the page.
        name: of the page, for messages.

    Raises:
        DataError: it is not UTF-8, or no HTML.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._mark, text = decode(content, name)
        self._tokens = html_tokens(text, name)
        self._language = self._source = _language(self._tokens)
        self._parts, self._texts, self._cutter = _cut(self._tokens, self._language)

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation: elements in another one than that of the source stay."""
        self._source = source or self._language
        if self._source != self._language:
            self._parts, self._texts, self._cutter = _cut(self._tokens, self._source)

    def notes(self) -> list[str]:
        """Return a line if the page names another language than the one that it is translated from."""
        return language_notes("page", self._language, self._source)

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
                tags |= {tag: tag_in_direction(tags.get(tag, tag), way) for tag, way in others.items()}
        written = (
            part.fill(next(flows), tags) if isinstance(part, HtmlFlow) else tags.get(part, part) for part in self._parts
        )
        return self._mark + "".join(written).encode()


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
