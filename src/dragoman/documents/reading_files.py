"""The bytes of a document as text."""

from __future__ import annotations

import codecs
from pathlib import Path

from dragoman.errors import DataError


def decode(content: bytes, name: Path) -> tuple[bytes, str]:
    """Return the byte order mark of a UTF-8 file, if it has one, and its text.

    Raises:
        DataError: it is not UTF-8.
    """
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, content[len(mark) :].decode()
    except UnicodeDecodeError as error:
        at = error.start + len(mark)
        line, byte = content.count(b"\n", 0, at) + 1, at - content.rfind(b"\n", 0, at)
        raise DataError("invalid UTF-8", name, line=line, byte=byte, advice="convert it to UTF-8") from None
