"""The contents of a paragraph in their order: text, objects, what wraps them.

The result of a field, such as the number of a page, is an object with a text. A formula such as CO2 is an object with a
text, too, as in HTML; the reference to a note, such as the 3 after "house", is an object without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Literal, NamedTuple

from dragoman.documents.office_formats import OfficeFormat
from dragoman.documents.office_looks import seen_look
from dragoman.documents.xml_tokens import Element, text_of
from dragoman.text.mark import Mark
from dragoman.text.sub_superscripts import Script, find_sub_superscripts

#: White space of XML, which no-break and wide spaces are not.
_XML_SPACE = " \t\r\n"
_SPACE = re.compile(f"[{_XML_SPACE}]+")
#: Tabs, and in Excel line breaks, whose carriage return is written so.
_TABS, _BREAKS = re.compile(r"(\t)"), re.compile(r"(\t|(?:_x000[Dd]_)?\n)")
#: Fields whose result is text like any other.
_TEXT_FIELDS = frozenset(("HYPERLINK", "TOC", "INDEX", "TOA"))
#: Properties of a control for content that the program fills in.
_FILLED = frozenset(("dataBinding", "dropDownList", "comboBox", "date", "checkbox"))
#: The child with the text of a control, and of characters with their reading above them.
_CONTENTS = frozenset(("sdtContent", "rubyBase", "ruby-base"))
#: Elements of links.
_LINKS = frozenset(("hyperlink", "a"))
#: Fields inside each other; deeper ones are objects, part by part.
_MOST_FIELDS = 20


class Piece(NamedTuple):
    """An element or characters inside a run, with the properties of the run; without them, it is written as it is."""

    content: Element | str
    look: str | None = None


@dataclass(frozen=True)
class Event:
    """One thing that a paragraph shows. A cut parts its text, as a tab does; an object may have a text, as code has.

    Text has its formatting as a reader sees it (`seen`), and sub or sup if it is raised.
    """

    kind: Literal["text", "object", "open", "close", "cut", "break", "code"]
    pieces: tuple[Piece, ...]
    text: str = ""
    seen: str = ""
    script: str = ""

    @property
    def look(self) -> str:
        """The formatting of text."""
        return self.pieces[0].look or ""

    def field(self) -> str:
        """Return the role of one that marks a part of a field: begin, separate or end."""
        content = self.pieces[0].content
        is_mark = self.kind == "object" and isinstance(content, Element) and content.name == "fldChar"
        return content.get("fldCharType") if is_mark and isinstance(content, Element) else ""


def paragraph_events(elements: Sequence[Element], format: OfficeFormat) -> list[Event]:
    """Return what a paragraph shows; of one in a style for code, nothing.

    Args:
        elements: of the paragraph: several if all but the last are its beginning, such as a large first letter.
    """
    last = elements[-1]
    if is_code_paragraph(last, format):
        return []
    reader = _Reader(format, last.prefix)
    events = [*reader.inside(last)]
    text = next((event for event in events if event.kind == "text"), None)
    before = (
        _in_look_of(text, event) if text is not None and is_large_letter(element) else event
        for element in elements[:-1]
        for event in reader.inside(element)
    )
    events = [*before, *events]
    events = _joined(_with_fields([*reader.with_code(events)]))
    return reader.with_formulas([*_with_links(events, format)])


def matching_ends(events: Sequence[Event]) -> dict[int, int]:
    """Return the place of the end of each thing that wraps others, by that of its start, if both are there."""
    ends, waiting = {}, []
    for at, event in enumerate(events):
        if event.kind == "open":
            waiting.append(at)
        elif event.kind == "close" and waiting:
            ends[waiting.pop()] = at
    return ends


class _Reader:
    """Reads paragraphs.

    Args:
        prefix: of elements.
    """

    def __init__(self, format: OfficeFormat, prefix: str) -> None:
        self._format, self._prefix = format, prefix

    def inside(self, parent: Element, look: str | None = None, *, is_code: bool = False) -> Iterator[Event]:
        """Yield what the children of an element show.

        Args:
            look: properties of the run that it is in.
        """
        for child in _with_whole_links(parent.children):
            if isinstance(child, str):
                if not self._format.text and (text := _SPACE.sub(" ", text_of(child))):
                    yield from self._text(Piece(child, look), text, is_code=is_code)
                continue
            piece, role = Piece(child, look), self._format.roles.get(child.name)
            if role == "control":
                content = next((one for one in child.elements if one.name in _CONTENTS), None)
                role = "control" if content and content.end and not is_filled(child) else "shown"
            elif role == "field":
                role = "wrap" if _is_text_field(child.get("instr")) else "shown"
            elif role == "line" and child.get("type") in ("page", "column"):
                role = "cut"
            if role == "run":
                properties = child.child("rPr")
                is_own = properties is not None and _is_code(properties, self._format)
                yield from self.inside(child, _accepted(properties) if properties else "", is_code=is_own)
            elif role == "text":
                is_whole = not self._format.space or child.get("space") == "preserve"
                text = child.text() if is_whole else child.text().strip(_XML_SPACE)
                yield from self._text(piece, text, is_code=is_code)
            elif role == "span":
                is_own = is_code or _is_code(child, self._format)
                yield from self.inside(child, (look or "") + child.start, is_code=is_own)
            elif role in ("hyphen", "space"):
                yield self._event(piece, "-" if role == "hyphen" else " ", is_code=is_code)
            elif role in ("cut", "line"):
                yield Event("cut" if role == "cut" else "break", (piece,))
            elif role == "inside":
                yield from self.inside(child, look, is_code=is_code)
            elif role == "wrap":
                before = "".join(one.raw() for one in child.elements if one.name.endswith("Pr"))
                yield from self._wrapped(child.start + before, child, child.end, look, is_code=is_code)
            elif role == "control" and content is not None:
                yield from self._control(child, content, look, is_code=is_code)
            elif role != "dropped" and not (role is None and child.name.endswith("Pr")):
                texts = (one.text() for one in child.all() if one.name == self._format.text) if role else ()
                yield Event("object", (piece,), _line("".join(texts) if self._format.text else child.text()))

    def _control(self, control: Element, content: Element, look: str | None, *, is_code: bool) -> Iterator[Event]:
        """Yield what an element shows whose text is in one of its children; one in a run wraps runs itself."""
        others = [
            child if isinstance(child, str) else child.raw() for child in control.children if child is not content
        ]
        n_before = next(at for at, child in enumerate(control.children) if child is content)
        is_in_run = look is not None and self._format.text
        first, last = (f"<{self._prefix}r>{look}", f"</{self._prefix}r>") if is_in_run else ("", "")
        opening = "".join([first, control.start, *others[:n_before], content.start])
        closing = "".join([content.end, *others[n_before:], control.end, last])
        yield from self._wrapped(opening, content, closing, look, is_code=is_code)

    def _wrapped(
        self, opening: str, content: Element, closing: str, look: str | None, *, is_code: bool
    ) -> Iterator[Event]:
        if not closing:
            yield Event("object", (Piece(opening),))
            return
        yield Event("open", (Piece(opening),))
        yield from self.inside(content, look, is_code=is_code)
        yield Event("close", (Piece(closing),))

    def _text(self, piece: Piece, text: str, *, is_code: bool) -> Iterator[Event]:
        #: In a format without an element for tabs, they are characters.
        between = _BREAKS if self._format.has_lines else _TABS
        parts = [text] if "cut" in self._format.roles.values() else between.split(text)
        for number, part in enumerate(parts):
            if len(parts) > 1:
                piece = Piece(self._format.characters(part, self._prefix), piece.look)
            if number % 2:
                yield Event("cut" if part == "\t" else "break", (piece,))
            elif part or len(parts) == 1:
                yield self._event(piece, part, is_code=is_code)

    def _event(self, piece: Piece, text: str, *, is_code: bool) -> Event:
        look, seen = piece.look or "", seen_look(piece.look or "", self._format.unseen)
        return Event("code" if is_code else "text", (piece,), text, seen, self._format.script(look))

    def with_code(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events with an object for each stretch of code; the white space around it is text."""
        for is_code, group in groupby(events, lambda event: event.kind == "code"):
            parts = [replace(event, kind="text") if is_code else event for event in group]
            text = "".join(part.text for part in parts)
            if not is_code or not text.strip():
                yield from parts
                continue
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            yield from self._between(parts, 0, start)
            yield Event("object", _pieces([*self._between(parts, start, end)]), _line(text))
            yield from self._between(parts, end, len(text))

    def _between(self, texts: Sequence[Event], start: int, end: int) -> Iterator[Event]:
        """Yield the part of some texts between two characters."""
        for text, (first, last) in zip(
            texts, pairwise(accumulate((len(each.text) for each in texts), initial=0)), strict=True
        ):
            if max(first, start) < min(last, end):
                yield self._part(text, max(first, start) - first, min(last, end) - first)

    def with_formulas(self, events: Sequence[Event]) -> list[Event]:
        """Return events with an object for each formula and for each reference to a note."""
        texts = [event.text if event.kind == "text" else "\n" for event in events]
        bounds = [*pairwise(accumulate(map(len, texts), initial=0))]
        marks = [
            Mark(*bound, "", "", script=event.script)
            for event, bound in zip(events, bounds, strict=True)
            if event.script
        ]
        scripts = iter(find_sub_superscripts("".join(texts), marks) if marks else [])
        script = next(scripts, None)
        found: list[Event] = []
        inside: list[Event] = []
        for event, (start, end) in zip(events, bounds, strict=True):
            at = start
            while script is not None and script.start < end:
                if at < script.start:
                    found.append(self._part(event, at - start, script.start - start))
                stop = min(end, script.end)
                inside.append(self._part(event, max(at, script.start) - start, stop - start))
                at = stop
                if script.end > end:
                    break
                found.append(_object(inside, script))
                inside, script = [], next(scripts, None)
            if at < end or start == end:
                found.append(self._part(event, at - start, end - start))
        return found

    def _part(self, event: Event, start: int, end: int) -> Event:
        """Return a part of a text."""
        if event.kind != "text" or end - start == len(event.text):
            return event
        text = event.text[start:end]
        return replace(event, pieces=(Piece(self._format.characters(text, self._prefix), event.look),), text=text)


def _with_fields(events: Sequence[Event]) -> list[Event]:
    """Return events with each field as one object, or wrapping its text."""
    ends = _field_ends(events)
    found: list[Event] = []
    at = 0
    while at < len(events):
        if at not in ends:
            found.append(events[at])
            at += 1
            continue
        end = ends[at]
        parted = at + 1
        while parted < end and events[parted].field() != "separate":
            parted = ends.get(parted, parted) + 1  # a field inside the instruction has a result of its own
        instruction = "".join(_instruction(event) for event in events[at:parted])
        if _is_text_field(instruction):
            found.append(Event("open", _pieces(events[at : parted + 1] if parted < end else events[at:end])))
            found += _with_fields(events[parted + 1 : end])
            found.append(Event("close", events[end].pieces))
        else:
            shown = _line("".join(event.text for event in events[parted:end]))
            found.append(Event("object", _pieces(events[at : end + 1]), shown))
        at = end + 1
    return found


def _field_ends(events: Sequence[Event]) -> dict[int, int]:
    """Return the end of each field that ends in the paragraph, and in what its beginning is in."""
    ends: dict[int, int] = {}
    waiting: list[tuple[int, int]] = []  # places of beginnings, or -1 for what was left open, and their depths
    depth = 0
    for at, event in enumerate(events):
        depth += {"open": 1, "close": -1}.get(event.kind, 0)
        for number in reversed(range(len(waiting))):
            if waiting[number][1] <= depth:
                break
            waiting[number] = -1, depth
        if event.field() == "begin":
            waiting.append((at, depth))
        elif event.field() == "end" and waiting:
            start, outer = waiting.pop()
            if start >= 0 and outer == depth and len(waiting) < _MOST_FIELDS:
                ends[start] = at
    return ends


def _with_whole_links(children: Sequence[Element | str]) -> Iterator[Element | str]:
    """Yield children with neighbouring links to one place as one: programs part them where the formatting changes."""
    for tag, group in groupby(
        children, lambda one: one.start if isinstance(one, Element) and one.name in _LINKS else ""
    ):
        first, *others = group
        if tag and others and isinstance(first, Element):
            inner = [child for one in (first, *others) if isinstance(one, Element) for child in one.children]
            yield replace(first, children=inner)
        else:
            yield from (first, *others)


def _with_links(events: Iterable[Event], format: OfficeFormat) -> Iterator[Event]:
    """Yield events with neighbours of one link, which is a part of their formatting, inside something without tags."""
    for link, group in groupby(events, lambda event: format.link.findall(event.look) if event.kind == "text" else []):
        if link:
            yield Event("open", ())
        yield from group
        if link:
            yield Event("close", ())


def _joined(events: Sequence[Event]) -> list[Event]:
    """Return events with neighbouring objects without text as one, which keeps their order."""
    found: list[Event] = []
    for event in events:
        is_bare = event.kind == "object" and not event.text
        if is_bare and found and found[-1].kind == "object" and not found[-1].text:
            found[-1] = replace(found[-1], pieces=found[-1].pieces + event.pieces)
        else:
            found.append(event)
    return found


def _pieces(events: Sequence[Event]) -> tuple[Piece, ...]:
    return tuple(piece for event in events for piece in event.pieces)


def _instruction(event: Event) -> str:
    contents = (piece.content for piece in event.pieces)
    return "".join(one.text() for one in contents if isinstance(one, Element) and one.name == "instrText")


def _is_text_field(instruction: str) -> bool:
    return (instruction.split() or [""])[0].upper() in _TEXT_FIELDS


def _accepted(properties: Element) -> str:
    """Return the properties of a run without those that it had before a tracked change."""
    kept = [one for one in properties.children if isinstance(one, str) or one.name != "rPrChange"]
    return replace(properties, children=kept).raw()


def is_filled(control: Element) -> bool:
    """Return True for a control for content that the program fills in: it would put the old text back."""
    properties = control.child("sdtPr")
    return properties is not None and any(one.name in _FILLED for one in properties.elements)


def is_large_letter(paragraph: Element) -> bool:
    """Return True for a paragraph of Word that is the large first letter of the next one."""
    properties = paragraph.child("pPr")
    frame = properties.child("framePr") if properties else None
    return frame is not None and frame.get("dropCap") in ("drop", "margin")


def _in_look_of(text: Event, letter: Event) -> Event:
    """Return a text with the formatting of another one: a large letter is no part of a translated word."""
    if letter.kind != "text":
        return letter
    pieces = tuple(piece._replace(look=text.look) for piece in letter.pieces)
    return replace(letter, pieces=pieces, seen=text.seen, script=text.script)


def _line(text: str) -> str:
    return " ".join(text.split())


def _object(parts: Sequence[Event], script: Script) -> Event:
    pieces = tuple(piece for part in parts for piece in part.pieces)
    return Event("object", pieces, "" if script.is_note else "".join(part.text for part in parts))


def is_code_paragraph(paragraph: Element, format: OfficeFormat) -> bool:
    """Return True for a paragraph in a style for code."""
    properties = paragraph.child("pPr")
    return _is_code(paragraph, format) or (properties is not None and _is_code(properties, format))


def _is_code(element: Element, format: OfficeFormat) -> bool:
    """Return True if the style that an element names is one for code."""
    if element.get("style-name") in format.code_styles:
        return True
    return any(one.name.endswith("Style") and one.get("val") in format.code_styles for one in element.elements)
