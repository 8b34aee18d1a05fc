"""The text of a unit of XLIFF or TMX, or of a string of an app: segments, with inline elements as marks.

An element that wraps words is a mark. Two elements that stand for the start and the end of a format are one, too. A
placeholder is a verbatim stretch, because it stands for a word. Tags of HTML that are written as text are marks, and
placeholders of programs (`%s`, `{0}`) are verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dragoman.documents.mark_projection import project
from dragoman.documents.shortcuts import Shortcut, find_shortcut, find_tabs, place_shortcut
from dragoman.documents.xml_tokens import ILLEGAL, XmlFile, XmlToken, escape_xml, text_of
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.languages import UNSPACED
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder, without
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
_LINE_BREAKS = frozenset(("lb", "pb", "cb", "x-html-br", "xlf:lb", "xlf:pb"))
#: A text that is one section of CDATA.
_SECTION = re.compile(r"(?P<start>\s*<!\[CDATA\[)(?P<text>(?:(?!\]\]>).)*)(?P<end>\]\]>\s*)", re.DOTALL)
#: Elements inside each other; deeper ones stay as they are.
_MOST_DEPTH = 50
#: Letters that stand for the mark of a shortcut until the tags are in the text, because no new word may be there. Where
#: each character is a word, the second one stands for the character before the mark, too.
_PLACE, _UNSPACED_PLACE = "\ua66e", "\u9fff"
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, kw_only=True)
class TextSyntax:
    """The way in which a format writes a text.

    Args:
        decode: returns the text that characters of the file stand for, after those of XML.
        encode: the reverse.
        keep: writes what stays as it is, such as a placeholder; the default is `encode`.
        breaks: what ends a segment, as the file writes it.
        edge: white space around a segment, as the file writes it.
        kept: placeholders of the format.
        is_cut: its lines are cut at tabs too.
        is_xml: entities are read and written.
        is_app: every element wraps its words, except those that say they stay; a section of CDATA stays one.
    """

    decode: Callable[[str], str] = str
    encode: Callable[[str], str] = str
    keep: Callable[[str], str] | None = None
    breaks: re.Pattern[str] | None = None
    edge: re.Pattern[str] = re.compile(r"\s+")
    kept: re.Pattern[str] | None = None
    is_cut: bool = True
    is_xml: bool = True
    is_app: bool = False

    def read(self, raw: str) -> str:
        """Return the text of characters of the file."""
        return self.decode(text_of(raw) if self.is_xml else raw)

    def write(self, text: str) -> str:
        """Return text as the file writes it."""
        return self._outer(self.encode(text))

    def write_kept(self, text: str) -> str:
        """Return what stays as the file writes it."""
        return self._outer((self.keep or self.encode)(text))

    def _outer(self, text: str) -> str:
        if self.is_xml:
            return escape_xml(text)
        return ILLEGAL.sub("", text).replace("]]>", "]]]]><![CDATA[>") if self.is_app else text


_BREAKS = re.compile(r"\r\n|\r|\n|&#(?:10|x0?[Aa]);")
#: Texts of XML whose white space has no meaning, and those whose lines have.
PLAIN_XML, PRESERVED_XML = TextSyntax(), TextSyntax(breaks=_BREAKS)


@dataclass(frozen=True)
class Flow:
    """A segment, and its text as it is in the file.

    Args:
        shortcut: a mark that is not in `source`, as in "&Open".
        write: writes text in the format of the file.
    """

    raw: str
    source: MarkedText
    shortcut: Shortcut | None = None
    write: Callable[[str], str] = escape_xml

    def fill(self, translation: Translation) -> str:
        """Return the text with another one."""
        if translation.text == self.source.text:
            return self.raw
        if self.shortcut is None:
            return project(self.source, translation.text, translation.alignment, self.write)
        text = translation.text
        at, added = place_shortcut(text, self.shortcut)
        has_unspaced = added and _UNSPACED.match(text[:at][-1:])
        start, place = (at - 1, _UNSPACED_PLACE) if has_unspaced else (at, _PLACE)
        marked = text[:start] + place + text[at:] if added else text
        written = project(self.source, marked, translation.alignment, self.write)
        return written.replace(self.write(place), self.write(text[start:at] + added), 1)


def inline_parts(file: XmlFile, start: int, end: int, syntax: TextSyntax = PLAIN_XML) -> list[str | Flow]:
    """Return what is between two tokens of a file: segments, and what is between them.

    A message of ICU, which may have several lines, is in one segment with everything around it.
    """
    if has_icu_message("".join(token.text for token in file.tokens[start:end])):
        return [*_Parts(file, replace(syntax, breaks=None, is_cut=False)).parts(start, end, inside=True)]
    return [*_Parts(file, syntax).parts(start, end)]


def plain_parts(raw: str, syntax: TextSyntax) -> list[str | Flow]:
    """Return the segments of a text without elements, and what is between them."""
    return inline_parts(XmlFile(b"", "", [XmlToken("text", raw)], {}, ""), 0, 1, syntax)


def sources_of(parts: Sequence[str | Flow]) -> list[MarkedText]:
    """Return the texts of the segments."""
    return [part.source for part in parts if isinstance(part, Flow)]


def fill_parts(parts: Sequence[str | Flow], given: Iterator[Translation]) -> tuple[str, list[Translation]]:
    """Return the parts with a translation in place of each segment, and these translations."""
    texts, used = [], list[Translation]()
    for part in parts:
        if isinstance(part, Flow):
            used.append(next(given))
            texts.append(part.fill(used[-1]))
        else:
            texts.append(part)
    return "".join(texts), used


class _Parts:
    """Cuts the content of an element into segments."""

    def __init__(self, file: XmlFile, syntax: TextSyntax) -> None:
        self._file, self._syntax = file, syntax
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
            elif token.kind == "text":
                yield from self._lines(token.raw)
            else:
                self._add(at, "")
            at = stop
        yield from self._flush()

    def _wraps_segments(self, at: int, stop: int) -> bool:
        return self._file.tokens[at].name in _WRAPPING and any(map(is_segment, self._file.tokens[at:stop]))

    def _lines(self, raw: str) -> Iterator[str | Flow]:
        """Add text outside of elements; each of its line breaks ends a segment."""
        section = _SECTION.fullmatch(raw) if self._syntax.is_app else None
        if section:
            yield from self._flush()
            inner = XmlFile(b"", "", [XmlToken("text", section["text"])], {}, "")
            yield section["start"]
            yield from _Parts(inner, replace(self._syntax, is_xml=False)).parts(0, 1)
            yield section["end"]
            return
        for text, line_break in _lines(raw, self._syntax):
            self._pieces.append(text)
            self._add_line(self._syntax.read(text))
            if line_break:
                yield from self._flush()
                yield line_break

    def _flush(self) -> Iterator[str | Flow]:
        """Yield the segment so far, and begin another one."""
        raw, source = "".join(self._pieces), self._builder.build()
        self._pieces, self._builder = [], MarkedTextBuilder()
        if not source.has_words:
            yield raw
            return
        edges = [match.span() for match in self._syntax.edge.finditer(raw)]
        first = edges[0][1] if edges and edges[0][0] == 0 else 0
        last = edges[-1][0] if edges and edges[-1][1] == len(raw) else len(raw)
        shortcut = None
        if (found := find_shortcut(source.text)) and not _has_edge(source, *found[:2]):
            source, shortcut = without(source, *found[:2]), found[2]
        yield from (raw[:first], Flow(raw[first:last], source, shortcut, self._syntax.write), raw[last:])

    def _add(self, at: int, parent: str) -> None:
        """Add a token, with what is inside an element."""
        tokens, builder = self._file.tokens, self._builder
        token = tokens[at]
        if token.kind == "text":
            self._pieces.append(token.raw)
            for text, line_break in _lines(token.raw, self._syntax):
                self._add_line(self._syntax.read(text))
                if line_break:
                    self._builder.add_point(line_break, is_space=True)
            return
        if token.kind != "start":  # a comment goes
            return
        stop = self._file.ends[at]
        is_wrapping = token.name in _WRAPPING or (self._syntax.is_app and tokens[stop].raw)
        if is_wrapping and builder.depth < _MOST_DEPTH and not is_kept(token):
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

    def _add_line(self, line: str) -> None:
        """Add text of a message, with the tags that Phrase writes as text if they are in pairs."""
        found = list(_BRACED.finditer(line))
        names = {tag["opened"] for tag in found} & {tag["closed"] for tag in found}
        at = 0
        for tag in found:
            if (name := tag["opened"] or tag["closed"]) in names:
                self._add_stretch(line[at : tag.start()])
                (self._builder.open if tag["opened"] else self._builder.close)(
                    f"{{{name}", self._syntax.write_kept(tag[0])
                )
                at = tag.end()
        self._add_stretch(line[at:])

    def _add_stretch(self, text: str) -> None:
        add_message(self._builder, text, self._syntax.write_kept, self._syntax.kept)

    def _add_code(self, token: XmlToken, raw: str, parent: str) -> None:
        """Add an element that stands for code or a placeholder."""
        name, attributes, builder = token.name, token.attributes, self._builder
        angular = _ANGULAR.fullmatch(attributes.get("id", "")) if name == "x" else None
        if name == "br" or _LINE_BREAKS & {attributes.get(key) for key in ("ctype", "type", "subType")}:
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


def _has_edge(source: MarkedText, start: int, end: int) -> bool:
    """Return True if a mark begins or ends inside a stretch of a text, or a part of it is verbatim."""
    has_mark = any(start < edge < end for mark in source.marks for edge in mark[:2])
    return has_mark or any(first < end and start < last for first, last in source.verbatim)


def _lines(raw: str, syntax: TextSyntax) -> Iterator[tuple[str, str]]:
    """Yield each line of a text, or part of it between tabs, with the break, tab or key after it; "" after the last."""
    if "<![CDATA[" in raw:
        if not syntax.breaks and "\t" not in raw:
            yield raw, ""
            return
        raw = syntax.write(syntax.read(raw))  # a break may not cut it
    at = 0
    for match in syntax.breaks.finditer(raw) if syntax.breaks else ():
        yield from _between_tabs(raw[at : match.start()], match[0], syntax)
        at = match.end()
    yield from _between_tabs(raw[at:], "", syntax)


def _between_tabs(line: str, line_break: str, syntax: TextSyntax) -> Iterator[tuple[str, str]]:
    at = 0
    for start, end in find_tabs(line, syntax.read) if syntax.is_cut else ():
        yield line[at:start], line[start:end]
        at = end
    yield line[at:], line_break


def is_segment(token: XmlToken) -> bool:
    """Return True for the element of XLIFF 1.2 around a segment."""
    return token.kind == "start" and token.name == "mrk" and token.attributes.get("mtype") == "seg"


def is_kept(token: XmlToken) -> bool:
    """Return True for an element whose text stays as it is: in strings of Android, `<xliff:g>`."""
    return (
        token.name == "xliff:g"
        or token.attributes.get("translate") == "no"
        or token.attributes.get("mtype") == "protected"
    )


def _first(attributes: Mapping[str, str], names: Sequence[str]) -> str:
    return next((attributes[name] for name in names if name in attributes), "")
