"""Work in a process of its own, which may abort or be killed without harm to this one."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

from dragoman.errors import ResourceError, is_out_of_memory
from dragoman.machine.forks import Answer, answer, can_fork, fork, leave_signals_to_parent

#: The option of Linux's prctl that asks for a signal when the parent ends.
_PR_SET_PDEATHSIG = 1

Result = TypeVar("Result")


def run_apart(work: Callable[[], Result], name: str, advice: str) -> Result:
    """Call `work` in a copy of this process, and return its result or raise its error.

    If a library aborts or the system kills for lack of RAM, only the copy ends. If a process cannot be copied
    safely, this process does the work.

    Args:
        name: of the work, for messages.
        advice: for a person whose RAM is too short.

    Raises:
        ResourceError: RAM was too short for it, or it was killed.
    """
    if not can_fork():
        return work()
    parent_end, child_end = multiprocessing.Pipe()
    process = fork(_work_apart, work, child_end, parent_end, os.getpid())
    child_end.close()
    try:
        received: Answer[Result] = parent_end.recv()
    except (EOFError, ConnectionResetError):
        raise ResourceError(f"{name} was killed, most likely for lack of RAM", advice=advice) from None
    finally:
        parent_end.close()
        process.kill()  # after its answer, it has nothing left to do
        process.join()
    if received.error is not None and is_out_of_memory(received.error):
        raise ResourceError(f"{name} ran out of RAM", advice=advice) from received.error
    return received.get()


def _work_apart(work: Callable[[], Result], connection: Connection, inherited: Connection, parent: int) -> None:
    """Send the answer of `work`; a library that aborts prints nothing, and leaves no dump of its memory."""
    import resource

    leave_signals_to_parent()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before this process asked to end with it
        return
    inherited.close()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    connection.send(answer(work))
