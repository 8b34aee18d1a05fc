"""Words of Word with a subscript or a superscript: a formula such as CO2 is an object with a text, as in HTML.

The reference to a note, such as the 3 after "house", is an object without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import accumulate, pairwise

from dragoman.documents.word_events import Event, Piece
from dragoman.documents.xml_tree import Element
from dragoman.text.mark import Mark
from dragoman.text.sub_superscripts import Script, find_sub_superscripts

_RAISED = re.compile(r"""<(?:\w+:)?vertAlign\b[^>]*=\s*["'](sub|sup)(?:er)?script["']""")


def with_formulas(events: Sequence[Event]) -> list[Event]:
    """Return events with an object for each formula and for each reference to a note."""
    texts = [event.text if event.kind == "text" else "\n" for event in events]
    bounds = [*pairwise(accumulate(map(len, texts), initial=0))]
    marks = [
        Mark(*bound, "", "", script=match[1])
        for event, bound in zip(events, bounds, strict=True)
        if event.kind == "text" and (match := _RAISED.search(event.look))
    ]
    scripts = iter(find_sub_superscripts("".join(texts), marks) if marks else [])
    script = next(scripts, None)
    found: list[Event] = []
    inside: list[Event] = []
    for event, (start, end) in zip(events, bounds, strict=True):
        at = start
        while script is not None and script.start < end:
            if at < script.start:
                found.append(_part(event, at - start, script.start - start))
            stop = min(end, script.end)
            inside.append(_part(event, max(at, script.start) - start, stop - start))
            at = stop
            if script.end > end:
                break
            found.append(_object(inside, script))
            inside, script = [], next(scripts, None)
        if at < end or start == end:
            found.append(_part(event, at - start, end - start))
    return found


def _part(event: Event, start: int, end: int) -> Event:
    """Return a part of a text."""
    if event.kind != "text" or end - start == len(event.text):
        return event
    text = event.text[start:end]
    content = event.pieces[0].content
    prefix = content.prefix if isinstance(content, Element) else ""
    raw = f'<{prefix}t xml:space="preserve">{escape(text, quote=False)}</{prefix}t>'
    return replace(event, pieces=(Piece(raw, event.look),), text=text)


def _object(parts: Sequence[Event], script: Script) -> Event:
    pieces = tuple(piece for part in parts for piece in part.pieces)
    return Event("object", pieces, "" if script.is_note else "".join(part.text for part in parts))
