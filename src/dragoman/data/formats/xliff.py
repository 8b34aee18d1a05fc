"""XLIFF 1.2 and 2 (OASIS): pairs from the units that have a target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.data.formats.column_names import Languages, language_code, must_swap
from dragoman.data.formats.pair_file import LocatedPair, PairFile, PairRequest
from dragoman.data.formats.side_text import SideText, code_lines
from dragoman.data.formats.xml_blocks import read_items, root_name
from dragoman.data.text_files.lines import Line
from dragoman.errors import ConfigError, DataError, counted

SUFFIXES = frozenset((".xlf", ".xliff"))
_UNITS, _SIDES = frozenset(("trans-unit", "segment")), ("source", "target")
#: Inline elements with native code, which is no text, and those around text. A code of these types is a line break.
_CODE = frozenset(("bpt", "ept", "it", "ph", "x", "bx", "ex", "sc", "ec", "cp"))
_WRAPPING = frozenset(("g", "pc"))
_BREAKS = frozenset(("lb", "pb", "cb", "x-html-br", "xlf:lb", "xlf:pb"))
#: States of targets that nobody should learn from: of XLIFF 1.2, and of 2.
_UNFINISHED = re.compile("new|needs-.*|initial")
#: The origin of a target that a machine translated, in the word of XLIFF 1.2; what stands before it in XLIFF 2, which
#: has no word for it; and all such origins.
BY_MACHINE, ORIGIN_PREFIX = "leveraged-mt", "dragoman:"
_MACHINE_ORIGINS = frozenset((BY_MACHINE, "mt-suggestion", ORIGIN_PREFIX + BY_MACHINE))
#: States of a target that a person has checked.
_CHECKED = frozenset(("final", "signed-off", "reviewed"))
_MACHINE_FAULT = "translated by a machine"


@dataclass
class _Unit:
    """A `<trans-unit>` or `<segment>`: its line, its texts, its state and its origin; None if it has none.

    Args:
        has_code: inline codes were left out of a text.
    """

    line: int
    state: str | None
    origin: str | None
    is_approved: bool
    is_translated: bool
    texts: dict[str, Line] = field(default_factory=dict)
    has_code: bool = False

    def fault(self) -> str | None:
        """Return the reason why this is no pair, if there is one."""
        if not self.is_translated:
            return "not to translate"
        if not all(self.texts.get(side, "") for side in _SIDES):
            return "without a target"
        if self.state and _UNFINISHED.fullmatch(self.state):
            return "unfinished"
        is_checked = self.is_approved or self.state in _CHECKED
        return _MACHINE_FAULT if self.origin in _MACHINE_ORIGINS and not is_checked else None


def is_xliff(request: PairRequest) -> bool:
    """Return True if a file begins like XLIFF."""
    return root_name(request.head) == "xliff"


def open_xliff(request: PairRequest) -> PairFile:
    """Return the pairs of a file: source and target of each unit that has both.

    Units that are not to be translated are left out, and those whose state says that they are unfinished, or that
    a machine translated them and nobody has checked them.

    Raises:
        DataError: the file is not well-formed XML, is no XLIFF, or has no translation.
        ConfigError: it is of other languages than those requested.
    """
    path = request.path
    if request.columns is not None:
        raise ConfigError("XLIFF has no columns", path, advice="leave --columns out")
    left_out: Counter[str] = Counter()
    n_with_code = 0
    reader = _UnitReader(path)
    for unit in read_items(request.text, reader):
        left_out[unit.fault() or ""] += 1
        n_with_code += unit.has_code and unit.fault() is None
    n_pairs = left_out.pop("", 0)
    n_by_machine = left_out[_MACHINE_FAULT]
    listed = ", ".join(f"{n:,} {kind}" for kind, n in left_out.items())
    if not n_pairs:
        advice = f"give one with translations (left out: {listed})" if listed else "check the file"
        raise DataError("no unit has a translation", path, advice=advice)
    languages = reader.languages(path)
    swapped = must_swap("file", languages, request.languages, path)
    sides = _SIDES[::-1] if swapped else _SIDES

    def read() -> Iterator[LocatedPair]:
        for unit in read_items(request.text, _UnitReader(path)):
            if unit.fault() is None:
                yield unit.line, unit.texts[sides[0]], unit.texts[sides[1]]

    note = f"{path}: read as XLIFF, {counted(n_pairs, 'unit')}" + (f" (left out: {listed})" if listed else "")
    note += f"; source: {sides[0]}, target: {sides[1]}"
    stated = languages[::-1] if swapped else languages
    notes = (note, *code_lines(path, n_with_code, _CODE | _WRAPPING))
    return PairFile(read, lambda: n_pairs, stated, notes, count_by_machine=lambda: n_by_machine)


class _UnitReader:
    """Builds units from the elements of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stated: tuple[set[str], set[str]] = (set(), set())
        self.items: list[_Unit] = []
        self._unit: _Unit | None = None
        #: The elements around, and True for those whose text is to be translated.
        self._open: list[tuple[str, bool]] = []
        self._side: SideText | None = None  # that is open

    def languages(self, path: Path) -> Languages:
        """Return the languages that the file names.

        Raises:
            DataError: it names several for one side.
        """
        for side, codes in zip(_SIDES, self._stated, strict=True):
            if len(codes) > 1:
                problem = f"the file has more than one {side} language ({', '.join(sorted(codes))})"
                raise DataError(problem, path, advice="give a file for each direction")
        source, target = (next(iter(codes), None) for codes in self._stated)
        return source, target

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Take a start tag."""
        if not self._open and name != "xliff":
            advice = "export it as XLIFF, or as a table with tabs"
            raise DataError(f"this is XML ({name}), not XLIFF", self._path, line=line, advice=advice)
        parent, is_translated = self._open[-1] if self._open else ("", True)
        translate = attributes.get("translate")
        if self._side is None and translate in ("yes", "no"):
            is_translated = translate == "yes"
        self._open.append((name, is_translated))
        if self._side is not None:
            types = {attributes.get(key) for key in ("ctype", "type", "subType")}
            self._side.start(name, is_break=not _BREAKS.isdisjoint(types))
        elif name in _UNITS:
            is_approved = attributes.get("approved") == "yes"
            self._unit = _Unit(line, attributes.get("state"), attributes.get("subState"), is_approved, is_translated)
        elif name in _SIDES and parent in _UNITS and self._unit is not None:
            self._side = SideText(_CODE, _WRAPPING)
            self._unit.state = attributes.get("state", self._unit.state)
            self._unit.origin = attributes.get("state-qualifier", self._unit.origin)
        elif name in ("xliff", "file"):
            self._name_languages(attributes)

    def end(self, name: str) -> None:
        """Take an end tag."""
        self._open.pop()
        if self._side is not None and self._side.is_in_code:
            self._side.end_code()
        elif self._side is not None and name in _SIDES and self._unit is not None:
            line = self._side.line()
            self._unit.texts[name] = line.strip() if isinstance(line, str) else line
            self._unit.has_code |= self._side.has_code
            self._side = None
        elif name in _UNITS and self._unit is not None:
            self.items.append(self._unit)
            self._unit = None

    def text(self, text: str) -> None:
        """Take some text."""
        if self._side is not None:
            self._side.add(text)

    def _name_languages(self, attributes: dict[str, str]) -> None:
        names = (("source-language", "srcLang"), ("target-language", "trgLang"))
        for codes, (first, second) in zip(self._stated, names, strict=True):
            if code := language_code(attributes.get(first) or attributes.get(second) or ""):
                codes.add(code)
