"""Annotated terms: a source that says how some of its words are to be translated.

"The⟨62⟩ flu⟨63⟩ Grippe⟨64⟩ is over." A model that was trained on such sources obeys them (Dinu et al. 2019, "Training
Neural Machine Translation to Apply Terminology Constraints", section 3). The marks are the last reserved pieces of a
tokenizer, so that an old vocabulary will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from dragoman.errors import BundleError
from dragoman.settings.augmentation_config import FEWEST_RESERVED
from dragoman.text.languages import UNSPACED

#: The key of a bundle's facts that says that its model has learned annotations.
FACT = "annotated_terms"
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SPACES = re.compile(r"\s*\Z")


def knows_annotations(facts: Mapping[str, Any], name: str | Path) -> bool:
    """Return True if the facts of a bundle say that its model has learned annotations.

    Raises:
        BundleError: they say neither yes nor no.
    """
    fact = facts.get(FACT, False)
    if not isinstance(fact, bool):
        raise BundleError(f"its fact {FACT} is {fact!r:.40}, not true or false", name)
    return fact


class Annotation(NamedTuple):
    """The place of a term in a source, start and end, and its translation."""

    start: int
    end: int
    target: str


class AnnotationMarks(NamedTuple):
    """The pieces before a term, between it and its translation, and after that."""

    begin: str
    between: str
    end: str

    @classmethod
    def of(cls, reserved: Sequence[str]) -> Self | None:
        """Return the last of some reserved pieces; None if too few would be left to mask spans."""
        return cls(*reserved[-3:]) if len(reserved) >= FEWEST_RESERVED else None

    def annotate(self, source: str, annotations: Iterable[Annotation]) -> str:
        """Return a source with annotations, which do not overlap.

        A source that has one of the marks itself stays as it is. A mark takes the place of the space before a term, so
        that the pieces of all words are those that they have without marks.
        """
        if any(mark in source for mark in self):
            return source
        parts, done = [], 0
        for start, end, target in sorted(annotations):
            before = _SPACES.sub("", source[done:start])
            parts += [before, self.begin, _spaced(source[start:end]), self.between, _spaced(target), self.end]
            done = end
        return "".join([*parts, source[done:]])


def _spaced(text: str) -> str:
    """Return a text after a space, if its script has any."""
    return text if _UNSPACED.match(text) else f" {text}"
