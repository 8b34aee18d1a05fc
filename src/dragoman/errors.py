"""What can go wrong, each with the exit code the command line gives it.

A message is one line that says what was found, where, and what to do; further problems of the same kind follow,
indented, one a line:

    error: <what>: <path>[:<line>[:<byte>]]; <what to do>
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

#: What could steer a terminal or hide in a message: control characters other than tab and newline (messages have
#: lines), marks that turn the direction of writing round, and other format characters and separators that nobody sees.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e001f]"
)
#: What a message may quote of a stranger's file, and how many of its problems it lists.
_LONGEST, _MOST = 400, 100


def printable(text: str) -> str:
    """Escape control characters, so that text from a stranger's file cannot steer a terminal."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def _line(text: str) -> str:
    """On one line, harmless, and not endless: of a long text the middle is left out."""
    half = _LONGEST // 2
    shown = text if len(text) <= _LONGEST else f"{text[:half]} ... {text[-half:]}"
    return printable(shown).replace("\n", "\\n")


class DragomanError(Exception):
    """Something a person can act on. The command line prints it as one line, without a traceback.

    Args:
        what: what was found, in a few words.
        where: the file, folder or key concerned.
        line, byte: position in the file, counted from 1.
        advice: what to do about it.
        details: further problems of the same kind, one a line.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        where: str | Path | None = None,
        *,
        line: int | None = None,
        byte: int | None = None,
        advice: str = "",
        details: Sequence[str] = (),
    ) -> None:
        place = "".join(f":{part}" for part in (where, line, byte) if part is not None)
        head = _line(what) + (f": {_line(place[1:])}" if place else "") + (f"; {_line(advice)}" if advice else "")
        rest = [f"and {len(details) - _MOST:,} more"] if len(details) > _MOST else []
        self.message = "\n  ".join([head, *map(_line, details[:_MOST]), *rest])
        super().__init__(self.message)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python or PyTorch could not get the memory it asked for."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


class DataError(DragomanError):
    """Input text or a prepared corpus that cannot be used."""


class RunFolderError(DragomanError):
    """A run folder that is in use, not writable, or not what it should be."""


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
