"""Copies of this process that work for it, and send back a result or an error."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar, cast

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


def fork(target: Callable[..., None], *arguments: object, ends_by_close: bool = False) -> BaseProcess:
    """Start a copy of this process that calls `target`. It ignores Ctrl-C, which reaches both processes.

    Args:
        ends_by_close: SIGTERM and SIGHUP do not end the copy, either: a cluster sends them to all processes of a job.

    Raises:
        OSError: there is no RAM for one more process.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    process = multiprocessing.get_context("fork").Process(
        target=_begin, args=(target, arguments, blocked, ends_by_close), daemon=True
    )
    try:
        # A signal waits until the copy has chosen what it does, so that none ends or interrupts it before.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        with warnings.catch_warnings():
            # Python 3.12 warns of threads, which the copy neither has nor needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process


def _begin(
    target: Callable[..., None], arguments: Sequence[object], blocked: Iterable[int], ends_by_close: bool
) -> None:
    """Choose what signals do in a copy, which has them blocked, and call `target`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if ends_by_close else signal.SIG_DFL)
    if ends_by_close:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    target(*arguments)


def close_other_sockets(own: int) -> None:
    """Close the sockets that a copy inherited, except one: those of a server's clients must end when the server closes
    them, and a copy would keep them open. Other systems than Linux make no copies.
    """
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if int(name) != own and stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    os.close(int(name))
