"""Lines of text from files and pipes: only a newline ends a line, only UTF-8 is text, and RAM stays flat.

Carriage returns before the newline and a byte order mark at the beginning are left out; a carriage return inside a line
becomes a space. Everything else is text, also U+2028 and U+0085. A last line without a newline is a line. A file with
carriage returns and no newline comes from an old Mac, and is refused.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

from dragoman.data.text_files.character_encodings import encoding_advice
from dragoman.data.text_files.compression import BLOCK_BYTES, DamagedError, read_head, unpacked
from dragoman.data.text_files.raw_lines import raw_lines, raw_lines_of
from dragoman.errors import DataError, reading_problem

#: The longest line that a command reads.
MAX_INPUT_BYTES = 1_000_000


class Unreadable(Enum):
    """Stand-in for a line that is not read, with the reason."""

    TOO_LONG = "too long"
    INVALID = "invalid UTF-8"


Line = str | Unreadable
OnInvalid = Literal["error", "drop", "replace"]


def read_lines(
    path: Path,
    invalid_utf8: Literal["error", "drop"] = "error",
    since: os.stat_result | None = None,
    *,
    allow_json: bool = False,
) -> Iterator[Line]:
    """Return the lines of a text file, plain or compressed.

    Args:
        since: the result of an earlier `check_text_file`; a file that has changed since is refused.
        allow_json: read a file that begins like JSON, as a file of pairs may.

    Raises:
        DataError: the file cannot be read, is damaged, changes while it is read, or is not UTF-8 (with line and byte,
            unless invalid lines are dropped).
    """
    before = since or check_text_file(path)
    also = "train, prepare, data clean and data split also take --invalid-utf8=drop"
    lines = raw_lines(path, allow_json=allow_json)
    decoded = _decoded(lines, path, invalid_utf8, also)
    return chain(_unchanged(path, before), decoded, _unchanged(path, before))


def input_text(source: Path | BinaryIO, name: str | Path, invalid_utf8: Literal["error", "replace"]) -> Iterator[Line]:
    """Return the input lines of a command, from a file or a stream, each as soon as it arrives.

    Raises:
        DataError: as `read_lines`.
    """
    also = "translate and score also take --invalid-utf8=replace"
    if isinstance(source, Path):
        return _decoded(raw_lines(source, MAX_INPUT_BYTES), name, invalid_utf8, also)
    return _decoded(raw_lines_of(source, name, MAX_INPUT_BYTES), name, invalid_utf8, also)


def _decoded(lines: Iterable[bytes | None], name: str | Path, invalid_utf8: OnInvalid, also: str) -> Iterator[Line]:
    """Decode lines.

    Args:
        also: another way out, for the error.
    """
    n_right = 0
    for number, raw in enumerate(lines, start=1):
        if raw is None:
            yield Unreadable.TOO_LONG
            continue
        mark = len(codecs.BOM_UTF8) if number == 1 and raw.startswith(codecs.BOM_UTF8) else 0
        line: Line
        try:
            line = raw[mark:].decode() if mark else raw.decode()
        except UnicodeDecodeError as error:
            if invalid_utf8 == "error":
                problem, byte = "invalid UTF-8", error.start + mark + 1
                advice = f"{_advice(n_right, raw)}; {also}"
                raise DataError(problem, name, line=number, byte=byte, advice=advice) from None
            line = Unreadable.INVALID if invalid_utf8 == "drop" else raw[mark:].decode(errors="replace")
        else:
            n_right += not line.isascii()
        yield line


def _advice(n_right: int, wrong: bytes) -> str:
    """Return advice about a line: it is one of few wrong ones, or the text is in another encoding, or no text.

    Args:
        n_right: lines beyond ASCII before it, which are right.
    """
    return f"mend it by hand ({n_right:,} others beyond ASCII are right)" if n_right > 1 else encoding_advice(wrong)


def count_lines(path: Path) -> int:
    """Count the lines of a file, plain or compressed, valid or not; much faster than reading them.

    Raises:
        DataError: as `raw_lines`.
    """
    n_lines, end = 0, b"\n"
    try:
        with open(path, "rb") as packed:
            file = unpacked(packed, path)
            while block := file.read(BLOCK_BYTES):
                n_lines, end = n_lines + block.count(b"\n"), block[-1:]
    except (DamagedError, OSError):
        return sum(1 for _ in raw_lines(path, allow_json=True))  # raises the error with its line
    return n_lines + (end != b"\n") if n_lines else sum(1 for _ in raw_lines(path, allow_json=True))


def check_text_file(path: Path) -> os.stat_result:
    """Return the state of a file that can be read more than once.

    Raises:
        DataError: it is missing, not permitted, a loop of links, a folder, a pipe or a device.
    """
    try:
        state = os.stat(path)
    except OSError as error:
        is_loop = error.errno == errno.ELOOP  # its text differs between systems
        problem = "cannot read (too many levels of links)" if is_loop else reading_problem(error)
        raise DataError(problem, path, advice="check the path") from None
    except ValueError:
        raise DataError("not a file name", str(path), advice="check the path") from None
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    if not stat.S_ISREG(state.st_mode):
        kind = next((name for test, name in kinds if test(state.st_mode)), "a device")
        raise DataError(f"this is {kind}, not a file", path, advice="give a text file")
    return state


def starts_with_mark(path: Path) -> bool:
    """Return True if a text file begins with a byte order mark, which `read_lines` leaves out."""
    return read_head(path).startswith(codecs.BOM_UTF8)


def check_unchanged(path: Path, before: os.stat_result) -> None:
    """Refuse a file that has changed.

    Raises:
        DataError: it has changed, or is gone.
    """
    now = check_text_file(path)
    if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise DataError("the file changed while reading", path, advice="run it again when nothing writes to it")


def _unchanged(path: Path, before: os.stat_result) -> Iterator[Line]:
    """Yield nothing; check the file in passing."""
    check_unchanged(path, before)
    yield from ()
