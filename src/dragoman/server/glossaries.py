"""Glossaries that clients of DeepL's API send: kept in RAM until they are deleted, or the server stops."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from dragoman.server.api_errors import ApiError
from dragoman.server.term_lists import LONGEST
from dragoman.text.terms import Term, TermList

#: Entries of all glossaries of a server together.
MOST_ENTRIES = 50_000
#: Entries of all glossaries of a key, so that it leaves room for others.
MOST_OF_KEY = 10_000
#: DeepL's status for a client that has used up what it may.
QUOTA = 456


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE


_DIALECTS: dict[str, type[csv.Dialect]] = {"tsv": _Tabs, "csv": csv.excel}


@dataclass(frozen=True)
class Glossary:
    """Terms of one direction."""

    name: str
    source: str
    target: str
    entries: Mapping[str, str]
    terms: TermList
    number: str = field(default_factory=lambda: str(uuid.uuid4()))
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def tsv(self) -> str:
        """Return the entries as lines, with a tab between source and target."""
        return "\n".join("\t".join(entry) for entry in self.entries.items())


class Glossaries:
    """The glossaries of one server; they belong to the event loop's thread, and each to a client's key."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Glossary] = {}

    def add(self, owner: str, glossary: Glossary) -> None:
        """Keep a glossary.

        Raises:
            ApiError: there is no room.
        """
        own = sum(len(each.entries) for each in (*self.of(owner), glossary))
        if owner and own > MOST_OF_KEY:
            raise ApiError(
                QUOTA, f"the glossaries of this key would have more than {MOST_OF_KEY:,} entries; delete one"
            )
        n_entries = sum(len(each.entries) for each in (*self._known.values(), glossary))
        if n_entries > MOST_ENTRIES:
            raise ApiError(QUOTA, f"the server's glossaries would have more than {MOST_ENTRIES:,} entries; delete one")
        self._known[owner, glossary.number] = glossary

    def of(self, owner: str) -> list[Glossary]:
        """Return the glossaries of a client."""
        return [each for (whose, _), each in self._known.items() if whose == owner]

    def get(self, owner: str, number: str) -> Glossary:
        """Return a glossary.

        Raises:
            ApiError: there is none.
        """
        if (found := self._known.get((owner, number))) is None:
            raise ApiError(404, f"there is no glossary {number[:100]}")
        return found

    def remove(self, owner: str, number: str) -> None:
        """Delete a glossary.

        Raises:
            ApiError: there is none.
        """
        self.get(owner, number)
        del self._known[owner, number]


def read_entries(_: None, text: str, format: str) -> tuple[dict[str, str], TermList]:
    """Return the entries of a glossary, and their terms. A helper process calls it.

    Args:
        format: tsv or csv; columns after the second of CSV are not read.

    Raises:
        ApiError: there is none, or one is no entry.
        ConfigError: one has no word.
    """
    if format not in _DIALECTS:
        raise ApiError(400, f"entries_format {format[:100]} is not supported; send tsv or csv")
    rows = csv.reader(io.StringIO(text), _DIALECTS[format])
    entries: dict[str, str] = {}
    try:
        for row in rows:
            cells = [" ".join(cell.split()) for cell in row]
            if any(cells):
                _add(entries, cells[:2], rows.line_num)
    except csv.Error as error:
        raise ApiError(400, f"line {rows.line_num} of the entries cannot be read: {error}") from None
    if not entries:
        raise ApiError(400, "the glossary has no entries")
    return entries, TermList(Term(source, (target,)) for source, target in entries.items())


def _add(entries: dict[str, str], cells: list[str], line: int) -> None:
    if len(cells) < 2 or not all(cells):
        raise ApiError(400, f"line {line} of the entries lacks a source or a target")
    if max(map(len, cells)) > LONGEST:
        raise ApiError(400, f"line {line} of the entries has a term of more than {LONGEST} characters")
    if cells[0] in entries:
        raise ApiError(400, f"line {line} of the entries has the source of another line: {cells[0][:100]}")
    if len(entries) >= MOST_ENTRIES:
        raise ApiError(QUOTA, f"the glossary has more than {MOST_ENTRIES:,} entries")
    entries[cells[0]] = cells[1]
