"""Translation memories (TMX 1.1 to 1.4b, Localization Industry Standards Association): pairs from units of texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dragoman.data.formats.column_names import Languages, same_language
from dragoman.data.formats.file_names import table_languages
from dragoman.data.formats.pair_file import LocatedPair, PairFile, PairRequest, TextFile
from dragoman.data.formats.side_text import SideText, code_lines
from dragoman.data.formats.xliff import BY_MACHINE
from dragoman.data.formats.xml_blocks import read_items, root_name
from dragoman.data.text_files.lines import Line
from dragoman.errors import ConfigError, DataError, counted
from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.text.languages import base_language

SUFFIXES = frozenset((".tmx",))
#: The property of a text that says where it comes from, in the words of XLIFF 1.2: TMX has none of its own.
ORIGIN = "state-qualifier"
#: Units by which the languages of a memory are judged if the request does not name both.
_N_JUDGED = 1_000
#: Inline elements that hold native code, which is no text; of these types, the code is a line break.
_CODE, _BREAKS = frozenset(("bpt", "ept", "it", "ph", "ut")), frozenset(("lb", "pb", "cb"))


@dataclass
class _Unit:
    """A `<tu>`: the line where it begins, a text in each of some languages, and the languages of machines' texts.

    Args:
        has_code: inline codes were left out of a text.
    """

    line: int
    variants: list[tuple[str, Line]] = field(default_factory=list)
    by_machine: list[str] = field(default_factory=list)
    has_code: bool = False

    def texts(self, language: str, *, is_exact: bool) -> list[Line]:
        """Return the texts with a code, else, unless `is_exact`, those of the same language in other regions."""
        exact = [text for code, text in self.variants if _is_same_code(code, language)]
        return exact if exact or is_exact else [text for code, text in self.variants if same_language(code, language)]


def is_tmx(request: PairRequest) -> bool:
    """Return True if a file begins like a translation memory."""
    return root_name(request.head) == "tmx"


def open_tmx(request: PairRequest) -> PairFile:
    """Return the pairs of a translation memory in two of its languages.

    A unit with several translations gives several pairs; one that lacks a language gives none. Texts that a machine
    translated, by their property `ORIGIN`, are left out.

    Raises:
        DataError: the file is not well-formed XML, or no translation memory in two languages.
        ConfigError: it lacks a requested language, or has more than two languages and the request names none.
    """
    if request.columns is not None:
        advice = "leave --columns out; --source-lang and --target-lang choose the languages"
        raise ConfigError("a translation memory has no columns", request.path, advice=advice)
    languages = _choose_languages(request)
    left_out = _LeftOut()
    read = partial(_read_pairs, request.text, languages, left_out)
    source, target = languages
    note = f'{request.path}: read as a translation memory (TMX); source: "{source}", target: "{target}"'
    codes = (_usual_code(source), _usual_code(target))
    return PairFile(
        read,
        lambda: sum(1 for _ in read()),
        codes,
        (note,),
        count_by_machine=lambda: left_out.n_by_machine,
        left_out=lambda: left_out.lines(request.path, languages),
    )


@dataclass
class _LeftOut:
    """Counts of what a pass has left out: texts by a machine, units without one of the languages, inline codes."""

    n_by_machine: int = 0
    n_incomplete: int = 0
    n_with_code: int = 0

    def clear(self) -> None:
        """Begin a new pass."""
        self.n_by_machine = self.n_incomplete = self.n_with_code = 0

    def lines(self, path: Path, languages: tuple[str, str]) -> tuple[str, ...]:
        """Return lines for people."""
        lines = []
        if self.n_incomplete:
            some = counted(self.n_incomplete, "unit")
            lines.append(f"{path}: {some} left out: without a text in {' or '.join(languages)}")
        if self.n_by_machine:
            lines.append(f"{path}: {counted(self.n_by_machine, 'text')} left out: translated by a machine")
        return (*lines, *code_lines(path, self.n_with_code, _CODE))


def _read_pairs(text: TextFile, languages: tuple[str, str], left_out: _LeftOut) -> Iterator[LocatedPair]:
    is_exact = same_language(*languages)  # from British to American English, say
    is_empty = True
    left_out.clear()
    for unit in read_items(text, _UnitReader(text.path)):
        by_machine = [code for code in unit.by_machine if any(same_language(code, each) for each in languages)]
        left_out.n_by_machine += len(by_machine)
        sources, targets = (unit.texts(language, is_exact=is_exact) for language in languages)
        if sources and targets:
            left_out.n_with_code += unit.has_code
        elif not by_machine:
            left_out.n_incomplete += 1
        for source, target in itertools.product(sources, targets):
            yield unit.line, source, target
            is_empty = False
    if is_empty:
        n_left_out = left_out.n_by_machine
        machine = f"; {n_left_out:,} left out: translated by a machine" if n_left_out else ""
        advice = f"check --source-lang and --target-lang{machine}"
        raise DataError(f"no unit has both {languages[0]} and {languages[1]}", text.path, advice=advice)


class _UnitReader:
    """Builds units from the elements of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: As the header states it.
        self.source_language = ""
        self.items: list[_Unit] = []
        self._unit: _Unit | None = None
        self._language: str | None = None
        self._segment: SideText | None = None  # that is open
        self._origin: list[str] | None = None  # what the open property says
        self._is_by_machine = False
        self._is_root = True

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Take a start tag."""
        if self._is_root and name != "tmx":
            problem = f"this is XML ({name}), not a translation memory (TMX)"
            raise DataError(problem, self._path, line=line, advice="export it as TMX, or as a table with tabs")
        self._is_root = False
        if self._segment is not None:
            self._segment.start(name, is_break=attributes.get("type") in _BREAKS)
        elif name == "header":
            self.source_language = attributes.get("srclang", "")
        elif name == "tu":
            self._unit = _Unit(line)
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang")
            self._is_by_machine = False
            if self._language is None:
                raise DataError("a <tuv> without xml:lang", self._path, line=line, advice="export the file again")
        elif name == "prop" and attributes.get("type") == ORIGIN:
            self._origin = []
        elif name == "seg":
            self._segment = SideText(_CODE)

    def end(self, name: str) -> None:
        """Take an end tag."""
        if self._segment is not None and self._segment.is_in_code:
            self._segment.end_code()
        elif name == "seg" and self._segment is not None:
            if self._unit is not None and self._language is not None:
                if self._is_by_machine:
                    self._unit.by_machine.append(self._language)
                else:
                    self._unit.variants.append((self._language, self._segment.line()))
                    self._unit.has_code |= self._segment.has_code
            self._segment = None
        elif name == "prop" and self._origin is not None:
            self._is_by_machine = "".join(self._origin).strip() == BY_MACHINE
            self._origin = None
        elif name == "tu" and self._unit is not None:
            self.items.append(self._unit)
            self._unit = None

    def text(self, text: str) -> None:
        """Take some text."""
        if self._segment is not None:
            self._segment.add(text)
        elif self._origin is not None:
            self._origin.append(text)


# ----------------------------------------------------------------------------------------------- languages


def _choose_languages(request: PairRequest) -> tuple[str, str]:
    """Return two languages of a memory: as requested, as its name says, else the only two, the header's first."""
    requested = request.languages
    if requested == (None, None):
        requested = table_languages(request.path.name)
    codes, header = _survey(request.text, requested)
    others = [code for code in codes if not any(same_language(code, language) for language in requested if language)]
    if not codes:
        raise DataError("no unit has a text", request.path, advice="export the memory again")
    if any(language and not any(same_language(code, language) for code in codes) for language in requested):
        direction = " to ".join(code or "any language" for code in requested)
        choose = "choose --source-lang and --target-lang among them"
        advice = choose if len(codes) > 1 else "give a memory with translations"
        raise ConfigError(f"the units are in {_list(codes)}, and {direction} is asked for", request.path, advice=advice)
    n_missing = requested.count(None)
    if len({base_language(code) for code in others}) > n_missing > 0:
        advice = "say which two: --source-lang and --target-lang"
        raise ConfigError(f"the units are in more than two languages ({_list(codes)})", request.path, advice=advice)
    if len(others) < n_missing:
        advice = "give a memory with translations"
        raise DataError(f"the units are in {_list(codes)}, and a pair needs two languages", request.path, advice=advice)
    others.sort(key=lambda code: (not _is_same_code(code, header), not same_language(code, header)))
    source = requested[0] or others[0]
    return source, requested[1] or next((code for code in others if not same_language(code, source)), others[-1])


def _survey(text: TextFile, requested: Languages) -> tuple[list[str], str]:
    """Return the languages of the first units, until both requested languages occur, and the header's."""
    codes: dict[str, None] = {}
    reader = _UnitReader(text.path)
    for number, unit in enumerate(read_items(text, reader), start=1):
        codes |= dict.fromkeys(code for code, _ in unit.variants)
        if number >= _N_JUDGED and all(
            language is None or any(same_language(code, language) for code in codes) for language in requested
        ):
            break
    return list(codes), reader.source_language


def _list(codes: Sequence[str]) -> str:
    return ", ".join(codes) or "no language"


def _usual_code(code: str) -> str:
    """Return a code as settings spell it: "EN-us" is "en-us"."""
    language = re.split("[-_]", code)[0]
    usual = language.lower() + code[len(language) :]
    return usual if LANGUAGE_CODE.fullmatch(usual) else base_language(code)


def _is_same_code(first: str, second: str) -> bool:
    return first.replace("_", "-").lower() == second.replace("_", "-").lower()
