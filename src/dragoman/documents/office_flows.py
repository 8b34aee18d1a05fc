"""The segments of a paragraph: its text between tabs and line breaks. Its formatting and its objects are marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.documents.hard_breaks import OBJECT, cut_at
from dragoman.documents.office_events import Event, Piece, matching_ends
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.protection import Stretch


@dataclass(frozen=True)
class Step:
    """The meaning of a mark: an event, or the beginning or the end of a formatting or of an object."""

    event: Event | None = None
    look: str | None = None


@dataclass(frozen=True)
class Flow:
    """Text of a paragraph between tabs and line breaks: a segment, and the white space around it, which stays."""

    events: Sequence[Event]
    source: MarkedText
    steps: Sequence[Step]
    look: str
    before: str
    after: str

    def step(self, mark: str) -> Step:
        """Return what a mark stands for, by its markup."""
        return self.steps[int(mark.strip().strip("\0"))]

    def objects(self) -> list[Stretch]:
        """Return the places in the source of the objects that have a text."""
        steps = ((mark, self.step(mark.opening).event) for mark in self.source.marks)
        return [mark[:2] for mark, event in steps if event is not None and event.text]


def paragraph_parts(events: Sequence[Event]) -> Iterator[Event | Flow]:
    """Yield the flows of a paragraph, and what is between them."""
    start = 0
    for at, event in enumerate(events):
        if event.kind == "cut":
            yield from _lines(events[start:at])
            yield event
            start = at + 1
    yield from _lines(events[start:])


def _lines(events: Sequence[Event]) -> Iterator[Event | Flow]:
    """Yield the flows between line breaks; a sentence that goes on after one is one flow."""
    breaks = [(at, at + 1) for at, event in enumerate(events) if event.kind == "break"]
    for start, end in cut_at(breaks, (0, len(events)), lambda start, end: "".join(map(_shown, events[start:end]))):
        yield from _flow(events[start:end])
        yield from events[end : end + 1]


def _shown(event: Event) -> str:
    return OBJECT if event.kind == "object" and event.text else event.text


def _flow(events: Sequence[Event]) -> Iterator[Event | Flow]:
    """Yield a flow, or events without anything to translate."""
    first, last = _core(events)
    core = events[first:last]
    built = _built(core)
    if built is None:
        yield from events
        return
    source, steps, look = built
    whole = "".join(event.text for event in core if event.kind == "text" or event.text)
    before = whole[: len(whole) - len(whole.lstrip())]
    yield from events[:first]
    yield Flow(core, source, steps, look, before, whole[len(whole.rstrip()) :])
    yield from events[last:]


def _core(events: Sequence[Event]) -> tuple[int, int]:
    """Return where the text of events begins and ends, without what needs no place in it."""
    first, last, ends = 0, len(events), matching_ends(events)
    starts = {end: start for start, end in ends.items()}
    while first < last:
        begin, end = events[first], events[last - 1]
        if _is_around(begin) or (begin.kind == "open" and ends.get(first, last) >= last):
            first += 1
        elif _is_around(end) or (end.kind == "close" and starts.get(last - 1, -1) < first):
            last -= 1
        elif begin.kind == "open" and ends[first] == last - 1:
            first, last = first + 1, last - 1
        else:
            break
    return first, last


def _is_around(event: Event) -> bool:
    return event.kind == "break" or (event.kind in ("text", "object") and not event.text.strip())


def _built(events: Sequence[Event]) -> tuple[MarkedText, list[Step], str] | None:
    """Return the text of events with marks, what the marks stand for, and its usual formatting."""
    builder, steps, ends = MarkedTextBuilder(), [], matching_ends(events)
    bases, current = [_usual(events)], None
    usual = bases[0]

    def mark(event: Event | None = None, look: str | None = None) -> str:
        steps.append(Step(event, look))
        return f"\0{len(steps) - 1}\0"

    for at, event in enumerate(events):
        changes = event.kind in ("open", "close") or (event.kind == "text" and not event.text.isspace())
        if changes and current is not None and (event.kind != "text" or event.seen != current):
            builder.close("look", mark())
            current = None
        if event.kind == "text":
            if changes and current is None and event.seen != bases[-1].seen:
                builder.open("look", mark(look=event.look))
                current = event.seen
            builder.add_text(event.text)
        elif event.kind == "open":
            bases.append(_usual(events[at : ends[at]]) if at in ends else bases[-1])
            builder.open("box", mark(event, bases[-1].look))
        elif event.kind == "close":
            bases = bases[:-1] or bases
            builder.close("box", mark(event))
        elif event.kind == "object" and event.text:
            builder.open("object", mark(event))
            builder.add_verbatim(event.text)
            builder.close("object", mark())
        else:
            builder.add_point(mark(event), is_space=event.kind == "break")
    if current is not None:
        builder.close("look", mark())
    source = builder.build()
    return (source, steps, usual.look) if source.has_words else None


def _usual(events: Sequence[Event]) -> Event:
    """Return the first text that has the formatting of most of the text."""
    n_characters: Counter[str] = Counter()
    first: dict[str, Event] = {}
    for event in events:
        if event.kind == "text":
            first.setdefault(event.seen, event)
            n_characters[event.seen] += len(event.text.strip())
    return first[n_characters.most_common(1)[0][0]] if n_characters else Event("text", (Piece(""),))
