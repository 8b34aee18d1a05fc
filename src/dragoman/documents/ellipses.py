"""Ellipses at the ends of a segment: "...and then", "Search…".

Few models have learned them. A model reads the text without them, and they stand at the same ends of its translation.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dragoman.text.languages import base_language
from dragoman.text.protection import Stretch

_START, _END = re.compile(r"(?:\.{3}|…)(?=\w)"), re.compile(r"(?<=\w)(?:\.{3}|…)\Z")
#: The look behind it keeps a search from starting at each point of a long run.
_SENTENCE_END = re.compile(r"(?<![\s.!?…。！？])[\s.!?…。！？]+\Z")
#: Text of more words is read as a sentence.
_MOST_WORDS = 3


class Ellipses(NamedTuple):
    """Those at the start and the end of a text; empty strings for none."""

    start: str
    end: str


def take_ellipses(text: str, verbatim: tuple[Stretch, ...]) -> tuple[str, tuple[Stretch, ...], Ellipses]:
    """Return a text without its ellipses, the places of its verbatim stretches in it, and the ellipses.

    >>> take_ellipses("...and I said: no…", ())
    ('and I said: no.', (), Ellipses(start='...', end='…'))
    """
    first, last = _START.match(text), _END.search(text)
    start = first[0] if first and all(begin >= first.end() for begin, _ in verbatim) else ""
    end = last[0] if last and all(stop <= last.start() for _, stop in verbatim) else ""
    core = text[len(start) : len(text) - len(end)]
    if end and len(core.split()) > _MOST_WORDS:
        core += "."
    return core, tuple((begin - len(start), stop - len(start)) for begin, stop in verbatim), Ellipses(start, end)


def put_ellipses(translation: str, ellipses: Ellipses, language: str | None) -> str:
    """Return a translation with ellipses; Chinese ones at its end are doubled, as is usual there.

    >>> put_ellipses("dann sagte ich: nein.", Ellipses("...", "…"), "de")
    '...dann sagte ich: nein…'
    """
    start, end = ellipses
    if end:
        translation = _SENTENCE_END.sub("", translation)
        end = "……" if language and base_language(language) == "zh" else end
    return start + translation + end
