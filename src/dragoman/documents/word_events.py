"""The contents of a paragraph of WordprocessingML (ISO/IEC 29500-1) in their order: words, objects, what wraps them.

Tracked changes are read as accepted. The result of a field, such as the number of a page, is an object with a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from dragoman.documents.xml_tokens import Element

#: Left out where words are translated: what was deleted, places of errors and of hyphens in the old words.
_DROPPED = frozenset(("pPr", "del", "moveFrom", "proofErr", "lastRenderedPageBreak", "softHyphen", "delText"))
_WRAPPING = frozenset(("hyperlink", "smartTag", "customXml", "dir", "bdo"))
#: Fields whose result is text like any other.
_TEXT_FIELDS = frozenset(("HYPERLINK", "TOC", "INDEX", "TOA"))
#: Properties of a control for content that the program fills in.
_FILLED = frozenset(("dataBinding", "dropDownList", "comboBox", "date", "checkbox"))
#: Styles of Word, LibreOffice and pandoc for code.
CODE_STYLES = frozenset(
    ("HTMLCode", "SourceText", "VerbatimChar", "SourceCode", "HTMLPreformatted", "PreformattedText")
)
#: Objects beside runs whose text the model sees.
_SHOWN = frozenset(("fldSimple", "sdt", "oMath"))
#: Fields inside each other; deeper ones are objects, part by part.
_MOST_FIELDS = 20


class Piece(NamedTuple):
    """An element inside a run, with the formatting of the run; without one, it is written as it is."""

    content: Element | str
    #: The `<w:rPr>` of the run, or nothing.
    look: str | None = None


@dataclass(frozen=True)
class Event:
    """One thing that a paragraph shows. A cut parts its text, as a tab does; an object may have a text."""

    kind: Literal["text", "object", "open", "close", "cut", "break"]
    pieces: tuple[Piece, ...]
    text: str = ""

    @property
    def look(self) -> str:
        """The formatting of text."""
        return self.pieces[0].look or ""

    def field(self) -> str:
        """Return the role of one that marks a part of a field: begin, separate or end."""
        content = self.pieces[0].content
        is_mark = self.kind == "object" and isinstance(content, Element) and content.name == "fldChar"
        return content.get("fldCharType") if is_mark and isinstance(content, Element) else ""


def paragraph_events(paragraph: Element) -> list[Event]:
    """Return what a paragraph shows."""
    return _joined(_with_fields([*_inside(paragraph)]))


def matching_ends(events: Sequence[Event]) -> dict[int, int]:
    """Return the place of the end of each thing that wraps others, by that of its start, if both are there."""
    ends, waiting = {}, []
    for at, event in enumerate(events):
        if event.kind == "open":
            waiting.append(at)
        elif event.kind == "close" and waiting:
            ends[waiting.pop()] = at
    return ends


def _inside(parent: Element) -> Iterator[Event]:
    """Yield what the children of an element show."""
    for child in parent.elements:
        if child.name == "r":
            yield from _run(child)
        elif child.name in ("ins", "moveTo"):
            yield from _inside(child)
        elif child.name in _WRAPPING or (child.name == "fldSimple" and _is_text_field(child.get("instr"))):
            properties = [one.raw() for one in child.elements if one.name.endswith("Pr")]
            yield from _wrapped("".join([child.start, *properties]), child, child.end)
        elif child.name == "sdt" and (content := child.child("sdtContent")) and content.end and not _is_filled(child):
            before = "".join(one.raw() for one in child.elements if one.name != "sdtContent")
            yield from _wrapped(child.start + before + content.start, content, content.end + child.end)
        elif child.name not in _DROPPED and not child.name.endswith("Pr"):
            texts = (one.text() for one in child.all() if one.name == "t") if child.name in _SHOWN else ()
            yield Event("object", (Piece(child),), _line("".join(texts)))


def _wrapped(opening: str, content: Element, closing: str) -> Iterator[Event]:
    if closing:
        yield Event("open", (Piece(opening),))
        yield from _inside(content)
        yield Event("close", (Piece(closing),))


def _run(run: Element) -> Iterator[Event]:
    """Yield what a run shows."""
    properties = run.child("rPr")
    look = properties.raw() if properties else ""
    style = properties.child("rStyle") if properties else None
    is_code = style is not None and style.get("val") in CODE_STYLES
    for child in run.elements:
        pieces = (Piece(child, look),)
        if child.name == "t":
            text = child.text() if child.get("space") == "preserve" else child.text().strip()
            yield Event("object" if is_code else "text", pieces, _line(text) if is_code else text)
        elif child.name == "noBreakHyphen":
            yield Event("text", pieces, "-")
        elif child.name in ("tab", "ptab") or (child.name == "br" and child.get("type") in ("page", "column")):
            yield Event("cut", pieces)
        elif child.name in ("br", "cr"):
            yield Event("break", pieces)
        elif child.name == "ruby":
            yield from (event for base in child.elements if base.name == "rubyBase" for event in _inside(base))
        elif child.name != "rPr" and child.name not in _DROPPED:
            yield Event("object", pieces)


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
        parted = next((place for place in range(at, end) if events[place].field() == "separate"), end)
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


def _is_filled(control: Element) -> bool:
    properties = control.child("sdtPr")
    return properties is not None and any(one.name in _FILLED for one in properties.elements)


def _line(text: str) -> str:
    return " ".join(text.split())
