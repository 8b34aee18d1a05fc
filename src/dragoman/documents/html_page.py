"""Web pages (HTML): everything but their text stays as it is, byte for byte.

A segment is the text between two tags that are not inline, or between line breaks, with its inline tags as marks.
Scripts, styles, `<pre>`, code, and what has `translate="no"` or another language are left alone. Some attributes are
segments, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.html_attributes import attribute_texts, with_language
from dragoman.documents.html_flows import HtmlFlow, PageCutter
from dragoman.documents.html_tokens import HtmlToken, html_tokens
from dragoman.documents.markup_texts import MarkupText, filled, sources
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


class WebPage:
    """A web page: segments, and what is between them.

    Args:
        mark: its byte order mark, or nothing.
        text: of the page.
        name: of the page, for messages.
    """

    def __init__(self, mark: bytes, text: str, name: Path) -> None:
        self._mark, self._tokens = mark, html_tokens(text, name)
        self._parts, self._texts = _cut(self._tokens, _language(self._tokens))

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation: elements in another one than that of the source stay."""
        tags = (token for token in self._tokens if token.kind == "start" and token.name not in ("html", "body"))
        if source is not None and any("lang" in tag.raw for tag in tags):
            self._parts, self._texts = _cut(self._tokens, source)

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of the page, then those of attributes."""
        return [part.source for part in self._parts if isinstance(part, HtmlFlow)] + sources(self._texts)

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the page with a translation in place of each segment, and the language in its first tag."""
        n_flows = sum(isinstance(part, HtmlFlow) for part in self._parts)
        flows = iter(translations[:n_flows])
        tags = filled(self._texts, iter(translations[n_flows:]))
        written = []
        for part in self._parts:
            if isinstance(part, HtmlFlow):
                written.append(part.fill(next(flows), tags))
            else:
                tag = tags.get(part, part)
                written.append(with_language(tag, target_lang) if target_lang and part[:5].lower() == "<html" else tag)
        return self._mark + "".join(written).encode()


def parse_html(content: bytes, name: Path) -> WebPage:
    """Find the segments of a web page.

    Raises:
        DataError: it is not UTF-8, or no HTML.
    """
    return WebPage(*decode(content, name), name)


def html_parts(text: str, name: Path) -> tuple[list[str | HtmlFlow], dict[str, list[MarkupText]]]:
    """Return the parts of a stretch of HTML inside another document, and the texts of its tags.

    Raises:
        DataError: it is no HTML.
    """
    return _cut(html_tokens(text, name), None)


def _cut(tokens: Sequence[HtmlToken], language: str | None) -> tuple[list[str | HtmlFlow], dict[str, list[MarkupText]]]:
    """Return the parts of a page, and the texts of those that are tags or objects."""
    cutter = PageCutter(tokens, language)
    parts = [*cutter.parts()]
    in_use = {raw for part in parts for raw in (part.parts if isinstance(part, HtmlFlow) else (part,))}
    texts = cutter.texts
    for token in tokens:
        is_tag = token.kind in ("start", "empty") and token.raw in in_use
        if is_tag and token.raw not in texts and (attributes := attribute_texts(token)):
            texts[token.raw] = attributes
    return parts, texts


def _language(tokens: Sequence[HtmlToken]) -> str | None:
    """Return the language that the page names."""
    start = next((token for token in tokens if token.kind == "start" and token.name == "html"), None)
    attributes = {one.name: one.value for one in start.attributes()} if start else {}
    return attributes.get("lang") or attributes.get("xml:lang") or None
