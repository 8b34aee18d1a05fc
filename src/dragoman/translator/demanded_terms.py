"""The terms of a text whose translations are demanded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dragoman.text.protection import Stretch, longer, overlaps
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.terms import FoundTerm, TermList

if TYPE_CHECKING:
    from dragoman.translator.cutting import Segment


def with_terms(segment: Segment, terms: TermList) -> Segment:
    """Return a segment with the terms that its translation must have, each as often as the segment has it."""
    if segment.is_copied:
        return segment
    found = [term for _, _, term in demanded_terms(segment.text, terms, segment.protected)]
    return segment._replace(reading=segment.reading._replace(terms=found))


def demanded_terms(text: str, terms: TermList | None, protected: Sequence[Stretch]) -> list[FoundTerm]:
    """Return the terms of a text that its translation must have: none in protected stretches, or in longer spans."""
    found = [each for each in terms.find(text) if not each.term.is_kept] if terms else []
    if not found:
        return []
    spans = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
    return [each for each in found if not overlaps(each[:2], [*protected, *longer(spans, [each[:2]])])]
