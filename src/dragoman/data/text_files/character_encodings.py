"""Encodings of text that is not UTF-8, and signs that a file is no text."""

from __future__ import annotations

import codecs
import re
import unicodedata

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
    """Return the encoding of text in units of two or four bytes; else None.

    Its mark says it, or its bytes, if the text is in an alphabet.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if not n_binary(head):
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
        if all(map(_can_be_text, text)) and (width == 4 or _is_wide(upper, lower)):
            return encoding
    return None


def _can_be_text(char: str) -> bool:
    return char in "\t\n\r" or unicodedata.category(char) not in ("Cc", "Cn", "Co", "Cs")


def _is_wide(upper: bytes, lower: bytes) -> bool:
    """Return True if the upper halves of characters are small, as they are in an alphabet."""
    n_small = sum(byte < 0x20 for byte in upper)
    return n_small > 0.6 * len(upper) and sum(byte < 0x20 for byte in lower) < 0.4 * len(lower)
