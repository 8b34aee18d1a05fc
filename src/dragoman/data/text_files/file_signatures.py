"""Kinds of files that are no plain text in UTF-8, recognised by their names and their first bytes.

Only clear cases are refused: encodings and containers by bytes that no text has, and documents by a beginning that no
sentence has.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from dragoman.data.text_files.character_encodings import NO_TEXT, n_binary, wide_encoding
from dragoman.data.text_files.compression import uncompressed_name
from dragoman.errors import DataError

_UNPACK = "unpack it, and give the text files in it"
_SAVE = "save it as text, one sentence a line"
_SUBTITLES = (
    r"give both sides as subtitles (.srt or .vtt), or take out its text: grep -vE '^[0-9]+[[:space:]]*$|-->' FILE"
)
_CONVERT = "convert it to SRT, for example with Subtitle Edit"
_PAGES = "save it as text, one sentence a line: pandoc -t plain --wrap=none FILE"
_SEGMENTS = "export it as a table with tabs (--pairs), or as text files, one sentence a line"
_PAIRS = "to train on it or to score it, give it as --pairs"
_COLUMNS = "to train on its pairs, give it as --pairs; else save its column of text as a file, one sentence a line"


class _Kind(NamedTuple):
    """A kind of file that is no plain text."""

    name: str
    advice: str
    #: A pattern of its first bytes, without a byte order mark.
    head: bytes = b""
    suffixes: str = ""


#: Suffixes that are the codes of languages are left out: train.ps is in Pashto.
_BINARY_KINDS = (
    _Kind("a PDF", "save it as text: pdftotext FILE", rb"%PDF-\d", ".pdf"),
    _Kind(
        "a ZIP archive or an office document (DOCX, ODT, EPUB)",
        "unpack it, or save the document as text, one sentence a line",
        rb"PK(\x03\x04|\x05\x06)",
        ".docx .pptx .epub",
    ),
    _Kind("a spreadsheet", "save it as CSV (UTF-8)", b"", ".xlsx .xlsm .ods .numbers"),
    _Kind("an old office document", f"{_SAVE}; a spreadsheet as CSV (UTF-8)", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _Kind("an RTF document", _SAVE, rb"\{\\rtf\d"),
    _Kind("a PostScript file", "save it as text: ps2ascii FILE", rb"%!PS-Adobe"),
    _Kind("a DjVu file", "save it as text: djvutxt FILE", rb"AT&TFORM"),
    _Kind("a tar archive", _UNPACK, rb"[^\0][\s\S]{256}ustar"),
    _Kind("a 7z archive", _UNPACK, rb"7z\xbc\xaf\x27\x1c"),
    _Kind("a RAR archive", _UNPACK, rb"Rar!\x1a\x07"),
    _Kind("a file compressed more than once", "unpack it", rb"\x1f\x8b|BZh\d1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd"),
    _Kind("an lz4 file", "unpack it: lz4 -d FILE", rb"\x04\x22\x4d\x18"),
    _Kind("an lzip file", "unpack it: lzip -d FILE", rb"LZIP\x01"),
    _Kind("an LZMA file", "unpack it: xz -d FILE", rb"\x5d\0\0[\0-\xff]{2}"),
    _Kind("a file packed by compress", "unpack it: gzip -d FILE", rb"\x1f[\x9d\xa0]"),
    _Kind("a Parquet file", "save the text columns as text or TSV", rb"PAR1", ".parquet"),
    _Kind("an Arrow file", "save the text columns as text or TSV", rb"ARROW1\0\0", ".arrow .feather"),
    _Kind("an SQLite database", "take out the text: sqlite3 FILE 'select ...'", rb"SQLite format 3\0", ".sqlite"),
    _Kind("an HDF5 file", "save the texts in it as text", rb"\x89HDF\r\n"),
    _Kind("a NumPy array", "save the texts in it as text", rb"\x93NUMPY", ".npy .npz"),
    _Kind("a Python pickle", "save the texts in it as text", rb"\x80[\x02-\x05][\x80-\xff\]}(cK]", ".pkl .pickle"),
    _Kind("a picture", NO_TEXT, rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a[^\n]{0,6}\0|II\*\0|MM\0\*|RIFF[\s\S]{4}WEBP"),
    _Kind(
        "a sound or a film",
        NO_TEXT,
        rb"ID3[\x02-\x04]|OggS\0|fLaC\0|RIFF[\s\S]{4}(WAVE|AVI )|\0\0\0[\s\S]ftyp|\x1a\x45\xdf\xa3|\xff[\xfb\xf3]",
    ),
    _Kind("a program", NO_TEXT, rb"\x7fELF|MZ[\0-\xff]\0|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe|\0asm"),
    _Kind("a compiled catalogue of translations (MO)", "msgunfmt makes a PO file of it", rb"\xde\x12\x04\x95"),
)
_TABLE = _Kind("a table", _COLUMNS, b"", ".tsv .csv")
_JSON = _Kind(
    "a JSON file",
    "to train on its pairs, give it as --pairs; else take out the text of one key: jq -r .KEY FILE",
    rb'\s*(\[\s*)?\{\s*"(\\.|[^"\\\n])*"\s*:(?![^\n]*\}\s+\w)',
    ".json .jsonl .ndjson",
)
_TEXT_KINDS = (
    _Kind("a pointer of Git LFS, not the file itself", "git lfs pull", rb"version https://git-lfs\.github\.com/"),
    _Kind(
        "a file of subtitles (SubRip)",
        _SUBTITLES,
        rb"\s*\d+[ \t]*\r?\n\d+:\d\d:\d\d[,.]\d+[ \t]*-->",
        ".srt",
    ),
    _Kind(
        "a file of subtitles (WebVTT)",
        _SUBTITLES,
        rb"WEBVTT[ \t]*\r?\n|WEBVTT[ \t][^\n]*\n[\s\S]*?\d\d:\d\d\.\d\d\d[ \t]*-->",
        ".vtt",
    ),
    _Kind(
        "a file of subtitles (SSA)", "convert it to SRT: ffmpeg -i FILE film.srt", rb"\[Script Info\]\s*\n", ".ass .ssa"
    ),
    _Kind("a file of subtitles (SBV)", _CONVERT, rb"\d+(:\d\d){2}\.\d{3},\d+(:\d\d){2}\.\d{3}\r?\n", ".sbv"),
    _Kind("a file of subtitles (TTML)", _CONVERT, rb"\s*<(\w+:)?tt\s+[\w:]+\s*=", ".ttml .dfxp"),
    _Kind(
        "a file of subtitles",
        _CONVERT,
        rb"\s*(\{\d+\}\{\d{2,}\}|\[\d\d:\d\d\.\d\d\]|\[(ti|ar|al|by):[^\]\n]*\]\s*\n)",
        ".lrc",
    ),
    _Kind(
        "an HTML page",
        _PAGES,
        rb"(?i)\s*(<!--[\s\S]*?-->\s*)?(<!doctype\s+html\b[^<>\n]*>|<html\b[^<>\n]*>)[ \t\r]*(<|\n|\Z)",
        ".html .htm .xhtml",
    ),
    _Kind("a translation memory (TMX)", _PAIRS, rb"\s*<(!DOCTYPE\s+tmx\b|tmx\s+\w+\s*=)", ".tmx"),
    _Kind("an XLIFF file", _PAIRS, rb"\s*<xliff\s+[\w:]+\s*=", ".xlf .xliff .sdlxliff .mqxliff .mxliff"),
    _Kind(
        "an XML or SGML file (TMX, XLIFF and test sets are such)",
        _SEGMENTS,
        rb"(?i)\s*<(\?xml\s+version\s*=\s*[\"']|!DOCTYPE\s+\w+\s+(SYSTEM|PUBLIC|\[)"
        rb"|(svg|rss|feed|tei|srcset|refset|tstset)\s+[\w:]+\s*=)",
        ".xml .sgm .sgml",
    ),
    _Kind(
        "a catalogue of translations (PO)",
        _PAIRS,
        rb'(#[^\n]*\n|[ \t\r]*\n)*(msgctxt "[^\n]*\n)?msgid "[^\n]*"[ \t\r]*\n("[^\n]*"[ \t\r]*\n)*msgstr[ \[]',
        ".po .pot",
    ),
    _Kind("a LaTeX document", _PAGES, rb"(%[^\n]*\n|[ \t\r]*\n)*\\documentclass\s*(\[[^\]]*\])?\{\w+\}", ".tex .latex"),
    _JSON,
    _TABLE,
    _Kind("a Markdown document", _PAGES, b"", ".md .markdown .rst .adoc"),
    _Kind(
        "a file of a program's texts",
        "take out the texts, one a line",
        b"",
        ".yaml .yml .properties .strings .resx .arb",
    ),
)
_HEADS = tuple((kind, re.compile(kind.head)) for kind in (*_BINARY_KINDS, *_TEXT_KINDS) if kind.head)
_SUFFIXES = {suffix: kind for kind in (*_BINARY_KINDS, *_TEXT_KINDS) for suffix in kind.suffixes.split()}


def has_document_suffix(path: str | Path) -> bool:
    """Return True if the suffix names a file that is not plain text."""
    return uncompressed_name(path).suffix.lower() in _SUFFIXES


def refuse_documents(path: Path, *, allow_tables: bool = False) -> None:
    """Refuse a file whose suffix names a file that is not plain text.

    Args:
        allow_tables: also read JSON and tables, which may have the suffix of any text.

    Raises:
        DataError: it is subtitles, a page, a table, an office document or the like.
    """
    kind = _SUFFIXES.get(uncompressed_name(path).suffix.lower())
    is_known_by_name = kind in _TEXT_KINDS and kind is not None and not kind.head
    if kind is None or (allow_tables and (is_known_by_name or kind is _JSON)):
        return
    alternative = "; if it is plain text all the same, name it .txt" if is_known_by_name else ""
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
    for kind, pattern in _HEADS:  # before encodings: the bytes of an archive may look like any of them
        if pattern.match(text) and not (kind is _JSON and allow_json):
            raise DataError(f"this is {kind.name}, not plain text", name, advice=kind.advice)
    if (encoding := wide_encoding(head)) is not None:
        shown = encoding[:6].upper()
        raise DataError(f"this looks like {shown}", name, advice=f"convert it to UTF-8: iconv -f {encoding} -t utf-8")
    if len(head) >= 256 and n_binary(head) > 0.3 * len(head):
        raise DataError("this is no text", name, advice=NO_TEXT)
