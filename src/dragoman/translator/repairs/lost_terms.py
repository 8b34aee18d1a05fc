"""Terms that a translation must have, because a term list demands them."""

from __future__ import annotations

from dragoman.text.terms import GOES_ON, Term
from dragoman.translator.choosing import Choice
from dragoman.translator.cutting import Segment
from dragoman.translator.demanded_terms import demanded_terms
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
        return Wanted(masked_terms={segment.text[start:end]: term for start, end, term in found})


def _forms(term: Term) -> Forms:
    """Return the targets of a term, also as they begin a sentence."""
    targets = dict.fromkeys(form for target in term.targets for form in (target, term.beginning(target)))
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)
