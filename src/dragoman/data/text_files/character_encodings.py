"""Encodings of text that is not UTF-8, and signs that a file is no text."""

from __future__ import annotations

import codecs
import re

#: Advice about a file that is no text.
NO_TEXT = "give a text file, one sentence a line"
#: Bytes that no text has, whatever its encoding is (a form feed and an escape do occur).
_BINARY = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Characters beyond ASCII of Windows-1252 that texts of Western Europe have.
_WESTERN = re.compile("[À-ÖØ-öø-ÿŒœŠšŽžŸ‘’‚“”„‹›«»–—…•€£§©®°²³µ·¡¿\xa0]")
_LONG_RUNS = re.compile(rb"(?<![A-Za-z])[\x80-\xff]{2,}(?![A-Za-z])|[\x80-\xff]{3,}")


def encoding_advice(wrong: bytes) -> str:
    """Return advice about text that is not UTF-8.

    Args:
        wrong: lines that are not UTF-8.
    """
    decoded = wrong.decode("utf-8", "replace")
    n_bad = decoded.count("\ufffd")
    if sum(not char.isascii() for char in decoded) > 2 * n_bad:
        return "mend it by hand (most of the line is UTF-8)"
    if n_binary(wrong):
        return f"this is no text; {NO_TEXT}"
    if _is_western(wrong):
        name, code = ("Windows-1252", "windows-1252") if re.search(rb"[\x80-\x9f]", wrong) else ("Latin-1", "latin1")
        return f"convert it (from {name}, it seems: iconv -f {code} -t utf-8)"
    return "it is in another encoding; convert it: iconv -f ENCODING -t utf-8"


def _is_western(wrong: bytes) -> bool:
    """Return True if text can be Windows-1252: words have one or two letters beyond ASCII, not only such letters."""
    others = wrong.translate(None, bytes(range(128)))
    return (
        len(others) <= 0.4 * len(wrong)
        and len(_LONG_RUNS.findall(wrong)) <= 0.02 * len(others)
        and all(map(_WESTERN.fullmatch, others.decode("cp1252", "replace")))
    )


def n_binary(content: bytes) -> int:
    """Count the bytes that no text has in any encoding of single bytes."""
    return len(content) - len(content.translate(None, _BINARY))


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text in units of two or four bytes, by its mark or the zeros beside Latin letters; else
    None."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[::2], head[1::2]
    for encoding, upper, lower in (("utf-16le", odd, even), ("utf-16be", even, odd)):
        if len(upper) > 1 and upper.count(0) > 0.6 * len(upper) and lower.count(0) < 0.1 * len(lower):
            return encoding
    return None
