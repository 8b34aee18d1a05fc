"""Numbers, dates, times, prices and measures that a translation must have, as its language writes them."""

from __future__ import annotations

from dragoman.translator.choosing import Choice
from dragoman.translator.content_check import lost_quantities
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Form, Wanted


class Numbers:
    """A second search reads masks for digits, which are written in their places; it writes the rest itself.

    Masks also make room for a lost term: a search that must write terms loses numbers more easily.
    """

    name = "numbers"

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        if not {"number", "term_missing"} & set(choice.flags):
            return Wanted()
        reading = segment.reading
        lost = lost_quantities(reading.text, choice.candidates[0].text, reading.unmasked, text.languages.pair)
        if reading.has_pieces:
            lost = [each for each in lost if not _has_digit(reading.text[each.start : each.end])]
        phrases = [tuple(map(Form, each.forms)) for each in lost]
        return Wanted(phrases, masks_numbers=reading.has_pieces and _has_digit(reading.text))


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))
