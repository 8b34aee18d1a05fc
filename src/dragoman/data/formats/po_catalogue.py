"""Catalogues of gettext (PO): pairs from the messages that people have translated.

A message is read as a translated document has it (`text/rst_marks.py`): markup around words is left out.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.data.formats.column_choice import join_lines
from dragoman.data.formats.column_names import Languages, language_code, must_swap, same_language
from dragoman.data.formats.pair_file import LocatedPair, PairFile, PairRequest
from dragoman.data.text_files.lines import check_unchanged
from dragoman.data.text_files.whole_files import decode, read_whole
from dragoman.errors import ConfigError, DataError, counted
from dragoman.text.rst_marks import marked_rst

if TYPE_CHECKING:
    import polib

SUFFIXES = frozenset((".po", ".pot"))
_HEAD = re.compile(rb'\s*(?:#[^\n]*\n\s*|msgctxt "[^\n]*\n\s*)*+msgid "[^\n]*"\s*("[^\n]*"\s*)*+msg(?:str|id_plural)\b')
_SYNTAX = re.compile(r"[Ll]ine (?P<line>\d+)\)?:? ?(?P<problem>.*)")
#: The encoding in the header.
_CHARSET = re.compile(rb'(?m)^(?:msgstr[ \t]+)?"Content-Type:[^"\n]{0,200}?charset=([\w.:-]{1,40})')
#: A line whose string has no end.
_UNCLOSED = re.compile(r'(?m)^[ \t]*(?:msg\w+(?:\[\d+\])?[ \t]+)?"(?:[^"\\\r\n]|\\.)*\\?\r?$')
#: The language of messages in a catalogue that does not name it, by the convention of gettext.
USUAL_SOURCE = "en"
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++")


def is_po(request: PairRequest) -> bool:
    """Return True if a file begins like a catalogue."""
    return _HEAD.match(request.head.removeprefix(b"\xef\xbb\xbf")) is not None


def open_po(request: PairRequest) -> PairFile:
    """Return the pairs of a catalogue: each message with its translation.

    Fuzzy and obsolete messages are left out, and those with plural forms, whose number depends on the language.

    Raises:
        DataError: it cannot be read, is no catalogue, or has no translation.
        ConfigError: it is of other languages than those requested.
    """
    if request.columns is not None:
        raise ConfigError("a catalogue of translations has no columns", request.path, advice="leave --columns out")
    path = request.path
    catalogue = read_catalogue(read_whole(path, request.text.state), path)
    languages = _languages(catalogue, request.languages)
    swapped = must_swap("catalogue", languages, request.languages, path)
    chosen, left_out = _translated(catalogue)
    if not chosen:
        advice = f"give one with translations (left out: {_listed(left_out)})" if left_out else "check the file"
        raise DataError("no message has a translation", path, advice=advice)
    pairs = _Pairs(request, chosen, swapped)
    sides = ("msgstr", "msgid") if swapped else ("msgid", "msgstr")
    note = f"{path}: read as a catalogue of translations (PO), {counted(len(chosen), 'message')}"
    note += f" (left out: {_listed(left_out)})" if left_out else ""
    note += f"; source: {sides[0]}, target: {sides[1]}"
    return PairFile(pairs.read, lambda: len(chosen), languages[::-1] if swapped else languages, (note,))


@dataclass
class _Pairs:
    """Translated messages, and the pairs that they become when they are first read."""

    request: PairRequest
    messages: Sequence[tuple[int, str, str]]
    swapped: bool

    @cached_property
    def _pairs(self) -> list[LocatedPair]:
        read = ((line, _as_read(source), _as_read(target)) for line, source, target in self.messages)
        return [(line, target, source) if self.swapped else (line, source, target) for line, source, target in read]

    def read(self) -> Iterator[LocatedPair]:
        """Yield the pairs of a file that has not changed."""
        check_unchanged(self.request.path, self.request.text.state)
        yield from self._pairs


def read_catalogue(content: bytes, name: Path) -> polib.POFile:
    """Read a catalogue.

    Raises:
        DataError: it is not in the encoding that it names, or no PO file.
    """
    return parse_catalogue(decode_catalogue(content, name)[1], name)


def decode_catalogue(content: bytes, name: Path) -> tuple[bytes, str, str]:
    """Return the byte order mark of a catalogue, its text, and its encoding: that of its header, or UTF-8.

    Raises:
        DataError: it is in another encoding, or Python does not know it.
    """
    declared = _CHARSET.search(content)
    charset = declared[1].decode() if declared else ""
    if charset.lower() in ("", "charset", "utf-8", "utf8", "ascii", "us-ascii") or content.startswith(codecs.BOM_UTF8):
        return *decode(content, name), "utf-8"
    try:
        text = content.decode(charset)
        is_same = text.encode(charset) == content
    except LookupError:
        advice = "convert it to UTF-8: msgconv --to-code=UTF-8"
        raise DataError(f"unknown encoding {charset!r}", name, advice=advice) from None
    except UnicodeError:
        is_same = False
    if not is_same:
        raise DataError(
            f"this is not the encoding {charset!r} that its header names", name, advice="correct the header"
        )
    return b"", text, charset


def parse_catalogue(text: str, name: Path) -> polib.POFile:
    """Read the text of a catalogue.

    Raises:
        DataError: it is no PO file.
    """
    import polib  # an optional package

    if not text.strip():
        return polib.POFile()
    if unclosed := _UNCLOSED.search(text):
        at = text.count("\n", 0, unclosed.start()) + 1
        raise DataError("a string without its closing quote", name, line=at, advice="add the quote")
    try:
        return polib.pofile(_Text(text + ("" if text.endswith("\n") else "\n")))
    except (OSError, UnicodeError, ValueError, IndexError, AttributeError, TypeError) as error:
        match = _SYNTAX.search(str(error))
        line = int(match["line"]) if match else None
        raise DataError("this is no PO file", name, line=line, advice="`msgfmt --check` names its faults") from None


class _Text(str):
    """A text that polib reads line by line as gettext does: a form feed or U+2028 inside a string ends no line."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        """Return the lines."""
        return catalogue_lines(self) if keepends else [line.rstrip("\r\n") for line in catalogue_lines(self)]


def catalogue_lines(text: str) -> list[str]:
    """Return the lines of a catalogue, each with its end."""
    return _LINE.findall(text)


def _languages(catalogue: polib.POFile, requested: Languages) -> Languages:
    """Return the languages of messages and translations: as the header says, else as requested, else as usual."""
    target = language_code(catalogue.metadata.get("Language", ""))
    is_reversed = None not in (target, requested[0]) and same_language(target or "", requested[0] or "")
    stated = language_code(catalogue.metadata.get("X-Source-Language", ""))
    return stated or requested[is_reversed] or USUAL_SOURCE, target


def _translated(catalogue: polib.POFile) -> tuple[list[tuple[int, str, str]], Counter[str]]:
    """Return the line, the message and the translation of each to learn from, and the numbers of others by kind."""
    chosen: list[tuple[int, str, str]] = []
    left_out: Counter[str] = Counter()
    for entry in catalogue:
        if entry.obsolete:
            left_out["obsolete"] += 1
        elif entry.msgid_plural:
            left_out["with plural forms"] += 1
        elif entry.fuzzy:
            left_out["fuzzy"] += 1
        elif not entry.msgstr:
            left_out["untranslated"] += 1
        else:
            chosen.append((entry.linenum or 1, entry.msgid, entry.msgstr))
    return chosen, left_out


def _as_read(message: str) -> str:
    """Return a message on one line, without the marks that wrap its words."""
    return marked_rst(join_lines(message).strip()).text


def _listed(left_out: Counter[str]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in left_out.items())
