"""Lines of text files, exactly: only a newline ends a line, only UTF-8 is text, and memory stays flat.

A carriage return before the newline, and a byte order mark at the beginning of the file, are not part of the text.
Everything else is, U+2028 and U+0085 included. A last line without a newline is a line.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Literal

from dragoman.errors import DataError

#: Longer lines are no sentences; they are passed over without being held in memory.
MAX_LINE_BYTES = 100_000

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FORMATS = {b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP archive or an office document", b"PAR1": "a Parquet file"}
_SAMPLE_BYTES = 256
_BLOCK_BYTES = 1 << 20


class Unreadable(Enum):
    """Stands in place of a line that is not read."""

    TOO_LONG = "too long"
    INVALID = "invalid UTF-8"


Line = str | Unreadable


def read_lines(
    path: Path, invalid_utf8: Literal["error", "drop"] = "error", since: os.stat_result | None = None
) -> Iterator[Line]:
    """The lines of a text file, plain or gzipped, in order.

    Args:
        since: what `check_text_file` found earlier, where the file must still be the same.

    Raises:
        DataError: the file cannot be read, is damaged, is not UTF-8 (with line and byte, unless invalid lines are to
            be dropped), or changes while it is read.
    """
    before = since or check_text_file(path)
    _refuse_changed(path, before)
    for number, raw in enumerate(raw_lines(path, MAX_LINE_BYTES), start=1):
        if raw is None:
            yield Unreadable.TOO_LONG
            continue
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            if invalid_utf8 == "drop":
                yield Unreadable.INVALID
                continue
            mark = len(codecs.BOM_UTF8) if number == 1 and raw.startswith(codecs.BOM_UTF8) else 0
            raise DataError(
                "invalid UTF-8",
                path,
                line=number,
                byte=error.start + mark + 1,
                advice=f"{_mending(path)}; train and prepare also take --invalid-utf8=drop",
            ) from None
    _refuse_changed(path, before)


def _mending(path: Path) -> str:
    """What to do about a file that is not UTF-8: a few lines of it are wrong, or it is in another encoding."""
    n_right = n_wrong = 0
    for raw in raw_lines(path, MAX_LINE_BYTES):
        if raw is None or raw.removeprefix(codecs.BOM_UTF8).isascii():
            continue
        try:
            raw.decode()
            n_right += 1
        except UnicodeDecodeError:
            n_wrong += 1
    if n_right > n_wrong:
        return f"mend it by hand ({n_wrong:,} such lines, {n_right:,} others beyond ASCII are right)"
    return "convert the file (from Latin-1: iconv -f latin1 -t utf-8)"


def raw_lines(path: Path, max_bytes: int | None = None) -> Iterator[bytes | None]:
    """The lines of a file, plain or gzipped, without their ends; None for one of more than `max_bytes`.

    Raises:
        DataError: the file cannot be read, is damaged, or is UTF-16.
    """
    number = 0
    try:
        with _open(path) as file:
            _refuse_other_formats(file, path)
            for number, line in enumerate(_pieces(file, max_bytes), start=1):  # noqa: B007 - the errors below tell it
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"damaged gzip file ({error})", path, line=number + 1, advice="use another copy") from None
    except OSError as error:
        failed = number + 1 if number else None
        raise DataError(f"cannot read ({error.strerror})", path, line=failed, advice="check the path") from None


def count_lines(path: Path) -> int:
    """How many lines a file has, plain or gzipped, good or bad: much quicker than reading them.

    Raises:
        DataError: as `raw_lines`.
    """
    n_lines, end = 0, b"\n"
    try:
        with _open(path) as file:
            while block := file.read(_BLOCK_BYTES):
                n_lines, end = n_lines + block.count(b"\n"), block[-1:]
    except (EOFError, zlib.error, OSError):
        return sum(1 for _ in raw_lines(path))  # it says what is wrong, and where
    return n_lines + (end != b"\n")


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
        with _open(path) as file:
            return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read ({error})", path, advice="check the file") from None


def _refuse_changed(path: Path, before: os.stat_result) -> None:
    now = check_text_file(path)
    if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise DataError("the file changed while reading", path, advice="run it again when nothing writes to it")


def _open(path: Path) -> BinaryIO:
    """Open a file for reading; what begins like gzip is gzip, which no UTF-8 text does. A pipe will do too."""
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    start = file.peek(len(_GZIP))[: len(_GZIP)]
    if start == _GZIP:
        return _Unzipped(file)  # type: ignore[return-value]
    if path.suffix == ".gz" and start:
        file.close()
        raise gzip.BadGzipFile("not a gzip file")
    return file


class _Unzipped(gzip.GzipFile):
    """A gzip file that closes the file it reads from."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file)
        self._zipped = file

    def close(self) -> None:
        super().close()
        self._zipped.close()


def _refuse_other_formats(file: BinaryIO, path: Path) -> None:
    sample: bytes = file.peek(_SAMPLE_BYTES)[:_SAMPLE_BYTES]  # type: ignore[attr-defined]
    half = len(sample) // 2
    zeros = max(sample[::2].count(0), sample[1::2].count(0))
    if sample.startswith(_UTF_16) or (half >= 4 and zeros > 0.6 * half):
        raise DataError("the file looks like UTF-16", path, advice="convert it to UTF-8: iconv -f utf-16 -t utf-8")
    for start, kind in _FORMATS.items():
        if sample.startswith(start):
            raise DataError(f"this is {kind}, not plain text", path, advice="save it as text, one sentence a line")


def _pieces(file: BinaryIO, max_bytes: int | None) -> Iterator[bytes | None]:
    """Lines without their ends; None for one that is too long, which is read in pieces and forgotten."""
    limit = -1 if max_bytes is None else max_bytes + 2
    while line := file.readline(limit):
        if line.endswith(b"\n"):
            line = line[:-2] if line.endswith(b"\r\n") else line[:-1]
        elif len(line) == limit:
            while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
                pass
        elif line.endswith(b"\r"):
            line = line[:-1]
        yield line if max_bytes is None or len(line) <= max_bytes else None
