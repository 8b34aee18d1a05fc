"""A process that works for this one, and is ended if a call takes too much time or RAM: it may run code that is slow.

Threads cannot be ended, and a long call into C stops all others of this process; a process has neither fault.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits

from dragoman.errors import DataError, DeadlineError, ResourceError, is_out_of_memory
from dragoman.machine.forks import Answer, answer, can_fork, close_other_sockets, fork

Job = TypeVar("Job")
Result = TypeVar("Result")

#: Bytes by which a call may enlarge the process, and by which it may have grown to be kept for the next call.
_MOST_BYTES, _MOST_KEPT = 2**29, 2**26
#: Seconds between two looks at whether a call is still wanted, and those for which an unwanted one may go on: most are
#: shorter, and to make a new process takes longer.
_LOOK, _UNWANTED = 0.2, 1.0


class LimitedProcess(Generic[Job, Result]):
    """A copy of this process that calls `work`, made when it is needed. One thread may use it at a time.

    Only Linux can copy a process safely; elsewhere, the work is done here and has no limits.

    Args:
        work: does one job. It is not sent, but shared with everything it refers to.
    """

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def start(self) -> None:
        """Make the process, if there is none."""
        if self._connection is None and can_fork():
            self._connection, child_end = multiprocessing.Pipe()
            self._process = fork(_serve, self._work, child_end)
            child_end.close()

    def call(self, job: Job, seconds: float, is_wanted: Callable[[], bool] = lambda: True) -> Result:
        """Return the result of a job, or raise what it raises.

        Args:
            seconds: of processor time, and of the clock, that it may take.
            is_wanted: returns False if nobody waits for the result any more.

        Raises:
            DeadlineError: it took too long, or was not wanted any more.
            DataError: it took too much RAM.
            ResourceError: the process was killed.
        """
        self.start()
        if self._connection is None:
            return self._work(job)
        try:
            found, is_last = self._exchange(self._connection, job, seconds, is_wanted)
        except (EOFError, ConnectionResetError, BrokenPipeError):
            code = self.end()
            raise _too_slow() if code == -signal.SIGPROF else ResourceError("a process was killed") from None
        except BaseException:
            self.end()
            raise
        if found.error is not None and is_out_of_memory(found.error):
            self.end()
            raise DataError("the text takes too much RAM to prepare", advice="send less text, or in parts") from None
        if is_last:
            self.end()
        return found.get()

    def _exchange(
        self, connection: Connection, job: Job, seconds: float, is_wanted: Callable[[], bool]
    ) -> tuple[Answer[Result], bool]:
        start = time.monotonic()
        connection.send((job, seconds))
        while not connection.poll(_LOOK):
            taken = time.monotonic() - start
            if taken > seconds or (taken > _UNWANTED and not is_wanted()):
                raise _too_slow()
        received: tuple[Answer[Result], bool] = connection.recv()
        return received

    def kill(self) -> None:
        """End the process while another thread waits for it, which then raises ResourceError."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> int | None:
        """End the process, and return how it ended: a signal, less than 0. The next call makes another one."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if process is None or connection is None:
            return None
        connection.close()
        process.join(0.05)  # it may be ending by itself
        process.kill()
        process.join()
        return process.exitcode


def _too_slow() -> DeadlineError:
    return DeadlineError("the text takes too long to prepare", advice="send less text, or in parts")


def _serve(work: Callable[[Job], Result], connection: Connection) -> None:
    """Do jobs until the connection closes."""
    import resource

    gc.freeze()  # what it shares stays shared
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # it ends the process, wherever that is
    close_other_sockets(connection.fileno())
    threadpool_limits(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    first, (_, hard) = _size(), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (first + _MOST_BYTES, hard))
    is_last = False
    while not is_last:
        try:
            job, seconds = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.001))
        done = answer(partial(work, job))
        del job
        is_last = _size() > first + _MOST_KEPT
        connection.send((done, is_last))
        del done
        signal.setitimer(signal.ITIMER_PROF, 0)


def _size() -> int:
    """Return the bytes of this process's address space."""
    import resource

    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
