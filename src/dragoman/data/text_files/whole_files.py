"""Files that are read whole: their bytes, and these as text."""

from __future__ import annotations

import codecs
import io
import os
from pathlib import Path

from dragoman.data.text_files.compression import DamagedError, unpacked
from dragoman.data.text_files.lines import check_unchanged
from dragoman.errors import DataError, reading_problem

#: A larger file is refused, because all of it is held in RAM.
MAX_BYTES = 64 * 2**20


def read_whole(path: Path, state: os.stat_result) -> bytes:
    """Return the content of a file, plain or compressed.

    Args:
        state: of the file when it was opened.

    Raises:
        DataError: it cannot be read, is damaged, has changed, or is larger than `MAX_BYTES`.
    """
    check_unchanged(path, state)
    try:
        with open(path, "rb") as file:
            content = io.BufferedReader(unpacked(file, path)).read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(reading_problem(error), path, advice="check the path") from None
    except DamagedError as error:
        raise DataError(str(error), path, advice="use another copy") from None
    check_size(content, path)
    return content


def check_size(content: bytes, name: str | Path) -> None:
    """Refuse a content that is larger than `MAX_BYTES`.

    Raises:
        DataError: it is.
    """
    if len(content) > MAX_BYTES:
        raise DataError(f"more than {MAX_BYTES:,} bytes, the most of a document", name, advice="split it")


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
