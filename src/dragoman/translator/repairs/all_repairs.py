"""The repairs: each says what a second search must write, or may not, for what a translation lost or invented."""

from __future__ import annotations

from dragoman.content.language import language_of
from dragoman.content.write import write
from dragoman.text.terms import GOES_ON, Term
from dragoman.translator.choosing import Choice
from dragoman.translator.content_check import content_faults, lost_spans
from dragoman.translator.cutting import Segment
from dragoman.translator.demanded_terms import demanded_terms
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Form, Forms, Wanted
from dragoman.translator.request import SCRIPT


class Terms:
    """A second search for a term that a term list demands and the translation lacks.

    A model with reserved pieces reads masks for all terms of the segment, which are written in their places. Another
    one must write them, where it finds that most probable.
    """

    name = "terms"

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        if not choice.missing_terms:
            return Wanted()
        if not segment.reading.has_pieces:
            return Wanted([_forms(term) for term in segment.reading.terms])
        found = demanded_terms(segment.text, text.request.terms, segment.protected)
        return Wanted(masked_terms={segment.text[start:end]: term for start, end, term in found})


class Spans:
    """A second search writes the addresses, placeholders, protected stretches and the like that were lost.

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


class Numbers:
    """A second search for lost numbers, dates, times, prices and measures, as the target language writes them.

    It reads masks for digits, which are written in their places; it writes the rest itself.
    """

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


class Letters:
    """A second search may not write letters that the target language does not use: "Öffne ein终端."."""

    name = SCRIPT

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        return Wanted(forbids_letters="script" in choice.flags)


def _forms(term: Term) -> Forms:
    """Return the targets of a term, also as they begin a sentence."""
    targets = dict.fromkeys(form for target in term.targets for form in (target, term.beginning(target)))
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))
