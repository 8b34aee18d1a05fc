"""The protocol of repairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from dragoman.text.terms import Term
from dragoman.translator.choosing import Choice
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan


class Form(NamedTuple):
    """One way to write a term, a number or a span; `goes_on` if it may begin a longer word."""

    text: str
    goes_on: bool = False


#: The ways to write one thing. A translation needs one of them.
Forms = tuple[Form, ...]


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


class Repair(Protocol):
    """One thing that may be done when the best candidate of a segment fails a check."""

    #: The check that it belongs to; `Request.off` switches both off.
    name: str

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """Return what the second search for a segment is to do; nothing if there is nothing to repair.

        Args:
            text: the plan of the segment's text.
            choice: its candidates, with flags for what the best has lost.
        """
