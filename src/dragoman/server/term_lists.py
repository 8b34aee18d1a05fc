"""Term lists of a server: those of its operator by name, and those of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.data.term_files import read_terms, typed_terms
from dragoman.server.api_errors import ApiError
from dragoman.server.native_schema import GivenTerm, SearchOptions
from dragoman.text.terms import Term, TermList

#: The most terms of a request; long lists belong to the server.
MOST_TERMS = 1_000


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

    def of(self, options: SearchOptions) -> tuple[TermList, ...]:
        """Return the lists of a text: its own terms, then the server's lists that it names.

        Raises:
            ApiError: there is no such list, or there are too many terms.
            ConfigError: a term is none.
        """
        given = options.terms
        if given and id(given) not in self._made:
            n_terms = given.count("\n") if isinstance(given, str) else len(given)
            if n_terms > MOST_TERMS:
                raise ApiError(400, f"more than {MOST_TERMS:,} terms; the operator can load longer lists by name")
            self._made[id(given)] = typed_terms(given) if isinstance(given, str) else TermList(map(_term, given))
        names = options.term_lists or []
        if unknown := [name for name in names if name not in self._known]:
            lists = ", ".join(self._known) or "there is none"
            raise ApiError(400, f"no term list {unknown[0][:100]} (the server's: {lists})")
        return (*([self._made[id(given)]] if given else []), *(self._known[name] for name in names))


def terms_in(line: str, lists: Sequence[TermList]) -> tuple[Term, ...]:
    """Return the terms of a line; of those with the same source, that of the first list."""
    found: dict[tuple[str, ...], Term] = {}
    for each in lists:
        for _, _, term in each.find(line):
            found.setdefault(tuple(unit.casefold() for unit in term.units), term)
    return tuple(found.values())


def _term(given: GivenTerm) -> Term:
    return Term(given.source, tuple(given.targets), given.case)
