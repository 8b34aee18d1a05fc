"""Rows of links, such as a menu, whose texts are no parts of a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from dragoman.documents.html_elements import OBJECTS, VOID
from dragoman.documents.html_tokens import HtmlToken
from dragoman.text.sentences import has_words

#: A sign between the links of a row, which no sentence has there.
_SEPARATOR = re.compile(r"\s*[|·•‧∙]\s*")
_Flow = Sequence[tuple[HtmlToken, str]]


def link_groups(flow: _Flow) -> list[tuple[int, int]]:
    """Return the range of each link in a row: links without words between them, or with a sign such as | between.

    Args:
        flow: tokens, each with the text of the whole element if it stands for one that is kept, else with "".
    """
    elements = _elements(flow)
    if elements is None or len(elements) < 2:
        return []
    is_link = [any(token.name == "a" for token, _ in flow[first:last]) for first, last in elements]
    ends = [0, *(end for _, end in elements)]
    starts = [*(start for start, _ in elements), len(flow)]
    if all(is_link) and not any(
        has_words(_text(flow[end:start])) or _has_code(flow[end:start]) for end, start in zip(ends, starts, strict=True)
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
    for at, (token, kept) in enumerate(flow):
        if kept:
            continue
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
    return "".join(token.text for token, kept in flow if token.kind == "text" and not kept)


def _has_code(flow: _Flow) -> bool:
    return any(kept and token.name not in OBJECTS for token, kept in flow)
