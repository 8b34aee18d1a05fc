"""A line that a server translates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dragoman.text.protection import Stretch, merged, occurrences
from dragoman.translator import Request


@dataclass(frozen=True)
class LineRequest:
    """A line to translate, and what belongs to it alone."""

    text: str
    prefix: str = ""
    align: bool = False
    #: See `Request`.
    verbatim: tuple[Stretch, ...] = ()

    def request(self, source: str, target: str) -> Request:
        """Return the request to a model for these languages."""
        return Request(self.text, self.prefix, None, self.align, source, target, self.verbatim)

    def continued(self, text: str) -> LineRequest:
        """Return the request for a translation of this line, which has the same stretches."""
        stretches = {self.text[start:end] for start, end in self.verbatim}
        places = merged(place for stretch in stretches for place in occurrences(text, stretch))
        return replace(self, text=text, verbatim=tuple(places))
