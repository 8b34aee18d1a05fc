"""The text of a unit of XLIFF or TMX: segments, whose inline elements are marks and verbatim stretches.

An element that wraps words is a mark. Two elements that stand for the start and the end of a format are one, too. A
placeholder is a verbatim stretch, because it stands for a word. Tags of HTML that are written as text are marks, and
placeholders of programs (`%s`, `{0}`) are verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dragoman.documents.mark_projection import project
from dragoman.documents.shortcuts import Shortcut, put_shortcut, take_shortcut
from dragoman.documents.xml_tokens import XmlFile, XmlToken, escape_xml
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.rst_marks import add_message
from dragoman.translator import Translation

#: Elements around words: of XLIFF 1.2, XLIFF 2, both, and TMX.
_WRAPPING = frozenset(("g", "pc", "mrk", "hi"))
#: Elements that begin or end a format, and the attributes that name it.
_OPENING = {"bpt": ("rid", "i", "id"), "bx": ("rid", "id"), "sc": ("id",), "sm": ("id",)}
_CLOSING = {
    "ept": ("bpt", ("rid", "i", "id")),
    "ex": ("bx", ("rid", "id")),
    "ec": ("sc", ("startRef", "id")),
    "em": ("sm", ("startRef",)),
}
#: Elements that stand for no word.
_POINTS = frozenset(("it", "ut", "cp"))
#: Placeholders of Angular that wrap words.
_ANGULAR = re.compile(r"(START|CLOSE)_(\w+?)(?:_\d+)?")
#: Tags that Phrase writes as text: "{b>old<b} house".
_BRACED = re.compile(r"\{(?P<opened>\w{1,9})>|<(?P<closed>\w{1,9})\}")
_BREAKS = frozenset(("lb", "pb", "cb", "x-html-br", "xlf:lb", "xlf:pb"))
#: Elements inside each other; deeper ones stay as they are.
_MOST_DEPTH = 50


@dataclass(frozen=True)
class Flow:
    """A segment, and its text as it is in the file.

    Args:
        shortcut: a mark that is not in `source`, as in "&Open"; only a text without other markup has one.
    """

    raw: str
    source: MarkedText
    shortcut: Shortcut | None = None

    def fill(self, translation: Translation) -> str:
        """Return the text with another one."""
        if translation.text == self.source.text:
            return self.raw
        if self.shortcut is not None:
            return escape_xml(put_shortcut(translation.text, self.shortcut))
        return project(self.source, translation.text, translation.alignment, escape_xml)


def inline_parts(file: XmlFile, start: int, end: int, *, is_preserved: bool) -> list[str | Flow]:
    """Return what is between two tokens of a file: segments, and what is between them.

    A message of ICU, which may have several lines, is in one segment with everything around it.

    Args:
        is_preserved: a line break ends a segment.
    """
    if has_icu_message("".join(token.text for token in file.tokens[start:end])):
        return [*_Parts(file, is_preserved=False).parts(start, end, inside=True)]
    return [*_Parts(file, is_preserved=is_preserved).parts(start, end)]


class _Parts:
    """Cuts the content of an element into segments."""

    def __init__(self, file: XmlFile, *, is_preserved: bool) -> None:
        self._file, self._is_preserved = file, is_preserved
        self._pieces: list[str] = []
        self._builder = MarkedTextBuilder()

    def parts(self, start: int, end: int, *, inside: bool = False, depth: int = 0) -> Iterator[str | Flow]:
        """Yield the segments between two tokens, and what is between segments.

        Args:
            inside: these are the tokens of an element around a segment.
            depth: of the elements around these tokens.
        """
        at = start
        while at < end:
            token = self._file.tokens[at]
            stop = self._file.ends[at] + 1 if token.kind == "start" else at + 1
            if is_segment(token) and not inside:
                yield from self._flush()
                yield token.raw
                yield from self.parts(at + 1, stop - 1, inside=True)
                yield self._file.tokens[stop - 1].raw
            elif not inside and depth < _MOST_DEPTH and self._wraps_segments(at, stop):
                yield from self._flush()
                yield token.raw
                yield from self.parts(at + 1, stop - 1, depth=depth + 1)
                yield self._file.tokens[stop - 1].raw
            elif token.kind == "text" and self._is_preserved and "\n" in token.text:
                yield from self._lines(token)
            else:
                self._add(at, "")
            at = stop
        yield from self._flush()

    def _wraps_segments(self, at: int, stop: int) -> bool:
        return self._file.tokens[at].name in _WRAPPING and any(map(is_segment, self._file.tokens[at:stop]))

    def _lines(self, token: XmlToken) -> Iterator[str | Flow]:
        """Add text outside of elements; each of its line breaks ends a segment."""
        for number, line in enumerate(token.text.split("\n")):
            if number:
                yield from self._flush()
                yield "\n"
            self._pieces.append(escape_xml(line))
            self._add_line(line)

    def _flush(self) -> Iterator[str | Flow]:
        """Yield the segment so far, and begin another one."""
        raw, source = "".join(self._pieces), self._builder.build()
        self._pieces, self._builder = [], MarkedTextBuilder()
        if not source.has_words:
            yield raw
            return
        core = raw.strip()
        before, _, after = raw.partition(core)
        text, shortcut = take_shortcut(source.text)
        if shortcut is None or source.marks or source.verbatim:
            yield from (before, Flow(core, source), after)
        else:
            yield from (before, Flow(core, MarkedText(text), shortcut), after)

    def _add(self, at: int, parent: str) -> None:
        """Add a token, with what is inside an element."""
        tokens, builder = self._file.tokens, self._builder
        token = tokens[at]
        if token.kind == "text":
            self._pieces.append(token.raw)
            self._add_text(token.text)
            return
        if token.kind != "start":  # a comment goes
            return
        stop = self._file.ends[at]
        if token.name in _WRAPPING and builder.depth < _MOST_DEPTH and not is_kept(token):
            name, closing = f"element {at}", tokens[stop]
            opening = token.raw if closing.raw else token.raw.removesuffix("/>").rstrip() + ">"
            self._pieces.append(token.raw)
            builder.open(name, opening)
            inner = at + 1
            while inner < stop:
                self._add(inner, name)
                inner = self._file.ends.get(inner, inner) + 1
            self._pieces.append(closing.raw)
            tag = opening[1:].split(None, 1)[0].rstrip(">")
            builder.close(name, closing.raw or f"</{tag}>")
            return
        raw = "".join(one.raw for one in tokens[at : stop + 1])
        self._pieces.append(raw)
        self._add_code(token, raw, parent)

    def _add_text(self, text: str) -> None:
        for number, line in enumerate(text.split("\n") if self._is_preserved else [text]):
            if number:
                self._builder.add_point("\n", is_space=True)
            self._add_line(line)

    def _add_line(self, line: str) -> None:
        """Add text of a message, with the tags that Phrase writes as text if they are in pairs."""
        found = list(_BRACED.finditer(line))
        names = {tag["opened"] for tag in found} & {tag["closed"] for tag in found}
        at = 0
        for tag in found:
            if (name := tag["opened"] or tag["closed"]) in names:
                add_message(self._builder, line[at : tag.start()], escape_xml)
                (self._builder.open if tag["opened"] else self._builder.close)(f"{{{name}", escape_xml(tag[0]))
                at = tag.end()
        add_message(self._builder, line[at:], escape_xml)

    def _add_code(self, token: XmlToken, raw: str, parent: str) -> None:
        """Add an element that stands for code or a placeholder."""
        name, attributes, builder = token.name, token.attributes, self._builder
        angular = _ANGULAR.fullmatch(attributes.get("id", "")) if name == "x" else None
        if _BREAKS & {attributes.get(key) for key in ("ctype", "type", "subType")}:
            builder.add_point(raw, is_space=True)
        elif name in _OPENING or (angular and angular[1] == "START"):
            key = angular[2] if angular else _first(attributes, _OPENING[name])
            builder.open(f"{parent} {name} {key}", raw)
        elif name in _CLOSING:
            partner, keys = _CLOSING[name]
            builder.close(f"{parent} {partner} {_first(attributes, keys)}", raw)
        elif angular:
            builder.close(f"{parent} {name} {angular[2]}", raw)
        elif name in _POINTS:
            builder.add_point(raw)
        else:
            builder.add_verbatim(raw)


def is_segment(token: XmlToken) -> bool:
    """Return True for the element of XLIFF 1.2 around a segment."""
    return token.kind == "start" and token.name == "mrk" and token.attributes.get("mtype") == "seg"


def is_kept(token: XmlToken) -> bool:
    """Return True for an element whose text stays as it is."""
    return token.attributes.get("translate") == "no" or token.attributes.get("mtype") == "protected"


def _first(attributes: Mapping[str, str], names: Sequence[str]) -> str:
    return next((attributes[name] for name in names if name in attributes), "")
