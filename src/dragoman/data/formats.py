"""Recognise what is no plain text in UTF-8: by the name of a file, by its first bytes, or by a line that is not UTF-8.

Only what is certain is refused: an encoding or a container by bytes that no text has, a document by a head that no
sentence looks like.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from dragoman.data.compression import uncompressed_name
from dragoman.errors import DataError

#: First bytes that are looked at.
HEAD_BYTES = 4096

_UNPACK = "unpack it, and give the text files in it"
_SAVE = "save it as text, one sentence a line"
_NO_TEXT = "give a text file, one sentence a line"
_SUBTITLES = r"take out its text: grep -vE '^[0-9]+[[:space:]]*$|-->' FILE"
_PAGES = "save it as text, one sentence a line: pandoc -t plain --wrap=none FILE"
_SEGMENTS = "take out the sentences, one a line"
_JSON = "take out the text, one sentence a line: jq -r .source FILE"


class _Kind(NamedTuple):
    """A kind of file that is no plain text."""

    name: str
    advice: str
    #: A pattern of its first bytes; a leading byte order mark is taken off before.
    head: bytes = b""
    suffixes: str = ""


_KINDS = (
    _Kind("a PDF", "save it as text: pdftotext FILE", rb"%PDF-?\d?", ".pdf"),
    _Kind(
        "a ZIP archive or an office document (DOCX, ODT, EPUB)",
        "unpack it, or save the document as text, one sentence a line",
        rb"PK(\x03\x04|\x05\x06)",
        ".zip .docx .xlsx .pptx .odt .ods .odp .epub",
    ),
    _Kind("an old office document", _SAVE, rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".doc .xls .ppt"),
    _Kind("an RTF document", _SAVE, rb"\{\\rtf\d", ".rtf"),
    _Kind("a PostScript file", "save it as text: ps2ascii FILE", rb"%!PS-Adobe", ".ps"),
    _Kind("a DjVu file", "save it as text: djvutxt FILE", rb"AT&TFORM", ".djvu"),
    _Kind("a tar archive", _UNPACK, rb"[^\0][\s\S]{256}ustar", ".tar .tgz"),
    _Kind("a 7z archive", _UNPACK, rb"7z\xbc\xaf\x27\x1c", ".7z"),
    _Kind("a RAR archive", _UNPACK, rb"Rar!\x1a\x07", ".rar"),
    _Kind("a file compressed more than once", "unpack it", rb"\x1f\x8b|BZh\d1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd"),
    _Kind("an lz4 file", "unpack it: lz4 -d FILE", rb"\x04\x22\x4d\x18", ".lz4"),
    _Kind("an lzip file", "unpack it: lzip -d FILE", rb"LZIP\x01", ".lz"),
    _Kind("an LZMA file", "unpack it: xz -d FILE", rb"\x5d\0\0[\0-\xff]{2}", ".lzma"),
    _Kind("a file packed by compress", "unpack it: gzip -d FILE", rb"\x1f[\x9d\xa0]", ".Z"),
    _Kind("a Parquet file", "save the text columns as text or TSV", rb"PAR1", ".parquet"),
    _Kind("an Arrow file", "save the text columns as text or TSV", rb"ARROW1\0\0", ".arrow .feather"),
    _Kind("an SQLite database", "take out the text: sqlite3 FILE 'select ...'", rb"SQLite format 3\0", ".sqlite"),
    _Kind("an HDF5 file", "save the texts in it as text", rb"\x89HDF\r\n"),
    _Kind("a NumPy array", "save the texts in it as text", rb"\x93NUMPY", ".npy .npz"),
    _Kind("a Python pickle", "save the texts in it as text", rb"\x80[\x02-\x05][\x80-\xff\]}(cK]", ".pkl .pickle"),
    _Kind("a picture", _NO_TEXT, rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a[^\n]{0,6}\0|II\*\0|MM\0\*|RIFF[\s\S]{4}WEBP"),
    _Kind(
        "a sound or a film",
        _NO_TEXT,
        rb"ID3[\x02-\x04]|OggS\0|fLaC\0|RIFF[\s\S]{4}(WAVE|AVI )|\0\0\0[\s\S]ftyp|\x1a\x45\xdf\xa3|\xff[\xfb\xf3]",
    ),
    _Kind("a program", _NO_TEXT, rb"\x7fELF|MZ[\0-\xff]\0|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe|\0asm"),
    _Kind("a compiled catalogue of translations (MO)", "msgunfmt makes a PO file of it", rb"\xde\x12\x04\x95", ".mo"),
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
    _Kind("a file of subtitles (SSA)", "take out its text", rb"\[Script Info\]\s*\n", ".ass .ssa"),
    _Kind(
        "an HTML page",
        _PAGES,
        rb"(?i)\s*(<!--[\s\S]*?-->\s*)?(<!doctype\s+html\b[^<>\n]*>|<html\b[^<>\n]*>)[ \t\r]*(<|\n|\Z)",
        ".html .htm .xhtml",
    ),
    _Kind("a TMX file", _SEGMENTS, rb"\s*<(!DOCTYPE\s+tmx\b|tmx\s+\w+\s*=)", ".tmx"),
    _Kind("an XLIFF file", _SEGMENTS, rb"\s*<xliff\s+[\w:]+\s*=", ".xlf .xliff .sdlxliff"),
    _Kind(
        "an XML or SGML file (TMX, XLIFF and test sets are such)",
        _SEGMENTS,
        rb"(?i)\s*<(\?xml\s+version\s*=\s*[\"']|!DOCTYPE\s+\w+\s+(SYSTEM|PUBLIC|\[)|(svg|rss|feed|tei|srcset|refset|tstset)\s+[\w:]+\s*=)",
        ".xml .sgm .sgml .svg",
    ),
    _Kind(
        "a catalogue of translations (PO)",
        "take out its msgid lines, one sentence a line: po2txt or msgcat help",
        rb'(#[^\n]*\n|[ \t\r]*\n)*(msgctxt "[^\n]*\n)?msgid "[^\n]*"[ \t\r]*\n("[^\n]*"[ \t\r]*\n)*msgstr[ \[]',
        ".po .pot",
    ),
    _Kind("a LaTeX document", _PAGES, rb"(%[^\n]*\n|[ \t\r]*\n)*\\documentclass\s*(\[[^\]]*\])?\{\w+\}", ".tex"),
    _Kind("a JSON file", _JSON, rb'\s*(\[\s*)?\{\s*"(\\.|[^"\\\n])*"\s*:', ".json .jsonl .ndjson"),
    _Kind("a table", "take the text out of its column: cut -f1 FILE", b"", ".tsv .tab"),
    _Kind("a table (CSV)", "save its column as text, one sentence a line", b"", ".csv"),
    _Kind("a Markdown document", _PAGES, b"", ".md .markdown .rst"),
)
_HEADS = tuple((kind, re.compile(kind.head)) for kind in _KINDS if kind.head)
_SUFFIXES = {suffix: kind for kind in _KINDS for suffix in kind.suffixes.split()}
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")

#: Bytes that no text has, whatever its encoding is (a form feed and an escape do occur).
_BINARY = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HAN, _HANGUL = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef", "\u1100-\u11ff\u3000-\u303f\uac00-\ud7a3\uff00-\uffef"
_EAST_ASIAN = tuple(re.compile(f"[{script}\t\n\r -~\u00b7\u2010-\u2027]") for script in (_HAN, _HANGUL))
#: Characters beyond ASCII of Windows-1252 that texts of Western Europe have.
_WESTERN = re.compile("[À-ÖØ-öø-ÿŒœŠšŽžŸ‘’‚“”„‹›«»–—…•€£§©®°²³µ·¡¿\xa0]")
_OTHERS = re.compile(rb"[\x80-\xff]+")


def refuse_documents(path: Path) -> None:
    """Refuse a file whose suffix says that it is no plain text, where plain text is wanted.

    Raises:
        DataError: it is subtitles, a page, a table, an office document or the like.
    """
    kind = _SUFFIXES.get(uncompressed_name(path).suffix.lower())
    if kind is not None:
        raise DataError(
            f"this is {kind.name}, not plain text",
            path,
            advice=f"{kind.advice}; if it is plain text all the same, name it .txt",
        )


def refuse_other_formats(head: bytes, name: str | Path) -> None:
    """Refuse a file or pipe that does not begin like text in UTF-8.

    Args:
        head: its first bytes, up to the end of a line or to `HEAD_BYTES`.

    Raises:
        DataError: it is UTF-16 or UTF-32, an archive, a picture, subtitles, a page or the like.
    """
    encoding = _wide_encoding(head)
    if encoding is not None:
        shown = encoding[:6].upper()
        raise DataError(f"this looks like {shown}", name, advice=f"convert it to UTF-8: iconv -f {encoding} -t utf-8")
    text = head.removeprefix(codecs.BOM_UTF8)
    for kind, pattern in _HEADS:
        if pattern.match(text) and not (kind.advice == _JSON and uncompressed_name(name).suffix in _JSON_SUFFIXES):
            raise DataError(f"this is {kind.name}, not plain text", name, advice=kind.advice)
    if len(head) >= 256 and _n_binary(head) > 0.3 * len(head):
        raise DataError("this is no text", name, advice=_NO_TEXT)


def has_binary(line: bytes) -> bool:
    """True if a line has bytes that no text has in any encoding of single bytes."""
    return _n_binary(line) > 0


def encoding_advice(wrong: bytes) -> str:
    """Return what to do about text that is not UTF-8.

    Args:
        wrong: lines of it that are not UTF-8.
    """
    decoded = wrong.decode("utf-8", "replace")
    n_bad = decoded.count("\ufffd")
    if sum(not char.isascii() for char in decoded) > 2 * n_bad:
        return "mend it by hand (most of the line is UTF-8)"
    if has_binary(wrong):
        return f"this is no text; {_NO_TEXT}"
    runs = _OTHERS.findall(wrong)
    is_western = (
        sum(map(len, runs)) <= 1.3 * len(runs)
        and 3 * len(runs) <= len(wrong)
        and all(_WESTERN.fullmatch(char) for run in runs for char in run.decode("cp1252", "replace"))
    )
    if is_western:
        return "convert it (from Windows-1252 or Latin-1, it seems: iconv -f windows-1252 -t utf-8)"
    return "convert it from its encoding, which is another: iconv -f ENCODING -t utf-8"


def _n_binary(content: bytes) -> int:
    return len(content) - len(content.translate(None, _BINARY))


def _wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text in units of two or four bytes, by its mark or by the look of it."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if not _n_binary(head):
        return None
    for encoding, width in (("utf-32le", 4), ("utf-32be", 4), ("utf-16le", 2), ("utf-16be", 2)):
        units = head[: len(head) - len(head) % width]
        upper = units[width - 1 :: width] if encoding.endswith("le") else units[::width]
        lower = units[::width] if encoding.endswith("le") else units[width - 1 :: width]
        if len(upper) < 2:
            continue
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(units)
        except UnicodeDecodeError:
            continue
        if all(map(_can_be_text, text)) and (width == 4 or _is_wide(upper, lower) or _is_east_asian(text, head)):
            return encoding
    return None


def _can_be_text(char: str) -> bool:
    return char in "\t\n\r" or unicodedata.category(char) not in ("Cc", "Cn", "Co", "Cs")


def _is_wide(upper: bytes, lower: bytes) -> bool:
    """True if the upper halves of characters are few and small, as they are in an alphabet."""
    n_small = sum(byte < 0x20 for byte in upper)
    return n_small > 0.6 * len(upper) and sum(byte < 0x20 for byte in lower) < 0.4 * len(lower)


def _is_east_asian(text: str, head: bytes) -> bool:
    """True if it is Chinese, Japanese or Korean, whose characters have neither zeros nor a small alphabet in UTF-16."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        n_fitting = max(sum(map(bool, map(script.fullmatch, text))) for script in _EAST_ASIAN)
        return len(text) >= 6 and n_fitting >= 0.95 * len(text)
    return False
