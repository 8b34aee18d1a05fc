"""A line to translate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dragoman.server.routing import Leg
from dragoman.text.protection import Stretch, merged, occurrences
from dragoman.text.terms import Term, TermList, missing_terms
from dragoman.translator import Request, Translation
from dragoman.translator.planning import Planner
from dragoman.translator.repairs.lost_terms import demanded_terms
from dragoman.translator.results import merge_flags


@dataclass(frozen=True)
class LineRequest:
    """A line to translate, and what belongs to it alone."""

    text: str
    prefix: str = ""
    align: bool = False
    #: See `Request`.
    verbatim: tuple[Stretch, ...] = ()
    marked: tuple[str, ...] = ()
    #: Those that it has.
    terms: tuple[Term, ...] = ()
    #: Number the doubtful words, if the model is calibrated.
    doubts: bool = False
    #: Return what the model says.
    plain: bool = False

    @property
    def strings(self) -> list[str]:
        """All its strings, for an estimate of its size."""
        return [self.text, self.prefix, *(text for term in self.terms for text in (term.source, *term.targets))]

    def on_the_way(self) -> LineRequest:
        """Return the request for a translation of this line into a language in the middle."""
        kept = tuple(term for term in self.terms if term.is_kept)
        return LineRequest(self.text, verbatim=self.verbatim, marked=self.marked, terms=kept, plain=self.plain)

    def checked(self, translation: Translation) -> Translation:
        """Return the translation of this line through another language, with a flag if it lacks a term."""
        demanded = demanded_terms(self.text, TermList(self.terms), self.verbatim)
        missing = missing_terms([term for _, _, term in demanded], translation.text)
        others = (flag for flag in translation.flags if flag != "term_missing")
        flags = merge_flags((*others, "term_missing") if missing else others)
        return replace(translation, flags=flags, missing_terms=tuple(term.source for term in missing))

    def request(self, source: str, target: str) -> Request:
        """Return the request to a model for these languages."""
        terms = TermList(self.terms) if self.terms else None
        return Request(
            self.text,
            self.prefix,
            None,
            self.align,
            source,
            target,
            self.verbatim,
            self.marked,
            terms=terms,
            doubts=self.doubts,
            plain=self.plain,
        )

    def fitting(self, planner: Planner, leg: Leg) -> LineRequest:
        """Return the request without what a model cannot answer: doubts, if it is not calibrated."""
        is_fitting = not self.doubts or planner.is_calibrated(leg.source, leg.target)
        return self if is_fitting else replace(self, doubts=False)

    def continued(self, text: str) -> LineRequest:
        """Return the request for a translation of this line, which has the same stretches."""
        stretches = {self.text[start:end] for start, end in self.verbatim}
        places = merged(place for stretch in stretches for place in occurrences(text, stretch))
        return replace(self, text=text, verbatim=tuple(places))
