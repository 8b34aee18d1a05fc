"""Rows of links, such as a menu, whose texts are no parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.documents.html_elements import OBJECTS, VOID
from dragoman.documents.html_tokens import HtmlToken
from dragoman.text.sentences import has_words


def link_groups(flow: Sequence[tuple[HtmlToken, str]]) -> list[tuple[int, int]]:
    """Return the range of each element of a flow, if there are several, with a link in each and no words between them.

    Args:
        flow: tokens; one that stands for a whole element that is kept has the text of that.
    """
    groups: list[tuple[int, int]] = []
    depth = start = 0
    for at, (token, kept) in enumerate(flow):
        if kept:
            if depth == 0 and token.name not in OBJECTS:
                return []
        elif token.kind == "start" and token.name not in VOID:
            start = at if depth == 0 else start
            depth += 1
        elif token.kind == "end":
            depth -= 1
            if depth < 0:
                return []
            groups += [(start, at + 1)] if depth == 0 else []
        elif token.kind == "text" and depth == 0 and has_words(token.text):
            return []
    have_links = all(any(token.name == "a" for token, _ in flow[first:last]) for first, last in groups)
    return groups if depth == 0 and len(groups) > 1 and have_links else []
