"""Term lists of a server: those of its operator by name, and those of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dragoman.data.term_files import read_terms, typed_terms
from dragoman.server.api_errors import ApiError
from dragoman.server.native_schema import GivenTerm, TextOptions
from dragoman.text.terms import BETWEEN_TARGETS, Term, TermList
from dragoman.translator import Request

#: The most terms of a request, and translations of them; long lists belong to the server.
MOST_TERMS, MOST_TARGETS = 1_000, 4_000
#: Characters of a term or of its translation: a search looks for all of them at each step.
LONGEST = 200


def named_lists(entries: Sequence[str]) -> dict[str, TermList]:
    """Read the lists of a server, each named as NAME=FILE.

    Raises:
        DataError: as `read_terms`.
    """
    return {name: read_terms(Path(file)) for name, _, file in (entry.partition("=") for entry in entries)}


class WantedLists:
    """The lists of one request; equal ones are made once.

    Args:
        known: those of the server, by name.
    """

    def __init__(self, known: Mapping[str, TermList]) -> None:
        self._known = known
        self._made: dict[int, TermList] = {}

    def of(self, options: TextOptions) -> tuple[TermList, ...]:
        """Return the lists of a text: its own terms, then the server's lists that it names.

        Raises:
            ApiError: there is no such list, or there are too many terms.
            ConfigError: a term is none.
        """
        given = options.terms
        if given and id(given) not in self._made:
            self._made[id(given)] = checked_terms(given)
        names = options.term_lists or []
        if unknown := [name for name in names if name not in self._known]:
            lists = ", ".join(self._known) or "there is none"
            raise ApiError(400, f"no term list {unknown[0][:100]} (the server's: {lists})")
        return (*([self._made[id(given)]] if given else []), *(self._known[name] for name in names))


def checked_terms(given: str | Sequence[GivenTerm]) -> TermList:
    """Return the terms of a request, as objects or as lines.

    Raises:
        ApiError: there are too many, or one is too long.
        ConfigError: a term is none.
    """
    if isinstance(given, str):
        n_terms, n_targets = len(given.splitlines()), given.count(BETWEEN_TARGETS)
    else:
        n_terms, n_targets = len(given), sum(len(each.targets) for each in given)
    if n_terms > MOST_TERMS or n_targets > MOST_TARGETS:
        limits = f"{MOST_TERMS:,} terms, or {MOST_TARGETS:,} translations of them"
        raise ApiError(400, f"more than {limits}; the operator can load longer lists by name")
    terms = typed_terms(given) if isinstance(given, str) else TermList(map(_term, given))
    if too_long := [text for term in terms for text in (term.source, *term.targets) if len(text) > LONGEST]:
        raise ApiError(400, f"a term or a translation of more than {LONGEST} characters: {too_long[0][:20]}...")
    return terms


def terms_in(line: str, lists: Sequence[TermList]) -> tuple[Term, ...]:
    """Return the terms of a line; of those with the same source, that of the first list."""
    found: dict[tuple[str, ...], Term] = {}
    for each in lists:
        for _, _, term in each.find(line):
            found.setdefault(tuple(unit.casefold() for unit in term.units), term)
    return tuple(found.values())


def with_terms(lines: Sequence[Request], given: str) -> list[Request]:
    """Return lines with their terms among those of a request, which are lines of text.

    Raises:
        ApiError, ConfigError: as `WantedLists.of`.
    """
    terms = checked_terms(given)
    return [with_terms_of(line, [terms]) for line in lines]


def with_terms_of(line: Request, lists: Sequence[TermList]) -> Request:
    """Return a line with its terms among those of lists."""
    return replace(line, terms=TermList(terms_in(line.text, lists)))


def _term(given: GivenTerm) -> Term:
    return Term(given.source, tuple(given.targets), given.case)
