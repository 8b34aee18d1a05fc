"""Processes that work at the same time, each with one thread, over what is in memory once."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from dragoman.errors import ConfigError, DragomanError, ResourceError, is_out_of_memory

#: By Linux, a process asks for a signal that comes when its parent ends.
_PR_SET_PDEATHSIG = 1

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What comes back from a worker: one result, or what went wrong."""

    results: list[Result]
    error: Exception | None = None


class Workers(Generic[Job, Result]):
    """Copies of this process that call `work`, which is not copied but shared with all it refers to.

    Several threads share one small search badly; several processes of one thread do not notice each other. Only Linux
    can copy a process safely, so elsewhere the work is done here, one job after the other.

    Args:
        work: what is done with a job.
        n_workers: how many processes; one is this process itself.
        advice: what a person can do where memory is too short for so many.

    Raises:
        ConfigError: fewer than one.
    """

    def __init__(self, work: Callable[[Job], Result], n_workers: int, advice: str = "use fewer") -> None:
        if n_workers < 1:
            raise ConfigError(f"{n_workers} workers", advice="use at least 1")
        self._work, self._advice = work, advice
        self._n_workers = n_workers
        self._begin()

    def _begin(self) -> None:
        """Without workers, in this process."""
        self._process = os.getpid()
        self._connections: list[Connection] = []
        self._is_busy = False
        self._turn = threading.Lock()

    @property
    def n_workers(self) -> int:
        """How many there are: one where this process cannot be copied."""
        return self._n_workers if _can_copy() else 1

    def map(self, jobs: Sequence[Job]) -> list[Result]:
        """The result of each job, in order; what a job raises is raised. Calls of several threads take turns.

        Raises:
            ResourceError: a worker was killed, most likely for want of memory.
        """
        if self.n_workers == 1 or len(jobs) < 2:
            return [self._work(job) for job in jobs]
        self._leave_inherited()
        with self._turn, self._started():
            return self._share(jobs)

    def imap(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """The result of each job, in order, while jobs are still being made: each worker has one, and no more wait.

        Raises:
            ResourceError: a worker was killed, most likely for want of memory.
        """
        if self.n_workers == 1:
            yield from map(self._work, jobs)
            return
        self._leave_inherited()
        with self._started():
            waiting, busy = iter(jobs), deque[Connection]()
            for connection, job in zip(self._connections, waiting, strict=False):
                self._send(connection, job)
                busy.append(connection)
            for job in waiting:
                connection = busy.popleft()
                result = self._receive(connection)
                self._send(connection, job)
                busy.append(connection)
                yield result
            for connection in busy:
                yield self._receive(connection)

    def _leave_inherited(self) -> None:
        """In a copy of the process that started the workers: they answer that one, so this one has its own."""
        if self._process != os.getpid():
            self._dismiss()
            self._begin()

    @contextlib.contextmanager
    def _started(self) -> Iterator[None]:
        """All workers, who end if anything fails: they still work at jobs whose results the next call must not take
        for its own.

        Raises:
            RuntimeError: another call is not done with them.
        """
        if self._is_busy:
            raise RuntimeError("the workers still have jobs of another call")
        self._is_busy = True
        try:
            while len(self._connections) < self.n_workers:
                self._connections.append(self._start())
            yield
        except BaseException:
            self._dismiss()
            raise
        finally:
            self._is_busy = False

    def _share(self, jobs: Sequence[Job]) -> list[Result]:
        results: dict[int, Result] = {}
        waiting = iter(enumerate(jobs))
        busy: dict[Connection, int] = {}
        for connection in self._connections:
            self._give(waiting, connection, busy)
        while busy:
            ready = wait(list(busy))
            for connection in [each for each in busy if each in ready]:
                results[busy.pop(connection)] = self._receive(connection)
                self._give(waiting, connection, busy)
        return [results[number] for number in range(len(jobs))]

    def _dismiss(self) -> None:
        """Let all workers end when they have done what they are at; the next call starts others."""
        for connection in self._connections:
            connection.close()
        self._connections = []

    def _give(self, waiting: Iterator[tuple[int, Job]], connection: Connection, busy: dict[Connection, int]) -> None:
        """Send the next job, if there is one; a worker has at most one, so that neither side waits to send."""
        for number, job in waiting:
            busy[connection] = number
            self._send(connection, job)
            return

    def _send(self, connection: Connection, job: Job) -> None:
        with contextlib.suppress(BrokenPipeError):  # which is not where this error comes from: that is a closed output
            connection.send(job)
            return
        raise self._killed()

    def _receive(self, connection: Connection) -> Result:
        answer: Answer[Result]
        try:
            answer = connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._killed() from None
        if answer.error is not None:
            raise answer.error
        return answer.results[0]

    def _killed(self) -> DragomanError:
        return ResourceError("a worker process was killed", advice=self._advice)

    def _start(self) -> Connection:
        """A copy of this process at the other end of the connection. It ends when this process closes it, or ends."""
        here, there = multiprocessing.Pipe()
        # A copy has our ends of all connections too; it ends when they are closed, so it must not hold them open.
        ours = [*self._connections, here]
        _copy(_serve, self._work, there, ours)
        there.close()
        return here


def run_apart(work: Callable[[], Result], what: str, advice: str) -> Result:
    """Return what `work` returns, or raise what it raises, from a copy of this process.

    A library that aborts for want of memory, or the system that kills for it, then ends the copy alone. Where a process
    cannot be copied safely, the work is done here.

    Raises:
        ResourceError: memory was too short for it, or it was killed.
    """
    if not _can_copy():
        return work()
    here, there = multiprocessing.Pipe()
    process = _copy(_do_apart, work, there, here, os.getpid())
    there.close()
    try:
        answer: Answer[Result] = here.recv()
    except (EOFError, ConnectionResetError):
        raise ResourceError(f"{what} was killed, most likely for want of memory", advice=advice) from None
    finally:
        here.close()
        process.kill()  # after its answer, it has nothing left to do
        process.join()
    if answer.error is not None and is_out_of_memory(answer.error):
        raise ResourceError(f"{what} ran out of memory", advice=advice) from answer.error
    if answer.error is not None:
        raise answer.error
    return answer.results[0]


def _do_apart(work: Callable[[], Result], connection: Connection, inherited: Connection, parent: int) -> None:
    """Send the answer of `work`; a library that aborts says nothing, and leaves no dump of its memory."""
    import ctypes
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the first process decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before this process asked to end with it
        return
    inherited.close()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    connection.send(_answer(lambda _: work(), None))


def _can_copy() -> bool:
    """Return True if a process can be copied safely here, and this one may have children."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


def _copy(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a copy of this process that calls `target`.

    Raises:
        OSError: there is no memory for one more process.
    """
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments, daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, which the copy does not have, and does not use.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def _serve(work: Callable[[Job], Result], connection: Connection, inherited: Sequence[Connection]) -> None:
    """Do jobs until nobody gives any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the first process decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threadpool_limits(1)
    for each in inherited:
        each.close()
    with contextlib.suppress(EOFError, ConnectionResetError, BrokenPipeError):
        while True:
            connection.send(_answer(work, connection.recv()))


def _answer(work: Callable[[Job], Result], job: Job) -> Answer[Result]:
    try:
        return Answer([work(job)])
    except Exception as error:
        return Answer([], error)
