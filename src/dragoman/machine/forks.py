"""Copies of this process that work for it, and send back a result or an error."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import stat
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar, cast

from dragoman.machine.signals import HANG_UP

Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """A returned value or a raised error, on its way from one process to another."""

    value: Result | None
    error: Exception | None = None

    def get(self) -> Result:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return cast(Result, self.value)


def answer(work: Callable[[], Result]) -> Answer[Result]:
    """Call `work`, and catch the error that it raises."""
    try:
        return Answer(work())
    except Exception as error:
        return Answer(None, error)


def can_fork() -> bool:
    """Return True if a process can be copied safely here (Linux), and this one may have children."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


def fork(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a copy of this process that calls `target`.

    Raises:
        OSError: there is no RAM for one more process.
    """
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments, daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, which the copy neither has nor needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def close_other_sockets(own: int) -> None:
    """Close the sockets that a copy inherited, except one: those of a server's clients must end when the server closes
    them, and a copy would keep them open. Other systems than Linux make no copies.
    """
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if int(name) != own and stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    os.close(int(name))


def leave_signals_to_parent(*, all_of_them: bool = False) -> None:
    """Ignore Ctrl-C, which reaches parent and copies alike, so that the parent decides; end on SIGTERM.

    Args:
        all_of_them: ignore SIGTERM and the end of a terminal, too: a cluster sends them to all processes of a job.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if all_of_them else signal.SIG_DFL)
    if HANG_UP is not None and all_of_them:
        signal.signal(HANG_UP, signal.SIG_IGN)
