"""Web pages (HTML): everything but their text stays as it is, byte for byte.

A segment is the text between two tags that are not inline, with its inline tags as marks. Scripts, styles, `<pre>`,
code, and what has `translate="no"` are left alone. Some attributes are segments, too.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.document import Segment
from dragoman.documents.html_elements import ATTRIBUTES, CODE, DESCRIPTIONS, INLINE, OBJECTS, SKIPPED, VOID
from dragoman.documents.html_links import link_groups
from dragoman.documents.html_tokens import HtmlToken, html_tokens
from dragoman.documents.mark_projection import project
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.sentences import has_words
from dragoman.translator import Translation


@dataclass(frozen=True)
class _Flow:
    """Text between two tags that are not inline: its parts as they are in the page, and what is translated."""

    parts: Sequence[str]
    source: MarkedText

    def fill(self, translation: Translation, tags: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the text with another one.

        Args:
            tags: the tags whose attributes change.
        """
        if translation.text == self.source.text:
            return "".join(tags.get(part, part) for part in self.parts)
        marks = (mark._replace(opening=_with_tag(mark.opening, tags)) for mark in self.source.marks)
        source = replace(self.source, marks=tuple(marks))
        return project(source, translation.text, translation.alignment, _escape)


@dataclass(frozen=True)
class WebPage:
    """A web page: segments, and what is between them."""

    mark: bytes
    parts: Sequence[str | _Flow]
    #: Attributes to translate, by the tag that has them: start and end of each value in the tag, quotes included.
    attributes: Mapping[str, Sequence[tuple[int, int, str]]]

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: those of the page, then those of attributes."""
        flows = [part.source for part in self.parts if isinstance(part, _Flow)]
        return flows + [MarkedText(text) for values in self.attributes.values() for _, _, text in values]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the page with a translation in place of each segment, and the language in its first tag."""
        n_flows = sum(isinstance(part, _Flow) for part in self.parts)
        flows, values = iter(translations[:n_flows]), iter(translations[n_flows:])
        tags = {tag: _with_values(tag, places, values) for tag, places in self.attributes.items()}
        written = []
        for part in self.parts:
            if isinstance(part, _Flow):
                written.append(part.fill(next(flows), tags))
            else:
                tag = tags.get(part, part)
                written.append(_with_language(tag, target_lang) if target_lang and part[:5].lower() == "<html" else tag)
        return self.mark + "".join(written).encode()


def parse_html(content: bytes, name: Path) -> WebPage:
    """Find the segments of a web page.

    Raises:
        DataError: it is not UTF-8, or no HTML.
    """
    mark, page = decode(content, name)
    tokens = html_tokens(page, name)
    attributes: dict[str, list[tuple[int, int, str]]] = {}
    parts = [*_Parts(tokens).parts()]
    in_use = {raw for part in parts for raw in (part.parts if isinstance(part, _Flow) else (part,))}
    for token in tokens:
        if token.kind in ("start", "empty") and token.raw in in_use and token.raw not in attributes:
            values = [*_values(token)]
            if values:
                attributes[token.raw] = values
    return WebPage(mark, parts, attributes)


def html_parts(text: str, name: Path) -> list[str | Segment]:
    """Return the parts of a stretch of HTML inside another document; its attributes stay.

    Raises:
        DataError: it is no HTML.
    """
    return [*_Parts(html_tokens(text, name)).parts()]


class _Parts:
    """The parts of a page."""

    def __init__(self, tokens: Sequence[HtmlToken]) -> None:
        self._tokens = tokens
        self._ends = _matching_ends(tokens)
        self._flow: list[tuple[HtmlToken, str]] = []  # with the text of a whole element that is kept

    def parts(self) -> Iterator[str | _Flow]:
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

    def _flush(self) -> Iterator[str | _Flow]:
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


def _flow_parts(flow: Sequence[tuple[HtmlToken, str]]) -> Iterator[str | _Flow]:
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
    yield from (before, _Flow(parts, source), after)


def _with_tag(opening: str, tags: Mapping[str, str]) -> str:
    """Return a tag, which may have a space beside it, with its other attributes."""
    tag = opening.strip()
    return opening.replace(tag, tags[tag]) if tag in tags else opening


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


def _values(token: HtmlToken) -> Iterator[tuple[int, int, str]]:
    """Yield the attributes of a tag to translate: start, end, text."""
    attributes = [*token.attributes()]
    named = {attribute.name: attribute.value.lower() for attribute in attributes}
    if named.get("translate") == "no":
        return
    is_description = token.name == "meta" and (named.get("name") or named.get("property")) in DESCRIPTIONS
    is_button = token.name == "input" and named.get("type") in ("submit", "button", "reset")
    for name, value, start, end in attributes:
        is_text = name in ATTRIBUTES or (name == "content" and is_description) or (name == "value" and is_button)
        if is_text and has_words(value):
            yield start, end, " ".join(value.split())


def _with_values(tag: str, places: Sequence[tuple[int, int, str]], values: Iterator[Translation]) -> str:
    """Return a tag with other values."""
    parts, at = [], 0
    for start, end, text in places:
        value = next(values).text
        parts += [tag[at:start], tag[start:end] if value == text else f'"{html.escape(value)}"']
        at = end
    return "".join([*parts, tag[at:]])


def _with_language(tag: str, language: str) -> str:
    token = HtmlToken("start", tag, "html")
    places = [one for one in token.attributes() if one.name in ("lang", "xml:lang")]
    if not places:
        return f'{tag[:5]} lang="{html.escape(language)}"{tag[5:]}'
    for one in reversed(places):
        tag = f'{tag[: one.start]}"{html.escape(language)}"{tag[one.end :]}'
    return tag


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
