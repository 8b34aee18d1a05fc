"""Terms: words of a source with the translations that are demanded of them, and where they stand in a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from dragoman.errors import ConfigError
from dragoman.text.cleaning import comparable
from dragoman.text.composing import compose
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern

#: A word, a character of a script without spaces, or a mark.
_UNIT = lazy_pattern(rf"[{UNSPACED}]|(?:[^\W{UNSPACED}][\u0300-\u036f]*)+|\S")
#: A letter or a digit of a script with spaces, or a part of a character that is written in bytes (`surfaces.py`).
WORD_CHARACTER = lazy_pattern(rf"[^\W{UNSPACED}]|[\udc80-\udcff]")
_OPTIONAL_SPACE = lazy_pattern(f"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
#: The end of a translation that may go on: "Vertrag*" is also "Vertrages".
GOES_ON = "*"
#: What separates the translations of a term in a file.
BETWEEN_TARGETS = "|"


@dataclass(frozen=True)
class Term:
    """A term of a source, and its translations.

    Args:
        source: a word or several.
        targets: any one of them will do; without any, the term is not translated. One that ends in * may go on.
        case: it stands in a source only in this case, and so do its translations.

    Raises:
        ConfigError: the source or a target is empty.
    """

    source: str
    targets: tuple[str, ...] = ()
    case: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.units:
            raise ConfigError("a term has no source", advice="write the words that it stands for")
        if not isinstance(self.targets, tuple) or not all(isinstance(target, str) for target in self.targets):
            raise ConfigError(f"the targets of the term {self.source!r} are no tuple of strings")
        if not all(_UNIT.search(target.removesuffix(GOES_ON)) for target in self.targets):
            raise ConfigError(f"the term {self.source!r} has an empty target", advice="write one, or none at all")

    @cached_property
    def units(self) -> tuple[str, ...]:
        """The words and marks of the source, in the form in which they are compared."""
        return tuple(_form(match[0], case=self.case) for match in _UNIT.finditer(comparable(self.source)))

    @property
    def is_kept(self) -> bool:
        """True if it is not translated."""
        return not self.targets

    def n_in(self, translation: str, *, any_case: bool = False) -> int:
        """Return how often a translation has one of the targets, as words; scripts without spaces have no words.

        Args:
            any_case: in any case, even if the term has one.
        """
        return len(apart(self.places_in(comparable(translation), any_case=any_case)))

    def beginning(self, target: str) -> str:
        """Return a target as it begins a sentence: with a capital, unless the source has case and no capital."""
        return target if self.case and not self.source[:1].isupper() else target[:1].upper() + target[1:]

    def places_in(self, text: str, *, any_case: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the places of the targets in a text (`comparable`); they may overlap. See `n_in`."""
        case = self.case and not any_case
        for target in self.targets:
            goes_on, first = target.endswith(GOES_ON), self.beginning(target)
            for form in dict.fromkeys((target, first)) if case else (target,):
                for match in _pattern(form, case).finditer(text):
                    is_right = form == target or not any(map(str.isalnum, text[: match.start()]))
                    if is_right and stands_alone(text, match.span(1), goes_on=goes_on):
                        yield match.span(1)


class FoundTerm(NamedTuple):
    """A term at its place in a text: start and end, in characters."""

    start: int
    end: int
    term: Term


class TermList:
    """Terms to look for. Those with the same source become one, which any of their targets satisfies.

    Raises:
        ConfigError: a source is to be translated and not to be translated.
    """

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        self._terms: dict[tuple[bool, tuple[str, ...]], Term] = {}
        #: The numbers of units of the terms that begin with a unit, falling.
        self._lengths: dict[str, list[int]] = {}
        for term in terms:
            self._add(term)

    def __len__(self) -> int:
        return len(self._terms)

    def __iter__(self) -> Iterator[Term]:
        return iter(self._terms.values())

    def find(self, text: str) -> list[FoundTerm]:
        """Return the terms of a text from left to right, without overlaps: at each place the longest.

        The time does not depend on the length of the list.
        """
        matches = list(_UNIT.finditer(text)) if self._terms else []
        exact = [_form(match[0], case=True) for match in matches]
        folded = [_form(unit, case=False) for unit in exact]
        found: list[FoundTerm] = []
        at = 0
        while at < len(matches):
            if term := self._longest(exact, folded, at):
                last = at + len(term.units) - 1
                found.append(FoundTerm(matches[at].start(), matches[last].end(), term))
                at = last
            at += 1
        return found

    def _longest(self, exact: list[str], folded: list[str], at: int) -> Term | None:
        for n in self._lengths.get(folded[at], ()):
            for case, units in ((True, exact), (False, folded)):
                if term := self._terms.get((case, tuple(units[at : at + n]))):
                    return term
        return None

    def _add(self, term: Term) -> None:
        key = term.case, term.units
        if (other := self._terms.get(key)) is not None:
            if other.is_kept != term.is_kept:
                problem = f"the term {term.source!r} is to be translated, and not to be translated"
                raise ConfigError(problem, advice="remove one of the two")
            term = Term(other.source, tuple(dict.fromkeys((*other.targets, *term.targets))), term.case)
        self._terms[key] = term
        lengths = self._lengths.setdefault(_form(term.units[0], case=False), [])
        if len(term.units) not in lengths:
            lengths.append(len(term.units))
            lengths.sort(reverse=True)


def missing_terms(terms: Iterable[Term], translation: str, *, any_case: bool = False) -> list[Term]:
    """Return the terms that are there more often than a translation has their targets, each once."""
    return [term for term, count in Counter(terms).items() if term.n_in(translation, any_case=any_case) < count]


def repeated_terms(terms: Sequence[Term], translation: str) -> set[Term]:
    """Return the terms whose targets a translation has more often than all terms together give reason for."""

    def n_allowed(term: Term) -> int:
        return sum(max(term.n_in(target.removesuffix(GOES_ON)) for target in other.targets) for other in terms)

    return {term for term in set(terms) if (n := term.n_in(translation)) > 1 and n > n_allowed(term)}


def apart(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many stretches of some as do not overlap.

    >>> apart([(0, 5), (0, 3), (4, 8)])
    [(0, 3), (4, 8)]
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda place: place[1]):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _form(unit: str, *, case: bool) -> str:
    """Return the form in which a unit is compared."""
    unit = compose("'" if unit == "’" else unit)
    return unit if case else unit.casefold()


def stands_alone(text: str, place: tuple[int, int], *, goes_on: bool) -> bool:
    """Return True if a stretch of a text is no part of a longer word.

    Args:
        place: its start and end.
        goes_on: it may be the beginning of one.
    """
    start, end = place
    is_word = WORD_CHARACTER.match
    if start and is_word(text, start) and is_word(text, start - 1):
        return False
    return goes_on or end == len(text) or not (is_word(text, end - 1) and is_word(text, end))


@lru_cache(maxsize=4096)
def _pattern(target: str, case: bool) -> re.Pattern[str]:
    """Return the pattern of a target, whose first group is its text; matches may overlap.

    Beside a character of a script without spaces, a space may be missing.
    """
    text = re.escape(comparable(target.removesuffix(GOES_ON))).replace("\\ ", " ")
    return re.compile(f"(?=({_OPTIONAL_SPACE.sub(' ?', text)}))", 0 if case else re.IGNORECASE)
