"""The repairs: each says what a second search must write, or may not, for what a translation lost or invented.

A repair is a function of the plan of a text, one of its segments, and the choice among its candidates, with flags for
what the best has lost. It returns its wishes for the second search; none if there is nothing to repair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dragoman.content.language import language_of
from dragoman.content.write import write
from dragoman.text.terms import GOES_ON, Term
from dragoman.translator.choosing import Choice
from dragoman.translator.content_check import CheckContext, content_faults, lost_spans
from dragoman.translator.cutting import Segment
from dragoman.translator.demanded_terms import demanded_terms
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.phrase_book import Form, Forms
from dragoman.translator.request import SCRIPT


class Wanted(NamedTuple):
    """The wish of a repair for the second search of a segment."""

    #: What it must write.
    phrases: Sequence[Forms] = ()
    #: The model reads a mask in place of each number, and the number is written in its place.
    masks_numbers: bool = False
    #: It may not write letters that the target language does not use, and that are not in the source.
    forbids_letters: bool = False
    #: It reads a mask in place of each term at these words of the source, and one of its targets is written there.
    masked_terms: Mapping[str, Term] = MappingProxyType({})


def terms(text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
    """Ask for a term that a term list demands and the translation lacks.

    A model with reserved pieces reads masks for all terms of the segment, which are written in their places. Another
    one must write them, where it finds that most probable.
    """
    if not choice.missing_terms:
        return Wanted()
    if not segment.reading.has_pieces:
        return Wanted([_forms(term) for term in segment.reading.terms])
    found = demanded_terms(segment.text, text.request.terms, segment.protected)
    return Wanted(masked_terms={segment.text[start:end]: term for start, end, term in found})


def spans(text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
    """Ask for the addresses, placeholders, protected stretches and the like that were lost.

    A model without reserved pieces has not learned to write spans, so it must write protected stretches only.
    """
    if "span" not in choice.flags:
        return Wanted()
    reading, context = segment.reading, _context(text, segment)
    lost = lost_spans(reading.text, choice.candidates[0].text, context)
    return Wanted([(Form(span),) for span in lost if reading.has_pieces or span in reading.unmasked])


def numbers(text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
    """Ask for lost numbers, dates, times, prices and measures, as the target language writes them.

    The search reads masks for digits, which are written in their places; it writes the rest itself.
    """
    if "number" not in choice.flags:
        return Wanted()
    reading = segment.reading
    target = language_of(text.languages.target_lang)
    found = content_faults(reading.text, choice.candidates[0].text, _context(text, segment))
    lost = [fault.entity for fault in found if fault.change == "lost"] if target is not None else []
    if reading.has_pieces:
        lost = [each for each in lost if not _has_digit(reading.text[each.start : each.end])]
    phrases = [tuple(map(Form, write(each, target))) for each in lost if target is not None]
    return Wanted(phrases, masks_numbers=reading.has_pieces and _has_digit(reading.text))


def letters(text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
    """Forbid letters that the target language does not use: "Öffne ein终端."."""
    return Wanted(forbids_letters="script" in choice.flags)


#: The repairs, by the checks that they belong to; `Request.off` switches both off.
REPAIRS: Mapping[str, Callable[[TextPlan, Segment, Choice], Wanted]] = {
    "terms": terms,
    "spans": spans,
    "numbers": numbers,
    SCRIPT: letters,
}


def _context(text: TextPlan, segment: Segment) -> CheckContext:
    reading = segment.reading
    return CheckContext(text.languages.pair, reading.unmasked, reading.off, reading.terms)


def _forms(term: Term) -> Forms:
    """Return the targets of a term, also as they begin a sentence."""
    targets = dict.fromkeys(form for target in term.targets for form in (target, term.beginning(target)))
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))
