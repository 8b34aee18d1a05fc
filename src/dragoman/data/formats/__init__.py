"""Formats of parallel text. To add one, write a module that opens its files, and add a line to `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dragoman.data.formats import json_lines, po_catalogue, tables, tmx, xliff
from dragoman.data.formats.column_names import Languages
from dragoman.data.formats.pair_file import InvalidUtf8, PairFile, PairRequest, TextFile
from dragoman.data.text_files.compression import uncompressed_name
from dragoman.data.text_files.lines import check_text_file


class PairFormat(NamedTuple):
    """A format of files with both sides of each pair.

    Args:
        suffixes: of the names of its files, without that of a compression.
        recognises: returns True if a file with another suffix begins like this format.
        open: returns the pairs of a file.
    """

    suffixes: frozenset[str]
    recognises: Callable[[PairRequest], bool]
    open: Callable[[PairRequest], PairFile]


#: In the order in which they are tried; any text may be a table.
FORMATS = (
    PairFormat(tmx.SUFFIXES, tmx.is_tmx, tmx.open_tmx),
    PairFormat(xliff.SUFFIXES, xliff.is_xliff, xliff.open_xliff),
    PairFormat(po_catalogue.SUFFIXES, po_catalogue.is_po, po_catalogue.open_po),
    PairFormat(json_lines.SUFFIXES, json_lines.is_json, json_lines.open_json_lines),
    PairFormat(tables.SUFFIXES, lambda _: True, tables.open_table),
)


def open_pairs(path: Path, languages: Languages, columns: str | None, invalid_utf8: InvalidUtf8) -> PairFile:
    """Open a file of pairs; its suffix or its first lines decide the format.

    Args:
        languages: of source and target, as far as they are known.
        columns: the two columns, by number or name ("2,4", "en,de"); None finds them.

    Raises:
        DataError: the file cannot be read, or does not show which of its texts are the pair.
        ConfigError: it contradicts the requested languages or columns.
    """
    request = PairRequest(TextFile(path, invalid_utf8, check_text_file(path)), languages, columns)
    suffix = uncompressed_name(path).suffix.lower()
    kind = next(kind for kind in FORMATS if suffix in kind.suffixes or kind.recognises(request))
    return kind.open(request)
