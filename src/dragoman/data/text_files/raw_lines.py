"""Lines of bytes from files and pipes, unpacked, each as soon as it arrives. A file that is not text is refused.

The beginning is read and judged line by line, so that a pipe is judged like a file. The rest is split in blocks,
which is twice as fast.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from dragoman.data.text_files.character_encodings import n_binary
from dragoman.data.text_files.compression import BLOCK_BYTES, HEAD_BYTES, ByteStream, DamagedError, unpacked
from dragoman.data.text_files.file_signatures import refuse_other_formats
from dragoman.errors import DataError, reading_problem

#: Training skips longer lines, which are no sentences; they are not held in RAM.
MAX_LINE_BYTES = 100_000


def raw_lines(path: Path, max_bytes: int = MAX_LINE_BYTES, *, allow_json: bool = False) -> Iterator[bytes | None]:
    """Yield the lines of a file, plain or compressed, without their ends; None for one of more than `max_bytes`.

    Raises:
        DataError: the file cannot be read, is damaged, or is no text.
    """
    try:
        with open(path, "rb") as file:
            yield from raw_lines_of(file, path, max_bytes, allow_json=allow_json)
    except OSError as error:
        raise DataError(reading_problem(error), path, advice="check the path") from None


def raw_lines_of(
    file: BinaryIO, name: str | Path, max_bytes: int, *, allow_json: bool = False
) -> Iterator[bytes | None]:
    """Yield the lines of a stream such as a pipe, each as soon as it arrives; otherwise as `raw_lines`."""
    number = n_judged = 0
    refuse = partial(refuse_other_formats, name=name, allow_json=allow_json)
    try:
        stream = unpacked(file, name)
        lines = io.BufferedReader(stream, BLOCK_BYTES)
        while n_judged < HEAD_BYTES and (line := lines.readline(max_bytes + 2)):
            n_judged = _judge(stream.head, n_judged, refuse, goes_on=line.endswith(b"\n"))
            text, is_mac = _finish_line(lines, line, max_bytes)
            if not number and is_mac and not n_binary(stream.head):
                problem = "these are the line ends of an old Mac: carriage returns, and no newline"
                raise DataError(problem, name, advice=r"make them newlines: tr '\r' '\n' < FILE")
            number += 1
            yield text
        for text in _further_lines(lines, max_bytes):
            number += 1
            yield text
    except DamagedError as error:
        raise DataError(str(error), name, line=number + 1, advice="use another copy") from None
    except OSError as error:
        failed = number + 1 if number else None
        raise DataError(reading_problem(error), name, line=failed, advice="check the path") from None


def _further_lines(file: io.BufferedReader[ByteStream], max_bytes: int) -> Iterator[bytes | None]:
    """Yield the lines behind the judged beginning, split in blocks as they come."""
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
    """Return a line without carriage returns: those at its end are left out, others become spaces."""
    text = line.rstrip(b"\r")
    return text.replace(b"\r", b" ") if len(text) <= max_bytes else None


def _finish_line(file: io.BufferedReader[ByteStream], line: bytes, max_bytes: int) -> tuple[bytes | None, bool]:
    """Read a line to its end; return its text, and True if it has carriage returns inside and no newline at its end."""
    last, has_returns = line, b"\r" in line.rstrip(b"\r\n")
    while len(last) == max_bytes + 2 and not last.endswith(b"\n"):
        last = file.readline(max_bytes + 2)
        has_returns |= b"\r" in last.rstrip(b"\r\n")
    text = _tidy(line.removesuffix(b"\n"), max_bytes) if last is line else None
    return text, has_returns and not last.endswith(b"\n")


def _judge(head: bytes, n_judged: int, refuse: Callable[[bytes], None], *, goes_on: bool) -> int:
    """Judge the head up to the end of each further line, and return the number of bytes judged.

    A line is judged with all lines before it and none after it. So a pipe is judged like a file, in whatever blocks it
    comes, and no line waits for the next. A line without an end is judged unless it `goes_on`.
    """
    while n_judged < len(head):
        end = head.find(b"\n", n_judged + n_judged // 8) + 1  # in growing steps, in case of many blank lines
        if not end and goes_on and len(head) < HEAD_BYTES:
            break
        n_judged = end or len(head)
        refuse(head[:n_judged])
    return n_judged
