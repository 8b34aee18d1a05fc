"""Web pages (HTML): everything but their text stays as it is, byte for byte.

A segment is the text between two tags that are not inline, with its inline tags as marks. Scripts, styles, `<pre>`,
code, and what has `translate="no"` are left alone. Some attributes are segments, too.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.html_attributes import attribute_texts, with_language
from dragoman.documents.html_elements import CODE, INLINE, OBJECTS, SKIPPED, VOID
from dragoman.documents.html_links import link_groups
from dragoman.documents.html_tokens import HtmlToken, html_tokens
from dragoman.documents.mark_projection import project
from dragoman.documents.markup_texts import MarkupText, MarkupTexts, filled, replaced, sources
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.translator import Translation


@dataclass(frozen=True)
class HtmlFlow:
    """Text between two tags that are not inline: its parts as they are in the page, and what is translated."""

    parts: Sequence[str]
    source: MarkedText

    def fill(self, translation: Translation, changed: Mapping[str, str]) -> str:
        """Return the text with another one.

        Args:
            changed: new tags for old ones.
        """
        if translation.text == self.source.text:
            return "".join(changed.get(part, part) for part in self.parts)
        marks = (mark._replace(opening=replaced(mark.opening, changed)) for mark in self.source.marks)
        source = replace(self.source, marks=tuple(marks))
        return project(source, translation.text, translation.alignment, _escape)


@dataclass(frozen=True)
class WebPage:
    """A web page: segments, and what is between them."""

    mark: bytes
    parts: Sequence[str | HtmlFlow]
    texts: MarkupTexts

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of the page, then those of attributes."""
        return [part.source for part in self.parts if isinstance(part, HtmlFlow)] + sources(self.texts)

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the page with a translation in place of each segment, and the language in its first tag."""
        n_flows = sum(isinstance(part, HtmlFlow) for part in self.parts)
        flows = iter(translations[:n_flows])
        tags = filled(self.texts, iter(translations[n_flows:]))
        written = []
        for part in self.parts:
            if isinstance(part, HtmlFlow):
                written.append(part.fill(next(flows), tags))
            else:
                tag = tags.get(part, part)
                written.append(with_language(tag, target_lang) if target_lang and part[:5].lower() == "<html" else tag)
        return self.mark + "".join(written).encode()


def parse_html(content: bytes, name: Path) -> WebPage:
    """Find the segments of a web page.

    Raises:
        DataError: it is not UTF-8, or no HTML.
    """
    mark, page = decode(content, name)
    return WebPage(mark, *html_parts(page, name))


def html_parts(text: str, name: Path) -> tuple[list[str | HtmlFlow], dict[str, list[MarkupText]]]:
    """Return the parts of a page, or of a stretch of HTML inside another document, and the texts of its tags.

    Raises:
        DataError: it is no HTML.
    """
    tokens = html_tokens(text, name)
    parts = [*_Parts(tokens).parts()]
    in_use = {raw for part in parts for raw in (part.parts if isinstance(part, HtmlFlow) else (part,))}
    texts: dict[str, list[MarkupText]] = {}
    for token in tokens:
        is_tag = token.kind in ("start", "empty") and token.raw in in_use
        if is_tag and token.raw not in texts and (attributes := attribute_texts(token)):
            texts[token.raw] = attributes
    return parts, texts


class _Parts:
    """The parts of a page."""

    def __init__(self, tokens: Sequence[HtmlToken]) -> None:
        self._tokens = tokens
        self._ends = _matching_ends(tokens)
        self._flow: list[tuple[HtmlToken, str]] = []  # with the text of a whole element that is kept

    def parts(self) -> Iterator[str | HtmlFlow]:
        """Yield the parts in their order."""
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            end = at + 1
            if token.kind == "start" and self._is_kept(at):
                end = self._ends.get(at, len(self._tokens))
            raw = "".join(one.raw for one in self._tokens[at:end])
            is_kept = end > at + 1 or (token.kind == "start" and self._is_kept(at))
            if token.name in OBJECTS or token.name in CODE or token.name in INLINE or not token.name:
                self._flow.append((token, raw if is_kept else ""))
            else:
                yield from self._flush()
                yield raw
            at = end
        yield from self._flush()

    def _is_kept(self, at: int) -> bool:
        """Return True if the content of an element stays as it is."""
        token = self._tokens[at]
        if token.name in VOID:
            return False
        if token.name in OBJECTS or token.name in SKIPPED:
            return True
        is_no_text = token.name in CODE or any(
            (name == "translate" and value.lower() == "no") or (name == "class" and "notranslate" in value.split())
            for name, value, _, _ in token.attributes()
        )
        return is_no_text and at in self._ends

    def _flush(self) -> Iterator[str | HtmlFlow]:
        """Yield the parts of the flow so far, and begin another one."""
        flow, self._flow = self._flow, []
        first, last = 0, len(flow)
        while first < last and _is_around(*flow[first]):
            first += 1
        while first < last and _is_around(*flow[last - 1]):
            last -= 1
        yield from (kept or token.raw for token, kept in flow[:first])
        core, flow = flow[first:last], flow[last:]
        at = 0
        for start, end in link_groups(core):
            yield from _flow_parts(core[at:start])
            yield from _flow_parts(core[start:end])
            at = end
        yield from _flow_parts(core[at:])
        yield from (kept or token.raw for token, kept in flow)


def _is_around(token: HtmlToken, kept: str) -> bool:
    """Return True for what needs no place in a flow if it is at one of its ends."""
    return token.kind == "other" or (token.kind == "text" and token.raw.isspace()) or token.name in OBJECTS


def _flow_parts(flow: Sequence[tuple[HtmlToken, str]]) -> Iterator[str | HtmlFlow]:
    builder = MarkedTextBuilder()
    for token, kept in flow:
        if kept and token.name not in OBJECTS:
            builder.add_verbatim(kept)
        elif token.kind == "text":
            builder.add_text(token.text)
        elif token.kind == "start" and token.name not in VOID and not kept:
            builder.open(token.name, token.raw)
        elif token.kind == "end":
            builder.close(token.name, token.raw)
        else:
            builder.add_point(kept or token.raw, is_space=token.name == "br")
    source, parts = builder.build(), [kept or token.raw for token, kept in flow]
    if not flow or not source.has_words:
        yield from parts
        return
    before = after = ""
    if flow[0][0].kind == "text":
        n_spaces = len(parts[0]) - len(parts[0].lstrip())
        before, parts[0] = parts[0][:n_spaces], parts[0][n_spaces:]
    if flow[-1][0].kind == "text":
        n_characters = len(parts[-1].rstrip())
        parts[-1], after = parts[-1][:n_characters], parts[-1][n_characters:]
    yield from (before, HtmlFlow(parts, source), after)


def _matching_ends(tokens: Sequence[HtmlToken]) -> dict[int, int]:
    """Return the end of each element that has one, by its start; inline elements end before the next block."""
    ends: dict[int, int] = {}
    open_tags: dict[str, list[int]] = {}
    for at, token in enumerate(tokens):
        if token.kind == "start":
            open_tags.setdefault(token.name, []).append(at)
        elif token.kind == "end" and open_tags.get(token.name):
            ends[open_tags[token.name].pop()] = at + 1
        is_block = token.name and token.name not in INLINE and token.name not in CODE and token.name not in OBJECTS
        if is_block and token.kind in ("start", "end"):
            for name in (*INLINE, *CODE):
                open_tags.pop(name, None)
    return ends


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
