"""Errors that a person can act on, each with its exit code on the command line.

A message is one line: the problem, its location, and the way out. Further problems of the same kind follow on indented
lines:

    error: <problem>: <path>[:<line>[:<byte>]]; <advice>
"""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

#: Characters that could steer a terminal or hide in a message: control characters except tab and newline (messages
#: have lines), marks that reverse the direction of writing, and other invisible format characters and separators.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e001f]"
)
#: The most characters that a message quotes of a stranger's file, and the most problems that it lists.
_LONGEST, _MOST = 400, 100
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def printable(text: str) -> str:
    """Escape control characters, so that text from a stranger's file cannot steer a terminal."""
    if text.isprintable():  # ten times as fast as the pattern
        return text
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    Args:
        one: the words after 1.
        several: the words after any other number; default: `one` with an s.

    >>> counted(1, "line"), counted(2_000, "line"), counted(0, "line is", "lines are")
    ('1 line', '2,000 lines', '0 lines are')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def some_of(names: Sequence[str], most: int = 10) -> str:
    """Return the first of some names, and how many others there are.

    >>> some_of(["en", "de", "fr"]), some_of(["en", "de", "fr"], 2)
    ('en, de, fr', 'en, de and 1 more')
    """
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def install_advice(extra: str, beginning: str = "install it") -> str:
    """Return the advice to install an extra. dragoman is there already: pip fetches only what the extra needs.

    >>> print(install_advice("plot"))
    install it: pip install "dragoman[plot]"
    """
    return f'{beginning}: pip install "dragoman[{extra}]"'


def _line(text: str) -> str:
    """Return text as one printable line, without its middle if it is long."""
    half = _LONGEST // 2
    shown = text if len(text) <= _LONGEST else f"{text[:half]} ... {text[-half:]}"
    return printable(shown).replace("\n", "\\n")


class DragomanError(Exception):
    """An error that a person can act on. The command line prints it as one line, without a traceback.

    Args:
        problem: in a few words.
        location: the file, folder or key concerned.
        line, byte: position in the file, counted from 1.
        advice: the way out.
        details: further problems of the same kind, one a line.
    """

    exit_code = 1

    def __init__(
        self,
        problem: str,
        location: str | Path | None = None,
        *,
        line: int | None = None,
        byte: int | None = None,
        advice: str = "",
        details: Sequence[str] = (),
    ) -> None:
        place = "".join(f":{part}" for part in (location, line, byte) if part is not None)
        head = _line(problem) + (f": {_line(place[1:])}" if place else "") + (f"; {_line(advice)}" if advice else "")
        rest = [f"and {len(details) - _MOST:,} more"] if len(details) > _MOST else []
        self.message = "\n  ".join([head, *map(_line, details[:_MOST]), *rest])
        self.advice = _line(advice)
        super().__init__(self.message)

    def found_in(self, path: Path, *, instead_of: Path) -> Self:
        """Name a path in place of another, such as the package of a file that was unpacked; return the error."""
        self.message = self.message.replace(str(instead_of), printable(str(path)))
        self.args = (self.message,)
        return self

    def advising(self, advice: str) -> Self:
        """Give another advice in place of the one that there is; return the error."""
        self.message = self.message.replace(f"; {self.advice}", f"; {advice}", 1)
        self.advice, self.args = advice, (self.message,)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as it is, whatever the arguments of its class."""
        return _restored, (type(self), self.__dict__)


def _restored(kind: type[DragomanError], attributes: dict[str, Any]) -> DragomanError:
    error = kind.__new__(kind, attributes["message"])
    error.__dict__.update(attributes)
    return error


#: Messages of libraries that could not get RAM for arrays, for a thread, or to load another library.
_NO_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "bad_alloc",
    "can't start new thread",
    "resource temporarily unavailable",
    "failed to map segment from shared object",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if Python, PyTorch or another library could not get the RAM that it asked for."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    has_words = isinstance(error, RuntimeError | ImportError | OSError)
    return isinstance(error, MemoryError) or (has_words and any(words in str(error).lower() for words in _NO_MEMORY))


class DataError(DragomanError):
    """Input text or a prepared corpus that cannot be used."""


class RunFolderError(DragomanError):
    """A run folder that is in use, not writable, or not what it should be."""


class LostFolderError(RunFolderError):
    """A folder that was removed, renamed or replaced under the process that had locked it."""


class ConfigError(DragomanError):
    """A wrong setting, argument or combination of settings."""

    exit_code = 2


class BundleError(DragomanError):
    """A model folder or checkpoint that is damaged, incomplete, or of an unknown format."""

    exit_code = 3


class DivergedError(DragomanError):
    """Training that produced numbers that are not finite, again and again."""

    exit_code = 4


class ResourceError(DragomanError):
    """Memory or disk ran out. What was saved before is intact and can be continued."""

    exit_code = 5


class FullDiskError(ResourceError):
    """There is no space for a file."""


class StoppedError(DragomanError):
    """A search that its caller stopped before it was done."""


class DeadlineError(StoppedError):
    """A translation that was not done in the time that its caller allowed."""

    exit_code = 6


def reading_problem(error: OSError, title: str = "file") -> str:
    """Return the problem of a file that could not be read, for the message of an error.

    Args:
        title: of what the file should have.

    >>> reading_problem(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    'file not found'
    >>> reading_problem(PermissionError(errno.EACCES, "Permission denied"))
    'cannot read (Permission denied)'
    """
    if error.errno == errno.ENOENT:
        return f"{title} not found"
    return f"cannot read{'' if title == 'file' else f' the {title}'} ({error.strerror})"


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the system's error for a full disk into a ResourceError, and other failures into a RunFolderError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            free = shutil.disk_usage(next(parent for parent in path.absolute().parents if parent.exists())).free
            raise FullDiskError(
                f"no space left on the device ({free:,} bytes free)", path, advice="free some space and run it again"
            ) from error
        raise RunFolderError(f"cannot write ({error.strerror})", path, advice="check the folder") from error
