"""The text of a web page, cut into segments: between two tags that are not inline, and between line breaks."""

from __future__ import annotations

import html
import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dragoman.documents.hard_breaks import OBJECT, cut_at
from dragoman.documents.html_attributes import (
    LANGUAGES,
    attribute_texts,
    direction_of,
    field_texts,
    object_texts,
    stated_direction,
)
from dragoman.documents.html_tokens import CODE, INLINE, OBJECTS, RAW_TO_END, READINGS, SKIPPED, VOID, HtmlToken
from dragoman.documents.mark_projection import project
from dragoman.documents.markup_texts import MarkupText, replaced
from dragoman.text.languages import base_language
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.sentences import has_words
from dragoman.translator import Translation

#: Tokens; one of the kind "kept" or "other" may stand for a whole element.
_Flow = Sequence[HtmlToken]
#: Kinds of elements with the numbers of pages of the printed book.
_PAGE_NUMBERS = frozenset(("pagebreak", "page-list", "doc-pagebreak", "doc-pagelist"))


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
        return project(source, translation.text, translation.alignment, escape_html)


def escape_html(text: str) -> str:
    """Return text as it is written between tags."""
    return html.escape(text, quote=False)


class PageCutter:
    """Cuts a page into segments and what is between them.

    Args:
        tokens: of the page.
        language: elements that name another one stay as they are; if it is None, no element does for its language.
    """

    def __init__(self, tokens: Sequence[HtmlToken], language: str | None) -> None:
        self._tokens = tokens
        self._language = base_language(language) if language else None
        self._direction = direction_of(language or "")
        self._ends = _matching_ends(tokens)
        self._flow: list[HtmlToken] = []
        #: The places of letters to translate, and of tags with the direction of the page but no language.
        self._words: list[int] = []
        self._directed: list[int] = []
        #: Texts inside parts that are kept.
        self.texts: dict[str, list[MarkupText]] = {}
        #: Tags around text to translate that name its language or direction, or could: the new text has others.
        self.named: set[str] = set()
        #: The directions of blocks that stay, by their tags.
        self.kept: dict[str, str] = {}

    def parts(self) -> Iterator[str | HtmlFlow]:
        """Yield the parts in their order."""
        at = 0
        while at < len(self._tokens):
            token, end = self._tokens[at], at + 1
            is_kept = token.kind == "start" and self._is_kept(at)
            if is_kept:
                end = self._ends.get(at, len(self._tokens))
            elif token.kind in ("start", "empty"):
                self._add_named(at)
            elif token.kind == "text" and any(map(str.isalpha, token.text)):
                self._words.append(at)
            raw = "".join(one.raw for one in self._tokens[at:end])
            if token.name in OBJECTS and is_kept and (texts := object_texts(self._tokens[at:end])):
                self.texts[raw] = texts
            if token.name in OBJECTS or (is_kept and _is_unread(token)):
                self._flow.append(HtmlToken("other", raw))
            elif token.name in CODE or token.name in INLINE or not token.name:
                self._flow.append(HtmlToken("kept", raw) if is_kept else token)
            else:
                yield from self._flush()
                if is_kept and (token.name == "pre" or token.name not in SKIPPED):
                    self._add_kept(token)
                yield token.raw  # apart, because it may have attributes to translate
                inner = raw[len(token.raw) :]
                if token.name == "textarea" and (texts := field_texts(self._tokens[at + 1 : end])):
                    self.texts[inner] = texts
                    self._words.append(at + 1)
                    self._add_named(at)
                yield inner
            at = end
        yield from self._flush()
        self.named |= {self._tokens[at].raw for at in self._directed if self._has_text(at)}

    def _is_kept(self, at: int) -> bool:
        """Return True if the content of an element stays as it is."""
        token = self._tokens[at]
        if token.name in VOID:
            return False
        if token.name in OBJECTS or token.name in SKIPPED:
            return at in self._ends or token.name in RAW_TO_END
        is_no_text = (
            token.name in CODE
            or token.name in READINGS
            or any(
                (name == "translate" and value.lower() == "no")
                or (name == "class" and "notranslate" in value.split())
                or (name in LANGUAGES and token.name not in ("html", "body") and self._is_foreign(value))
                for name, value, _, _ in token.attributes()
            )
            or _has_page_numbers(token)
        )
        return is_no_text and at in self._ends

    def _add_named(self, at: int) -> None:
        """Note a tag to change: that of the whole page, or one that names the language or the direction of the text."""
        token = self._tokens[at]
        languages = [one.value for one in token.attributes() if one.name in LANGUAGES and one.value]
        direction = stated_direction(token)
        is_whole = token.name == "html" or (token.name == "body" and (languages or direction))
        if is_whole or any(base_language(each) == self._language for each in languages):
            self.named.add(token.raw)
        elif direction == self._direction:
            self._directed.append(at)

    def _add_kept(self, token: HtmlToken) -> None:
        """Note a block that stays and takes its direction from the page: its tag must then name it."""
        named = {one.name: one.value for one in token.attributes()}
        language = next((named[name] for name in LANGUAGES if named.get(name)), None)
        if "dir" not in named and not _has_page_numbers(token):
            own = direction_of(language) if language else self._direction
            self.kept[token.raw] = "ltr" if token.name == "pre" else own

    def _has_text(self, at: int) -> bool:
        """Return True if a tag has text to translate, or its element has."""
        token = self._tokens[at]
        is_open = token.kind == "start" and token.name not in VOID
        end = self._ends.get(at, len(self._tokens)) if is_open else at
        return bisect(self._words, at) < bisect(self._words, end) or bool(attribute_texts(token))

    def _is_foreign(self, language: str) -> bool:
        return bool(self._language and language) and base_language(language) != self._language

    def _flush(self) -> Iterator[str | HtmlFlow]:
        """Yield the parts of the flow so far, and begin another one."""
        flow, self._flow = self._flow, []
        breaks = [(at, at + 1) for at, token in enumerate(flow) if token.name == "br"]
        for start, end in cut_at(breaks, (0, len(flow)), lambda start, end: _shown(flow[start:end])):
            yield from _line_parts(flow[start:end])
            yield from (token.raw for token in flow[end : end + 1])


def _has_page_numbers(token: HtmlToken) -> bool:
    kinds = (one.value.split() for one in token.attributes() if one.name in ("epub:type", "role"))
    return any(not _PAGE_NUMBERS.isdisjoint(kind) for kind in kinds)


def _is_unread(token: HtmlToken) -> bool:
    """Return True for an element that is no part of the sentence around it."""
    return token.name in READINGS or (token.name in INLINE and _has_page_numbers(token))


def _shown(flow: _Flow) -> str:
    """Return what a line shows."""
    return "".join({"text": token.text, "kept": OBJECT}.get(token.kind, "") for token in flow)


def _line_parts(flow: _Flow) -> Iterator[str | HtmlFlow]:
    """Yield the parts of a flow without a break, or of several lines that are one sentence."""
    first, last = 0, len(flow)
    while first < last and _is_around(flow[first]):
        first += 1
    while first < last and _is_around(flow[last - 1]):
        last -= 1
    yield from (token.raw for token in flow[:first])
    core, flow = flow[first:last], flow[last:]
    at = 0
    for start, end in link_groups(core):
        yield from _flow_parts(core[at:start])
        yield from _flow_parts(core[start:end])
        at = end
    yield from _flow_parts(core[at:])
    yield from (token.raw for token in flow)


def _is_around(token: HtmlToken) -> bool:
    """Return True for what needs no place in a flow if it is at one of its ends."""
    return token.kind == "other" or (token.kind == "text" and token.raw.isspace())


def _flow_parts(flow: _Flow) -> Iterator[str | HtmlFlow]:
    builder = MarkedTextBuilder()
    for token in flow:
        if token.kind == "kept":
            builder.add_verbatim(token.raw)
        elif token.kind == "text":
            builder.add_text(token.text)
        elif token.kind == "start" and token.name not in VOID:
            builder.open(token.name, token.raw)
        elif token.kind == "end" and token.name not in VOID:
            builder.close(token.name, token.raw)
        else:
            builder.add_point(token.raw, is_space=token.name == "br")
    source, parts = builder.build(), [token.raw for token in flow]
    if not flow or not source.has_words:
        yield from parts
        return
    before = after = ""
    if flow[0].kind == "text":
        n_spaces = len(parts[0]) - len(parts[0].lstrip())
        before, parts[0] = parts[0][:n_spaces], parts[0][n_spaces:]
    if flow[-1].kind == "text":
        n_characters = len(parts[-1].rstrip())
        parts[-1], after = parts[-1][:n_characters], parts[-1][n_characters:]
    yield from (before, HtmlFlow(parts, source), after)


def _matching_ends(tokens: Sequence[HtmlToken]) -> dict[int, int]:
    """Return the end of each element that has one, by its start; inline elements end before the next block."""
    ends: dict[int, int] = {}
    open_tags: dict[str, list[int]] = {}
    for at, token in enumerate(tokens):
        if token.name in (("rb", *READINGS) if token.kind == "start" else ("ruby",)):
            ends |= {start: at for name in READINGS for start in open_tags.pop(name, ())}
        if token.kind == "start":
            open_tags.setdefault(token.name, []).append(at)
        elif token.kind == "end" and open_tags.get(token.name):
            ends[open_tags[token.name].pop()] = at + 1
        is_block = token.name and token.name not in INLINE and token.name not in CODE and token.name not in OBJECTS
        if is_block and token.kind in ("start", "end"):
            for name in (INLINE | CODE) - {"math"}:  # the elements of a formula are no blocks
                open_tags.pop(name, None)
    return ends


#: A sign between the links of a row, which no sentence has there.
_SEPARATOR = re.compile(r"\s*[|·•‧∙]\s*")


def link_groups(flow: _Flow) -> list[tuple[int, int]]:
    """Return the range of each link in a row: links without words between them, or with a sign such as | between."""
    elements = _elements(flow)
    if elements is None or len(elements) < 2:
        return []
    is_link = [any(token.name == "a" for token in flow[first:last]) for first, last in elements]
    ends = [0, *(end for _, end in elements)]
    starts = [*(start for start, _ in elements), len(flow)]
    if all(is_link) and not any(
        has_words(_text(flow[end:start])) or any(token.kind == "kept" for token in flow[end:start])
        for end, start in zip(ends, starts, strict=True)
    ):
        return elements
    in_row = set()
    for number, ((_, end), (start, _)) in enumerate(pairwise(elements)):
        if is_link[number] and is_link[number + 1] and _SEPARATOR.fullmatch(_text(flow[end:start])):
            in_row |= {number, number + 1}
    return [elements[number] for number in sorted(in_row)]


def _elements(flow: _Flow) -> list[tuple[int, int]] | None:
    """Return the range of each outermost element of a flow; None if a tag has no partner."""
    elements: list[tuple[int, int]] = []
    depth = start = 0
    for at, token in enumerate(flow):
        if token.kind == "start" and token.name not in VOID:
            start = at if depth == 0 else start
            depth += 1
        elif token.kind == "end":
            depth -= 1
            if depth < 0:
                return None
            elements += [(start, at + 1)] if depth == 0 else []
    return elements if depth == 0 else None


def _text(flow: _Flow) -> str:
    return "".join(token.text for token in flow if token.kind == "text")
