"""Quotation marks around sentences, which a model does not read, as the target language writes them."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.content.language import language_of
from dragoman.translator.cutting import Segment
from dragoman.translator.frames import QUOTES


def with_own_quotes(segments: Sequence[Segment], language: str) -> list[Segment]:
    """Return the segments of a text, with frames that have the quotation marks of a language in place of others.

    Straight marks stay, and so do all in a language without data.

    Args:
        language: its code.
    """
    found, known, opened = list(segments), language_of(language), ""
    for number, segment in enumerate(segments):
        if known is None or not segment.is_frame:
            continue
        forms = []
        for place, mark in enumerate(segment.text):
            is_end = mark == QUOTES.get(opened[-1:])
            opened = opened[:-1] if is_end else opened
            if not is_end and mark not in QUOTES:
                forms.append(mark)
                continue
            forms.append(known.quotes[2 * (len(opened) % 2) + is_end])
            opened += "" if is_end else mark
            inside = number if is_end else number + 1  # the segment whose gap is inside the marks
            if place == (0 if is_end else len(segment.text) - 1) and inside < len(found):
                found[inside] = found[inside]._replace(gap="")
        found[number] = found[number]._replace(written="".join(forms))
    return found
