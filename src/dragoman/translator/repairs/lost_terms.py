"""Terms that a translation must have, because a term list demands them."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.text.protection import Stretch, overlaps
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.terms import GOES_ON, FoundTerm, Term, TermList
from dragoman.translator.choosing import Choice
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Form, Forms, Wanted


class Terms:
    """A second search for a lost term.

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
        targets = {segment.text[start:end]: term.targets for start, end, term in found}
        return Wanted(
            masked_terms={words: [each.removesuffix(GOES_ON) for each in known] for words, known in targets.items()}
        )


def with_terms(segment: Segment, terms: TermList) -> Segment:
    """Return a segment with the terms that its translation must have, each as often as the segment has it."""
    if segment.is_copied:
        return segment
    found = [term for _, _, term in demanded_terms(segment.text, terms, segment.protected)]
    return segment._replace(reading=segment.reading._replace(terms=found))


def demanded_terms(text: str, terms: TermList | None, protected: Sequence[Stretch]) -> list[FoundTerm]:
    """Return the terms of a text that its translation must have: none in spans and protected stretches."""
    found = [each for each in terms.find(text) if not each.term.is_kept] if terms else []
    if not found:
        return []
    kept = [*protected, *((span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM)]
    return [each for each in found if not overlaps(each[:2], kept)]


def _forms(term: Term) -> Forms:
    """Return the targets of a term, also as they begin a sentence."""
    cases = ((each,) if term.case else (each, each[:1].upper() + each[1:]) for each in term.targets)
    targets = dict.fromkeys(target for each in cases for target in each)
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)
