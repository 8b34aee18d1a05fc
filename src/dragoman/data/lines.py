"""Lines of text from files and pipes, exactly: only a newline ends a line, only UTF-8 is text, and RAM stays flat.

Carriage returns before the newline, and a byte order mark at the beginning of the file, are not part of the text; a
carriage return inside a line is a space. Everything else is text, U+2028 and U+0085 included. A last line without a
newline is a line. A file with carriage returns and no newline at all comes from an old Mac, and is refused.

Files and pipes, for training and for translating, go through `raw_lines_of`.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

from dragoman.data.compression import BLOCK_BYTES, HEAD_BYTES, ByteStream, DamagedError, unpacked
from dragoman.data.encodings import encoding_advice, n_binary
from dragoman.data.formats import refuse_other_formats
from dragoman.errors import DataError

#: Training passes over longer lines, which are no sentences; they are not held in RAM.
MAX_LINE_BYTES = 100_000
#: The longest line that a command reads to answer it.
MAX_INPUT_BYTES = 1_000_000

_WRONG_BYTES = 1 << 16


class Unreadable(Enum):
    """Stands in place of a line that is not read."""

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
    """The lines of a text file, plain or compressed, in order.

    Args:
        since: what `check_text_file` found earlier, where the file must still be the same.
        allow_json: read a file that begins like JSON, as one of pairs may.

    Raises:
        DataError: the file cannot be read, is damaged, is not UTF-8 (with line and byte, unless invalid lines are to
            be dropped), or changes while it is read.
    """
    before = since or check_text_file(path)
    also = "train and prepare also take --invalid-utf8=drop"
    lines = raw_lines(path, allow_json=allow_json)
    decoded = _decoded(lines, path, invalid_utf8, lambda *_: f"{_mending(path)}; {also}")
    return chain(_unchanged(path, before), decoded, _unchanged(path, before))


def input_text(source: Path | BinaryIO, name: str | Path, invalid_utf8: Literal["error", "replace"]) -> Iterator[Line]:
    """Return the lines that a command answers, from a file or a stream, each as soon as it is there.

    Raises:
        DataError: as `read_lines`; the advice for a stream comes from its lines so far.
    """
    also = "translate and score also take --invalid-utf8=replace"
    if isinstance(source, Path):
        lines = raw_lines(source, MAX_INPUT_BYTES)
        return _decoded(lines, name, invalid_utf8, lambda *_: f"{_mending(source)}; {also}")
    lines = raw_lines_of(source, name, MAX_INPUT_BYTES)
    return _decoded(lines, name, invalid_utf8, lambda n_right, wrong: f"{_advice(n_right, [wrong])}; {also}")


def _decoded(
    lines: Iterable[bytes | None], name: str | Path, invalid_utf8: OnInvalid, advice: Callable[[int, bytes], str]
) -> Iterator[Line]:
    """Decode lines.

    Args:
        advice: says what to do, given how many lines beyond ASCII were right, and the wrong one.
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
                what, byte = "invalid UTF-8", error.start + mark + 1
                raise DataError(what, name, line=number, byte=byte, advice=advice(n_right, raw)) from None
            line = Unreadable.INVALID if invalid_utf8 == "drop" else raw[mark:].decode(errors="replace")
        else:
            n_right += not line.isascii()
        yield line


def _mending(path: Path) -> str:
    """Say what to do about a file that is not UTF-8, after a look at all of it."""
    n_right = 0
    wrong: list[bytes] = []
    for raw in raw_lines(path, allow_json=True):
        if raw is None or raw.removeprefix(codecs.BOM_UTF8).isascii():
            continue
        try:
            raw.decode()
            n_right += 1
        except UnicodeDecodeError:
            wrong.append(raw if sum(map(len, wrong)) < _WRONG_BYTES else b"")
    return _advice(n_right, wrong)


def _advice(n_right: int, wrong: list[bytes]) -> str:
    """Say what to do: a few lines of a text are wrong, or it is in another encoding, or it is no text."""
    if n_right > len(wrong):
        return f"mend it by hand ({len(wrong):,} such lines, {n_right:,} others beyond ASCII are right)"
    return encoding_advice(b"\n".join(wrong))


def raw_lines(path: Path, max_bytes: int = MAX_LINE_BYTES, *, allow_json: bool = False) -> Iterator[bytes | None]:
    """The lines of a file, plain or compressed, without their ends; None for one of more than `max_bytes`.

    Raises:
        DataError: the file cannot be read, is damaged, or is no text.
    """
    try:
        with open(path, "rb") as file:
            yield from raw_lines_of(file, path, max_bytes, allow_json=allow_json)
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="check the path") from None


def raw_lines_of(
    file: BinaryIO, name: str | Path, max_bytes: int, *, allow_json: bool = False
) -> Iterator[bytes | None]:
    """As `raw_lines`, of a stream such as a pipe: each line as soon as it is there.

    A carriage return without a newline in the whole of it is the line end of an old Mac.
    """
    number, n_judged, limit = 0, 0, max_bytes + 2
    refuse = partial(refuse_other_formats, name=name, allow_json=allow_json)
    try:
        stream = unpacked(file, name)
        lines = io.BufferedReader(stream, BLOCK_BYTES)
        while line := lines.readline(limit):
            if n_judged < HEAD_BYTES:
                n_judged = _judge(stream.head, n_judged, refuse, goes_on=line.endswith(b"\n"))
            text: bytes | None = (stripped := line.rstrip(b"\r\n"))
            if len(line) == limit or b"\r" in stripped:
                text, is_mac = _unusual(lines, line, limit)
                if not number and is_mac and not n_binary(stream.head):
                    what = "these are the line ends of an old Mac: carriage returns, and no newline"
                    raise DataError(what, name, advice=r"make them newlines: tr '\r' '\n' < FILE")
            number += 1
            yield text
            if n_judged >= HEAD_BYTES:
                break
        for text in _further_lines(lines, max_bytes):
            number += 1
            yield text
    except DamagedError as error:
        raise DataError(str(error), name, line=number + 1, advice="use another copy") from None
    except OSError as error:
        failed = number + 1 if number else None
        raise DataError(f"cannot read ({error.strerror})", name, line=failed, advice="check the path") from None


def count_lines(path: Path) -> int:
    """How many lines a file has, plain or compressed, good or bad: much quicker than reading them.

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
        return sum(1 for _ in raw_lines(path, allow_json=True))  # it says what is wrong, and where
    return n_lines + (end != b"\n") if n_lines else sum(1 for _ in raw_lines(path, allow_json=True))


def check_text_file(path: Path) -> os.stat_result:
    """Make sure that `path` is a file that can be read from its beginning as often as needed.

    Raises:
        DataError: it is missing, not permitted, a loop of links, a folder, a pipe or a device.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        what = "too many levels of links" if error.errno == errno.ELOOP else error.strerror
        raise DataError(f"cannot read ({what})", path, advice="check the path") from None
    except ValueError:
        raise DataError("not a file name", str(path), advice="check the path") from None
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in kinds if test(found.st_mode)), "a device")
        raise DataError(f"this is {kind}, not a file", path, advice="give a text file")
    return found


def starts_with_mark(path: Path) -> bool:
    """Whether a text file begins with a byte order mark, which `read_lines` leaves out.

    Raises:
        DataError: it cannot be read.
    """
    check_text_file(path)
    try:
        with open(path, "rb") as file:
            return io.BufferedReader(unpacked(file, path)).read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    except (OSError, DamagedError) as error:
        raise DataError(f"cannot read ({error})", path, advice="check the file") from None


def _unchanged(path: Path, before: os.stat_result) -> Iterator[Line]:
    """Yield nothing; raise DataError if a file is another than before."""
    now = check_text_file(path)
    if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise DataError("the file changed while reading", path, advice="run it again when nothing writes to it")
    yield from ()


def _further_lines(file: io.BufferedReader[ByteStream], max_bytes: int) -> Iterator[bytes | None]:
    """The lines behind the judged head: split in blocks, which is quicker, of what is there."""
    rest = b""
    while block := file.read1(BLOCK_BYTES):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            yield line if len(line) <= max_bytes and b"\r" not in line else _tidy(line, max_bytes)
        if len(rest) > max_bytes + 2:
            while (end := file.readline(max_bytes)) and not end.endswith(b"\n"):
                pass
            yield None
            rest = b""
    if rest:
        yield _tidy(rest, max_bytes)


def _tidy(line: bytes, max_bytes: int) -> bytes | None:
    """A line without its newline: carriage returns at its end are no text, and others are spaces."""
    text = line.rstrip(b"\r")
    return text.replace(b"\r", b" ") if len(text) <= max_bytes else None


def _unusual(file: io.BufferedReader[ByteStream], line: bytes, limit: int) -> tuple[bytes | None, bool]:
    """Return a line that is long or has carriage returns inside; True if it has these and no newline ends it."""
    text, last = line.rstrip(b"\r\n"), line
    has_returns = b"\r" in text
    while len(last) == limit and not last.endswith(b"\n"):
        last = file.readline(limit)
        has_returns |= b"\r" in last.rstrip(b"\r\n")
    is_short = last is line and len(text) <= limit - 2
    return text.replace(b"\r", b" ") if is_short else None, has_returns and not last.endswith(b"\n")


def _judge(head: bytes, n_judged: int, refuse: Callable[[bytes], None], *, goes_on: bool) -> int:
    """Judge the head up to the end of each further line, and return how much of it is judged.

    A line is judged with all before it and nothing after it: so the verdict on a pipe is that on a file, whatever
    the blocks it comes in, and no line waits for the next. A line without an end is judged unless it `goes_on`.
    """
    while n_judged < len(head):
        end = head.find(b"\n", n_judged + n_judged // 8) + 1  # not after each of a thousand blank lines
        if not end and goes_on and len(head) < HEAD_BYTES:
            break
        n_judged = end or len(head)
        refuse(head[:n_judged])
    return n_judged
