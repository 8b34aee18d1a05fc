"""Input and output of the commands: strict UTF-8 in any locale, lines that end at "\\n" only, whole files.

Standard output carries results only. Messages for people go to standard error.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from dragoman.cli.options import InvalidUtf8
from dragoman.errors import ConfigError, DataError, printable

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.bundle.bundle import Bundle
    from dragoman.data.text_files.lines import Line

#: Columns of a table that goes to a file or a pipe.
WIDTH = 110
STDOUT, STDIN, DASH = "standard output", "standard input", Path("-")  # the last is the file name for either

_log = logging.getLogger(__name__)

WriteLine = Callable[[str], None]
WriteBytes = Callable[[bytes], None]


def say(text: str) -> None:
    """Print a message for people."""
    print(printable(text), file=sys.stderr, flush=True)


def program() -> str:
    """Return the name of this program, or its path if the shell does not find the name."""
    is_hidden = os.path.basename(sys.argv[0]) == "dragoman" and not shutil.which("dragoman")
    return sys.argv[0] if is_hidden else "dragoman"


def command_line(*arguments: object) -> str:
    """Return a command of this program, quoted for a shell."""
    return shlex.join([program(), *map(str, arguments)])


def translate_command(model: object, bundle: Bundle) -> str:
    """Return the command that translates with a bundle, into its first language if it has several."""
    tokenizers, options = bundle.tokenizers, list[str]()
    if tokenizers.has_both_tags:
        options = ["--source-lang", tokenizers.directions[0][0]]
    if tokenizers.is_tagged:
        options += ["--target-lang", tokenizers.directions[0][1]]
    return command_line("translate", "-m", model, *options)


def print_result(result: str | Table) -> None:
    """Print a result to standard output: text, or a table for people.

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


def input_lines(path: Path | None, invalid_utf8: InvalidUtf8, *, skip_long: bool = False) -> Iterator[str]:
    """Return the lines of a file (.gz, .bz2, .xz too) or of standard input, each as soon as it is there.

    Training skips lines that are too long for a sentence. Here they are read, up to `MAX_INPUT_BYTES` bytes.

    Args:
        skip_long: yield an empty line for a longer one, with a warning, instead of refusing it.

    Raises:
        DataError: standard input is closed, or the file or a line of it cannot be read as text.
    """
    from dragoman.data.text_files.file_signatures import refuse_documents
    from dragoman.data.text_files.lines import input_text

    if path is not None and path != DASH:
        if not path.exists():
            raise DataError("file not found", path, advice="check the path")
        refuse_documents(path)
        return _as_text(input_text(path, path, invalid_utf8), path, skip_long=skip_long)
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed", advice="pipe text in, or give --input FILE")
    if sys.stdin.isatty():
        say("Type lines of text; Ctrl-D ends.")
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.set_blocking(sys.stdin.fileno(), True)  # else Python takes a pause of the writer for the end
    return _as_text(input_text(sys.stdin.buffer, STDIN, invalid_utf8), STDIN, skip_long=skip_long)


def _as_text(lines: Iterable[Line], name: str | Path, *, skip_long: bool) -> Iterator[str]:
    """Yield lines as text. A line that is too long becomes an empty line, or an error."""
    from dragoman.data.text_files.lines import MAX_INPUT_BYTES

    for number, line in enumerate(lines, 1):
        if isinstance(line, str):
            yield line
        elif skip_long:
            _log.warning(f"line {number} is longer than {MAX_INPUT_BYTES:,} bytes; its output is an empty line")
            yield ""
        else:
            problem = f"a line is longer than {MAX_INPUT_BYTES:,} bytes"
            raise DataError(problem, name, line=number, advice="leave this line out")


def stdin_is_file() -> bool:
    """Return True if standard input is a file on a disk (`< FILE`), so that nobody waits for each line."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # it is closed, or no file of the system's
        return False


def stdout_is_terminal() -> bool:
    """Return True if standard output is a terminal.

    Raises:
        DataError: it is closed.
    """
    return _stdout().isatty()


@contextlib.contextmanager
def result_lines(
    path: Path | None, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> Iterator[WriteLine]:
    """Open an output for lines of results, as `result_bytes` does."""
    with result_bytes(path, overwrite=overwrite, inputs=inputs) as write:
        yield lambda line: write(line.encode() + b"\n")


@contextlib.contextmanager
def result_bytes(
    path: Path | None, *, overwrite: bool = False, inputs: Iterable[str | Path | None] = ()
) -> Iterator[WriteBytes]:
    """Open an output for results: standard output (also as `-`), flushed at once, or a file that appears when complete.

    A file whose name ends in .gz, .bz2 or .xz is compressed.

    Raises:
        ConfigError: its suffix names a compression that dragoman does not write.
        DataError: the file exists, its folder does not, or it is one of the inputs; or standard output is closed.
    """
    if path is None or path == DASH:
        out = _stdout().buffer
        yield lambda content: _write(out, content, STDOUT, flush=True)
        return
    from dragoman.data.text_files.compression import packed_file
    from dragoman.machine.files import TEMPORARY, temporary, whole_file

    # A device or a pipe cannot be replaced by a finished file, and loses nothing.
    is_direct = path.is_char_device() or path.is_fifo()
    refuse_output(path, overwrite=overwrite or is_direct, inputs=inputs)
    # A random name: if two commands write the same file, the later one wins.
    unfinished = temporary(path.with_name(f"{os.urandom(4).hex()}.{path.name}"))
    try:
        with (
            open(path, "wb") if is_direct else whole_file(path, unfinished) as file,
            packed_file(file, path.suffix) or contextlib.nullcontext(file) as out,
        ):
            yield lambda content: _write(out, content, str(path), flush=False)
    except OSError as error:
        if error.filename is None or Path(error.filename).name.startswith(TEMPORARY):
            error.filename = str(path)
        raise


def require_output(path: Path, suffixes: Sequence[str], *, overwrite: bool) -> None:
    """Refuse a wrong output before the work begins.

    Raises:
        ConfigError: its suffix is none of `suffixes`.
        DataError: it exists, or its folder does not.
    """
    if path.suffix.lower() not in suffixes:
        raise ConfigError(
            f"unknown kind of file {path.suffix!r}", path, advice=f"end its name in {' or '.join(suffixes)}"
        )
    refuse_output(path, overwrite=overwrite)


def refuse_output(path: Path, *, overwrite: bool, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output that exists, or cannot be written.

    Raises:
        ConfigError: its suffix names a compression that dragoman does not write.
        DataError: it exists, its folder does not, nothing can be written there, or it is one of the inputs.
    """
    from dragoman.data.text_files.compression import refuse_packing

    refuse_packing(path.suffix)
    if path.is_file() and any(os.path.exists(file) and path.samefile(file) for file in inputs if file is not None):
        raise DataError("the output is an input too", path, advice="choose another output")
    if path.exists() and not overwrite:
        raise DataError("the output exists", path, advice="use --overwrite, or choose another output")
    if not path.parent.is_dir():
        raise DataError("no such folder", path.parent, advice="make it, or choose another output")
    if path.is_file() or not path.exists():
        try:
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise  # the folder may be written
            problem = f"nothing can be written here ({error.strerror})"
            raise DataError(problem, path.parent, advice="choose another output") from None


def write_output(path: Path, content: bytes) -> None:
    """Write a whole file, and say so."""
    from dragoman.machine.files import write_file

    write_file(path, content)
    say(f"wrote {path}")


def megabytes(path: Path) -> float:
    """Return the size of a file or of all files in a folder, in MB."""
    return sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file()) / 1e6


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise DataError("standard output is closed", advice="leave it open, or send it to a file: > FILE")
    return sys.stdout


def _write(file: BinaryIO, content: bytes, name: str, *, flush: bool) -> None:
    with _naming(name):
        file.write(content)
        if flush:
            file.flush()


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the file in an error: the system names it when opening fails, but not when writing fails."""
    try:
        yield
    except OSError as error:
        error.filename = name
        raise
