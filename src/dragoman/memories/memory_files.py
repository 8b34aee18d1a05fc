"""Files of translation memories: read in any format of pairs, and written so that a crash loses nothing.

A file whose name ends in .jsonl has one unit a line, with its languages. Lines are added to its end, and a line that a
crash left unfinished is passed over. Nothing is added to files of other forms, which are written once.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dragoman.data.text_files.lines import Unreadable
from dragoman.errors import ConfigError, DataError, counted
from dragoman.machine.files import append_file, flush_folder, write_chunks
from dragoman.text.cleaning import REPLACEMENT, collapse_spaces, sanitize
from dragoman.text.languages import base_language
from dragoman.text.tags import UNKNOWN

if TYPE_CHECKING:
    from dragoman.data.formats.column_names import Languages


class Unit(NamedTuple):
    """A text and its translation, with the codes of their languages; None is unknown."""

    source: str
    target: str
    source_lang: str | None = None
    target_lang: str | None = None

    @property
    def direction(self) -> tuple[str | None, str | None]:
        """The languages of the text and of its translation, without regions."""
        return language(self.source_lang), language(self.target_lang)


def language(code: str | None) -> str | None:
    """Return the language of a code, without its region; None if it is unknown."""
    return None if code is None else base_language(code)


LOG_SUFFIX = ".jsonl"
#: Suffixes of files that can be written.
WRITABLE = (LOG_SUFFIX, ".tsv", ".tmx")
#: Lines by which a file is judged; a crash may have cut the first.
_N_JUDGED = 10
#: The version of the form in which TMX is written.
TMX_WRITER = 1
TMX_END = b"</body>\n</tmx>\n"
#: Characters that XML forbids, besides those that `sanitize` replaces.
_NOT_XML = str.maketrans("\ufffe\uffff", REPLACEMENT * 2)

_log = logging.getLogger(__name__)


def open_units(path: Path, languages: Languages = (None, None)) -> Iterator[Unit]:
    """Yield the units of a file of pairs, or of a memory that `append_units` wrote.

    Args:
        languages: the two to read, as far as they are known.

    Raises:
        DataError: the file cannot be read, or has no pairs.
        ConfigError: it does not have these languages.
    """
    if is_log(path):
        yield from _read_log(path, languages)
        return
    from dragoman.data.formats import open_pairs

    try:
        pairs = open_pairs(path, languages, None, "drop")
    except (ConfigError, DataError) as error:
        if "--columns" not in error.advice:
            raise
        raise error.advising("name the two languages of the text, or leave only its two columns in the file") from None
    codes = tuple(known or asked for known, asked in zip(pairs.languages, languages, strict=True))
    n_read = n_unreadable = 0
    for _, source, target in pairs.read():
        if isinstance(source, Unreadable) or isinstance(target, Unreadable):
            n_unreadable += 1
        else:
            n_read += 1
            yield Unit(source, target, *codes)
    if n_by_machine := pairs.count_by_machine():
        _log.warning(f"{path}: {counted(n_by_machine, 'translation')} left out: made by a machine (leveraged-mt)")
    if n_unreadable and not n_read:
        raise DataError("no line can be read", path, advice="give a memory in UTF-8: TMX, TSV, CSV or JSONL")
    if n_unreadable:
        _log.warning(f"{path}: {counted(n_unreadable, 'line')} passed over: no UTF-8, or too long")


def is_log(path: Path) -> bool:
    """Return True if a file has one unit with its languages a line, or is empty and has the name of such a file."""
    if path.suffix.lower() != LOG_SUFFIX or not path.is_file():
        return False
    with open(path, "rb") as file:
        lines = [line for line in islice(file, _N_JUDGED) if line.endswith(b"\n")]
    return not lines or any(_unit(line) is not None for line in lines)


def append_units(path: Path, units: Iterable[Unit]) -> int:
    """Add units to the end of a memory, and return their number. They are on the disk when this returns.

    Raises:
        ConfigError: the file is no .jsonl.
        DataError: the file has other content.
        ResourceError: the disk is full.
    """
    added, is_new = list(units), _is_new_log(path)
    append_file(path, b"".join([b"" if is_new else _missing_line_end(path), *map(_line, added)]))
    if is_new:
        flush_folder(path.absolute().parent)
    return len(added)


def _is_new_log(path: Path) -> bool:
    """Return True if a memory to which units are added has none yet.

    Raises:
        ConfigError: the file is no .jsonl.
        DataError: it has other content.
    """
    advice = f"import it into a new memory: dragoman memory import NEW{LOG_SUFFIX} {path}"
    if path.suffix.lower() != LOG_SUFFIX:
        advice = advice if path.exists() else f"choose a name that ends in {LOG_SUFFIX}"
        raise ConfigError(f"only {LOG_SUFFIX} files take new units", path, advice=advice)
    is_new = not path.exists() or not path.stat().st_size
    if not is_new and not is_log(path):
        raise DataError("its objects have no source_lang and target_lang", path, advice=advice)
    return is_new


def append_new_units(path: Path, units: Iterable[Unit]) -> int:
    """Add the units that a memory does not have yet and that have two sides, each once; return their number.

    Raises:
        ConfigError: a unit has the same language on both sides.
        DragomanError: as `append_units`.
    """
    known = () if _is_new_log(path) else open_units(path)
    last: dict[str, dict[tuple[str | None, str | None], str]] = {}
    for unit in known:
        last.setdefault(unit.source, {})[unit.direction] = unit.target
    new = []
    for unit in units:
        source_lang, target_lang = unit.direction
        if source_lang is not None and source_lang == target_lang:
            raise ConfigError(f"both sides are in {source_lang}", advice="give the language of the translation")
        is_whole = bool(sanitize(unit.source).strip() and sanitize(unit.target).strip())
        if is_whole and last.get(unit.source, {}).get(unit.direction) != unit.target:
            last.setdefault(unit.source, {})[unit.direction] = unit.target
            new.append(unit)
    return append_units(path, new)


def _may_be_same(direction: tuple[str | None, str | None], other: tuple[str | None, str | None]) -> bool:
    """Return True if two directions may be the same: what is not known fits everything."""
    return all(None in codes or len(set(codes)) == 1 for codes in zip(direction, other, strict=True))


def export_units(path: Path, units: Iterable[Unit]) -> None:
    """Write a memory anew, as TMX 1.4, a table (.tsv) or .jsonl. The file appears when it is whole.

    Raises:
        ConfigError: the file is of another kind, or a table would have several directions.
        ResourceError: the disk is full.
    """
    units = list(units)
    if _suffix(path) == ".tmx":
        write_chunks(path, _tmx_chunks(units))
    elif _suffix(path) == LOG_SUFFIX:
        write_chunks(path, map(_line, units))
    else:
        _require_one_direction(path, units)
        write_chunks(path, [*_header(units), *map(_row, units)])


def _tmx_chunks(units: Sequence[Unit]) -> Iterator[bytes]:
    codes = {unit.source_lang for unit in units}
    yield tmx_head(codes.pop() if len(codes) == 1 else "*all*")
    yield from map(tmx_unit, units)
    yield TMX_END


def tmx_head(source_lang: str | None) -> bytes:
    """Return what stands before the units of a translation memory in TMX 1.4. A language that is unknown is `und`.

    Args:
        source_lang: the language of all sources, or "*all*".
    """
    from xml.sax.saxutils import quoteattr  # imports an HTTP client, which takes long

    header = f'creationtool="dragoman" creationtoolversion="{TMX_WRITER}" segtype="sentence" o-tmf="dragoman"'
    source = quoteattr(source_lang or UNKNOWN)
    begin = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
    return f'{begin}<header {header} adminlang="en" srclang={source} datatype="plaintext"/>\n<body>\n'.encode()


def tmx_unit(unit: Unit) -> bytes:
    """Return a unit of a translation memory in TMX 1.4."""
    from xml.sax.saxutils import escape, quoteattr

    variants = (
        f"<tuv xml:lang={quoteattr(code or UNKNOWN)}><seg>{escape(sanitize(text).translate(_NOT_XML))}</seg></tuv>"
        for code, text in ((unit.source_lang, unit.source), (unit.target_lang, unit.target))
    )
    return f"<tu>{''.join(variants)}</tu>\n".encode()


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in WRITABLE:
        advice = f"use a name that ends in {', '.join(WRITABLE)}"
        raise ConfigError(f"a memory of kind {suffix!r} cannot be written", path, advice=advice)
    return suffix


def _read_log(path: Path, languages: Languages) -> Iterator[Unit]:
    wanted, wrong = (language(languages[0]), language(languages[1])), []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if (unit := _unit(line)) is None:
                wrong.append(number)
            elif _may_be_same(wanted, unit.direction):
                yield unit
    if wrong:
        lines = f"{len(wrong):,} lines, the first of them {wrong[0]:,}," if len(wrong) > 1 else f"line {wrong[0]:,}"
        _log.warning(f"{path}: {lines} cannot be read (a crash may have cut it); skipped")


def _unit(line: bytes) -> Unit | None:
    """Return the unit of a line; None if it is not whole, or has none."""
    try:
        values: Any = json.loads(line) if line.endswith(b"\n") else None
        fields = [values[name] for name in Unit._fields]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_unit = all(isinstance(text, str) for text in fields[:2])
    return Unit(*fields) if is_unit and all(code is None or isinstance(code, str) for code in fields[2:]) else None


def _line(unit: Unit) -> bytes:
    return json.dumps(unit._asdict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _row(unit: Unit) -> bytes:
    return "\t".join(collapse_spaces(sanitize(text)) for text in unit[:2]).encode() + b"\n"


def _header(units: Sequence[Unit]) -> list[bytes]:
    """Return the first line of a table: the languages, if they are known."""
    codes = [(unit.source_lang, unit.target_lang) for unit in units[:1]]
    return [f"{source or 'source'}\t{target or 'target'}\n".encode() for source, target in codes]


def _require_one_direction(path: Path, units: Sequence[Unit]) -> None:
    if len(directions := {unit.direction for unit in units}) > 1:
        names = ", ".join(sorted(" to ".join(code or UNKNOWN for code in each) for each in directions))
        raise ConfigError(f"a table has one direction, and there are {names}", path, advice="use a .jsonl or .tmx file")


def _missing_line_end(path: Path) -> bytes:
    """Return a line end if a crash left the last line of a file without one."""
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"
