"""Term bases (TBX, ISO 30042), version 2 (`martif`) and version 3 (`tbx`), read as terms for one direction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.data.formats.column_names import Languages, same_language
from dragoman.data.formats.pair_file import TextFile
from dragoman.data.formats.xml_blocks import read_items, root_name
from dragoman.data.text_files.compression import read_head
from dragoman.data.text_files.lines import check_text_file
from dragoman.errors import ConfigError, DataError
from dragoman.text.terms import GOES_ON, Term

_ROOTS = frozenset(("martif", "tbx"))
#: The names of a concept, of its terms in a language, and of what belongs to one term.
_CONCEPTS, _SECTIONS = frozenset(("termEntry", "conceptEntry")), frozenset(("langSet", "langSec"))
_TERM_SECTIONS = frozenset(("tig", "ntig", "termSec"))
_STATUS = "administrativeStatus"
_PREFERRED = frozenset(("preferredTerm-admn-sts", "preferredTerm", "preferred"))
_REFUSED = frozenset(
    name for one in ("deprecated", "superseded") for name in (one, f"{one}Term", f"{one}Term-admn-sts")
)


@dataclass
class _BaseTerm:
    language: str
    text: str = ""
    status: str = ""


@dataclass
class _Concept:
    line: int
    terms: list[_BaseTerm] = field(default_factory=list)


def is_termbase(path: Path) -> bool:
    """Return True if a file begins like a term base."""
    # A pipe cannot be read twice.
    return path.is_file() and root_name(read_head(path)) in _ROOTS


def read_termbase(path: Path, languages: Languages) -> Iterator[tuple[int, Term]]:
    """Yield the terms of a term base, each with the line of its concept.

    The translations of a term are all terms of its concept in the target language, the preferred ones first, without
    those that are deprecated or superseded.

    Args:
        languages: codes of source and target; None takes the language from the file, which then must have two.

    Raises:
        DataError: the file is not well-formed, declares entities, or has no terms.
        ConfigError: it lacks a requested language, or has more or fewer than two and not both are given.
    """
    reader = _ConceptReader()
    concepts = list(read_items(TextFile(path, "error", check_text_file(path)), reader))
    codes = list(dict.fromkeys(term.language for concept in concepts for term in concept.terms))
    source, target = _choose(codes, reader.main_language, languages, path)
    is_empty = True
    for concept in concepts:
        sources, targets = (
            [term for term in concept.terms if same_language(term.language, code)] for code in (source, target)
        )
        accepted = [term for term in targets if term.status not in _REFUSED]
        accepted.sort(key=lambda term: term.status not in _PREFERRED)
        texts = tuple(dict.fromkeys(term.text.rstrip(GOES_ON) for term in accepted))
        for text in dict.fromkeys(term.text for term in sources):
            if texts:
                is_empty = False
                try:
                    yield concept.line, Term(text, texts)
                except ConfigError as error:
                    problem = str(error).split(";")[0]
                    raise DataError(problem, path, line=concept.line, advice="mend or remove the concept") from None
    if is_empty:
        problem = f"no concept has terms in {source} and in {target}"
        raise DataError(problem, path, advice="check --source-lang and --target-lang")


def _choose(codes: Sequence[str], main: str, asked: Languages, path: Path) -> tuple[str, str]:
    """Return the languages of source and target: those requested, else the two of the file, its main one first."""
    if not codes:
        raise DataError("the term base has no terms", path, advice="export it again, with its terms")
    advice = "give --source-lang and --target-lang"
    for code in asked:
        if code is not None and not any(same_language(code, own) for own in codes):
            raise ConfigError(f"the terms are in {', '.join(codes)}, and {code} is asked for", path, advice=advice)
    source, target = asked
    known = [one for one in asked if one is not None]
    others: list[str] = []
    for code in codes:
        if not any(same_language(code, one) for one in [*known, *others]):
            others.append(code)
    if known != [*asked] and len(others) != asked.count(None):
        raise ConfigError(f"the terms are in {', '.join(codes)}, not in two languages", path, advice=advice)
    others.sort(key=lambda code: not same_language(code, main))
    source = source or others.pop(0)
    return source, target or others.pop(0)


class _ConceptReader:
    """Builds concepts from the elements of a file."""

    def __init__(self) -> None:
        self.main_language = ""
        self.items: list[_Concept] = []
        self._concept: _Concept | None = None
        self._language, self._section_status = "", ""
        #: The text of the open `<term>`, or of a note with its status.
        self._term: list[str] | None = None
        self._status: list[str] | None = None
        self._first = 0

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Take a start tag."""
        language = attributes.get("xml:lang") or attributes.get("lang") or ""
        if name in _ROOTS:
            self.main_language = language
        elif name in _CONCEPTS:
            self._concept = _Concept(line)
        elif name in _SECTIONS:
            self._language = language
        elif name in _TERM_SECTIONS and self._concept is not None:
            self._first, self._section_status = len(self._concept.terms), ""
        elif name == "term":
            self._term = []
        elif name == _STATUS or (name == "termNote" and attributes.get("type") == _STATUS):
            self._status = []

    def end(self, name: str) -> None:
        """Take an end tag."""
        if name in _CONCEPTS and self._concept is not None:
            self.items.append(self._concept)
            self._concept = None
        elif name == "term" and self._term is not None:
            if self._concept is not None and (text := " ".join("".join(self._term).split())):
                self._concept.terms.append(_BaseTerm(self._language, text))
            self._term = None
        elif name in ("termNote", _STATUS) and self._status is not None:
            self._section_status, self._status = "".join(self._status).strip(), None
        elif name in _TERM_SECTIONS and self._concept is not None:
            for term in self._concept.terms[self._first :]:
                term.status = self._section_status

    def text(self, text: str) -> None:
        """Take some text."""
        for open_text in (self._term, self._status):
            if open_text is not None:
                open_text.append(text)
