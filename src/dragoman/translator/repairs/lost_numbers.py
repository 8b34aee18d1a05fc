"""Numbers, dates, times, prices and measures that a translation must have, as its language writes them."""

from __future__ import annotations

from dragoman.content.language import language_of
from dragoman.content.write import write
from dragoman.translator.choosing import Choice
from dragoman.translator.content_check import content_faults
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Form, Wanted


class Numbers:
    """A second search reads masks for digits, which are written in their places; it writes the rest itself."""

    name = "numbers"

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        if "number" not in choice.flags:
            return Wanted()
        reading = segment.reading
        translation, target = choice.candidates[0].text, language_of(text.languages.target_lang)
        checked = reading.unmasked, text.languages.pair, reading.off, reading.terms
        found = content_faults(reading.text, translation, *checked)
        lost = [fault.entity for fault in found if fault.change == "lost"] if target is not None else []
        if reading.has_pieces:
            lost = [each for each in lost if not _has_digit(reading.text[each.start : each.end])]
        phrases = [tuple(map(Form, write(each, target))) for each in lost if target is not None]
        return Wanted(phrases, masks_numbers=reading.has_pieces and _has_digit(reading.text))


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))
