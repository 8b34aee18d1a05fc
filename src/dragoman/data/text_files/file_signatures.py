"""Kinds of files that are no plain text in UTF-8, recognised by their names and their first bytes.

Only clear cases are refused: encodings and containers by bytes that no text has, and documents by a beginning that no
sentence has. The kinds are in `file_kinds.toml`.
"""

from __future__ import annotations

import codecs
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dragoman.data.text_files.character_encodings import NO_TEXT, n_binary, wide_encoding
from dragoman.data.text_files.compression import uncompressed_name
from dragoman.errors import DataError

_KINDS = Path(__file__).with_name("file_kinds.toml")
_JSON = "a JSON file"


class _Kind(NamedTuple):
    """A kind of file that is no plain text."""

    name: str
    advice: str
    #: A pattern of its first bytes, without a byte order mark; None if only its name tells it.
    head: re.Pattern[bytes] | None
    suffixes: frozenset[str]
    only_by_name: bool


@cache
def _kinds() -> tuple[_Kind, ...]:
    return tuple(
        _Kind(
            kind["name"],
            (f"to translate it: dragoman translate --format {kind['format']}; else " if "format" in kind else "")
            + kind["advice"],
            re.compile(kind["head"].encode()) if "head" in kind else None,
            frozenset(kind.get("suffixes", "").split()),
            kind.get("only_by_name", False),
        )
        for kind in tomllib.loads(_KINDS.read_text(encoding="utf-8"))["kind"]
    )


def _kind_by_name(path: str | Path) -> _Kind | None:
    suffix = uncompressed_name(path).suffix.lower()
    return next((kind for kind in _kinds() if suffix in kind.suffixes), None)


def has_document_suffix(path: str | Path) -> bool:
    """Return True if the suffix names a file that is not plain text."""
    return _kind_by_name(path) is not None


def refuse_documents(path: Path, *, allow_tables: bool = False) -> None:
    """Refuse a file whose suffix names a file that is not plain text.

    Args:
        allow_tables: also read JSON and tables, which may have the suffix of any text.

    Raises:
        DataError: it is subtitles, a page, a table, an office document or the like.
    """
    kind = _kind_by_name(path)
    if kind is None or (allow_tables and (kind.only_by_name or kind.name == _JSON)):
        return
    alternative = "; if it is plain text all the same, name it .txt" if kind.only_by_name else ""
    raise DataError(f"this is {kind.name}, not plain text", path, advice=kind.advice + alternative)


def refuse_other_formats(head: bytes, name: str | Path, *, allow_json: bool = False) -> None:
    """Refuse a file or pipe that does not begin like text in UTF-8.

    Args:
        head: its first bytes, up to the end of a line, or `HEAD_BYTES`.
        allow_json: also read JSON, as in a file of pairs.

    Raises:
        DataError: it is UTF-16 or UTF-32, an archive, a picture, subtitles, a page or the like.
    """
    text = head.removeprefix(codecs.BOM_UTF8)
    for kind in _kinds():  # before encodings: the bytes of an archive may look like any of them
        if kind.head and kind.head.match(text) and not (kind.name == _JSON and allow_json):
            raise DataError(f"this is {kind.name}, not plain text", name, advice=kind.advice)
    if (encoding := wide_encoding(head)) is not None:
        shown = encoding[:6].upper()
        raise DataError(f"this looks like {shown}", name, advice=f"convert it to UTF-8: iconv -f {encoding} -t utf-8")
    if len(head) >= 256 and n_binary(head) > 0.3 * len(head):
        raise DataError("this is no text", name, advice=NO_TEXT)
