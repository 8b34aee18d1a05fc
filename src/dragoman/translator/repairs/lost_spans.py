"""Addresses, placeholders, protected stretches and the like that a translation must have."""

from __future__ import annotations

from dragoman.translator.choosing import Choice
from dragoman.translator.content_check import lost_spans
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Form, Wanted


class Spans:
    """A second search writes the spans that were lost.

    A model without reserved pieces has not learned to write spans, so it must write protected stretches only.
    """

    name = "spans"

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        if "span" not in choice.flags:
            return Wanted()
        reading = segment.reading
        lost = lost_spans(reading.text, choice.candidates[0].text, reading.unmasked, reading.terms)
        return Wanted([(Form(span),) for span in lost if reading.has_pieces or span in reading.unmasked])
