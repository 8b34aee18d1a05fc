"""Text in and out of the commands: strict UTF-8 whatever the locale, lines that end at "\\n" only, whole files.

Standard output carries results only; everything said to people goes to standard error.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import secrets
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, TypeVar, cast

from dragoman.cli.options import InvalidUtf8
from dragoman.errors import ConfigError, DataError, printable

if TYPE_CHECKING:
    from rich.table import Table

#: Columns of a table that goes to a file or a pipe.
WIDTH = 110
STDOUT = "standard output"
#: Seconds between two words on how far a command is, at least.
PROGRESS_EVERY = 10.0

Result = TypeVar("Result")

WriteLine = Callable[[str], None]


def say(text: str) -> None:
    """Tell a person something."""
    print(printable(text), file=sys.stderr, flush=True)


def program() -> str:
    """What to type for this program: its name, or its place when the shell would not find it by name."""
    called = sys.argv[0]
    return called if os.path.basename(called) == "dragoman" and not shutil.which("dragoman") else "dragoman"


def command_line(*arguments: object) -> str:
    """Return a command of this program that a shell reads as it is meant, whatever is in the names of files."""
    return shlex.join([program(), *map(str, arguments)])


def print_result(result: str | Table) -> None:
    """A result to standard output: text, or a table for people.

    Raises:
        DataError: standard output is closed.
    """
    stdout = _stdout()
    with _naming(STDOUT):
        if isinstance(result, str):
            print(result)
        else:
            from rich.console import Console

            Console(file=stdout, width=None if stdout.isatty() else WIDTH).print(result)
        stdout.flush()


def input_lines(path: Path | None, invalid_utf8: InvalidUtf8) -> Iterator[str]:
    """The lines of a file (.gz too) or of standard input, each as soon as it is there, however long it is.

    Training passes over lines that are too long; here every line must be answered.

    Raises:
        DataError: standard input is closed, the file cannot be read, or a line is not UTF-8.
    """
    if path is not None:
        from dragoman.data.lines import raw_lines

        if not path.exists():
            raise DataError("file not found", path, advice="check the path")
        return _decoded((line for line in raw_lines(path) if line is not None), str(path), invalid_utf8)
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed", advice="pipe text in, or give --input FILE")
    return _decoded(sys.stdin.buffer, "standard input", invalid_utf8)


def stdin_is_file() -> bool:
    """Whether standard input is a file on a disk (`< FILE`), so that nobody waits for single lines."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # it is closed, or no file of the system's
        return False


def _decoded(file: Iterable[bytes], name: str, invalid_utf8: InvalidUtf8) -> Iterator[str]:
    """Lines without their ends; a byte order mark before the first is no text."""
    for number, raw in enumerate(file, 1):
        line = raw[:-2] if raw.endswith(b"\r\n") else raw.removesuffix(b"\n")
        mark = len(codecs.BOM_UTF8) if number == 1 and line.startswith(codecs.BOM_UTF8) else 0
        try:
            yield line[mark:].decode(errors="strict" if invalid_utf8 == "error" else "replace")
        except UnicodeDecodeError as error:
            byte, advice = error.start + mark + 1, "convert it; translate and score also take --invalid-utf8=replace"
            raise DataError("invalid UTF-8", name, line=number, byte=byte, advice=advice) from None


def with_progress(results: Iterable[Result], *, from_file: bool, output: Path | None) -> Iterator[Result]:
    """`results` as they are; of a whole file's, a person who does not see them go by is told now and then how many
    there were."""
    if not from_file or (output is None and _stdout().isatty()):
        yield from results
        return
    started = told = before = time.monotonic()
    for n_done, result in enumerate(results):
        now = time.monotonic()
        if n_done and now - told >= PROGRESS_EVERY:
            # Results come in blocks; with the first of one, those before are all that are done.
            say(f"{n_done:,} lines, {n_done / (before - started):,.0f} a second")
            told = now
        before = now
        yield result


@contextlib.contextmanager
def result_lines(
    path: Path | None, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> Iterator[WriteLine]:
    """Where results go, line by line: standard output, at once, or a file (.gz too) that appears when it is complete.

    Raises:
        DataError: the file exists, its folder does not, or it is one of the inputs; or standard output is closed.
    """
    if path is None:
        out = _stdout().buffer
        yield lambda line: _write(out, line, STDOUT, flush=True)
        return
    from dragoman.storage import temporary

    refuse_place(path, overwrite=overwrite, inputs=inputs)
    # A device or a pipe cannot be replaced by a finished file.
    direct = path.exists() and not path.is_file()
    # Of a name of its own: two commands may write to one place, and the later one wins.
    unfinished = path if direct else temporary(path.with_name(f"{secrets.token_hex(4)}.{path.name}"))
    try:
        with open(unfinished, "wb") as file:
            with _packed(file) if path.suffix == ".gz" else contextlib.nullcontext(file) as out:
                yield lambda line: _write(out, line, str(path), flush=False)
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        if not direct:
            os.replace(unfinished, path)
    except OSError as error:
        if error.filename in (None, str(unfinished)):
            error.filename = str(path)  # the one that the person named
        raise
    finally:
        if not direct:
            unfinished.unlink(missing_ok=True)


def require_output(path: Path, suffixes: Sequence[str], *, overwrite: bool) -> None:
    """Refuse an output before any work is done for it.

    Raises:
        ConfigError: its suffix is none of `suffixes`.
        DataError: it exists, or its folder does not.
    """
    if path.suffix not in suffixes:
        raise ConfigError(
            f"unknown kind of file {path.suffix!r}", path, advice=f"end its name in {' or '.join(suffixes)}"
        )
    refuse_place(path, overwrite=overwrite)


def refuse_place(path: Path, *, overwrite: bool, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output that is there already, or cannot be.

    Raises:
        DataError: it exists, its folder does not, or it is one of the inputs.
    """
    if path.is_file() and any(os.path.exists(each) and path.samefile(each) for each in inputs if each is not None):
        raise DataError("the output is an input too", path, advice="choose another --output")
    if path.exists() and not overwrite:
        raise DataError("the output exists", path, advice="use --overwrite, or another --output")
    if not path.parent.is_dir():
        raise DataError("no such folder", path.parent, advice="make it, or choose another --output")


def write_output(path: Path, content: bytes) -> None:
    """Write a whole file, and say so."""
    from dragoman.storage import write_file

    write_file(path, content)
    say(f"wrote {path}")


def _packed(file: BinaryIO) -> BinaryIO:
    """A gzip file in a file, the same for the same text."""
    return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise DataError("standard output is closed", advice="leave it open, or send it to a file: > FILE")
    return sys.stdout


def _write(file: BinaryIO, line: str, name: str, *, flush: bool) -> None:
    with _naming(name):
        file.write(line.encode() + b"\n")
        if flush:
            file.flush()


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Say where writing failed: the system names a file when it opens it, but not when it writes to it."""
    try:
        yield
    except OSError as error:
        error.filename = name
        raise
