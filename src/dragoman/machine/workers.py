"""Processes that work at the same time, each with one thread, and share what this process has in RAM."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits

from dragoman.errors import ConfigError, ResourceError
from dragoman.machine.forks import Answer, answer, can_fork, close_other_sockets, fork, leave_signals_to_parent

Job = TypeVar("Job")
Result = TypeVar("Result")


class Workers(Generic[Job, Result]):
    """Copies of this process that call `work`, which is not sent but shared with everything it refers to.

    Several threads share one small search badly; several processes of one thread do not disturb each other. Only Linux
    can copy a process safely, so elsewhere the work is done here, one job after the other.

    Args:
        work: does one job.
        n_workers: the number of processes; one is this process itself.
        advice: for a person whose RAM is too short for so many.
        is_apart: even one worker is another process, and even a single job is done there.

    Raises:
        ConfigError: fewer than one.
    """

    def __init__(
        self, work: Callable[[Job], Result], n_workers: int, advice: str = "use fewer", *, is_apart: bool = False
    ) -> None:
        if n_workers < 1:
            raise ConfigError(f"{n_workers} workers", advice="use at least 1")
        self._work, self._n_workers, self._advice = work, n_workers, advice
        self._is_apart = is_apart and can_fork()
        self._forget()

    def _forget(self) -> None:
        """Begin without workers; the first call starts them."""
        self._process = os.getpid()
        self._connections: list[Connection] = []
        self._is_busy = False
        self._turn = threading.Lock()

    @property
    def n_workers(self) -> int:
        """The number of processes: one where this process cannot be copied."""
        return self._n_workers if can_fork() else 1

    def map(self, jobs: Sequence[Job]) -> list[Result]:
        """Return the result of each job, in order, or raise what a job raises. Calls of several threads take turns.

        Raises:
            ResourceError: a worker was killed, most likely for want of RAM.
        """
        if not self._is_apart and (self.n_workers == 1 or len(jobs) < 2):
            return [self._work(job) for job in jobs]
        self._reset_after_fork()
        with self._turn, self._claim() as connections:
            return self._share(jobs, connections)

    def imap(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Yield the result of each job, in order, while jobs are still being made: each worker has at most one.

        Raises:
            ResourceError: a worker was killed, most likely for want of RAM.
        """
        if self.n_workers == 1 and not self._is_apart:
            yield from map(self._work, jobs)
            return
        self._reset_after_fork()
        with self._claim() as connections:
            remaining, busy = iter(jobs), deque[Connection]()
            for connection, job in zip(connections, remaining, strict=False):
                self._send(connection, job)
                busy.append(connection)
            for job in remaining:
                connection = busy.popleft()
                result = self._receive(connection)
                self._send(connection, job)
                busy.append(connection)
                yield result
            for connection in busy:
                yield self._receive(connection)

    def _share(self, jobs: Sequence[Job], connections: Sequence[Connection]) -> list[Result]:
        """Give each worker its next job as soon as it is done, never two, so that neither side waits to send."""
        results: dict[int, Result] = {}
        remaining = iter(enumerate(jobs))
        busy: dict[Connection, int] = {}
        idle = list(connections)
        while len(results) < len(jobs):
            for connection, (number, job) in zip(idle, remaining, strict=False):
                busy[connection] = number
                self._send(connection, job)
            ready = wait(list(busy))
            idle = [connection for connection in busy if connection in ready]
            for connection in idle:
                results[busy.pop(connection)] = self._receive(connection)
        return [results[number] for number in range(len(jobs))]

    @contextlib.contextmanager
    def _claim(self) -> Iterator[list[Connection]]:
        """Start the workers, and end them if anything fails: the next call must not take the results of this one.

        Raises:
            RuntimeError: another call is not done with them.
        """
        if self._is_busy:
            raise RuntimeError("the workers still have jobs of another call")
        self._is_busy = True
        try:
            while len(self._connections) < self.n_workers:
                self._connections.append(self._start())
            yield self._connections
        except BaseException:
            self._dismiss()
            raise
        finally:
            self._is_busy = False

    def _start(self) -> Connection:
        """Start a worker, which ends when this process closes the connection, or ends."""
        parent_end, child_end = multiprocessing.Pipe()
        # A copy has our ends of all connections too, and would keep the other workers from ending with them.
        fork(_serve, self._work, child_end, [*self._connections, parent_end])
        child_end.close()
        return parent_end

    def _dismiss(self) -> None:
        """Let all workers end after their present job; the next call starts others."""
        for connection in self._connections:
            connection.close()
        self._connections = []

    def _reset_after_fork(self) -> None:
        """Leave workers that this process inherited by a fork to the process that started them."""
        if self._process != os.getpid():
            self._dismiss()
            self._forget()

    def _send(self, connection: Connection, job: Job) -> None:
        with contextlib.suppress(BrokenPipeError):  # the command line takes it for a closed output
            connection.send(job)
            return
        raise self._killed()

    def _receive(self, connection: Connection) -> Result:
        try:
            received: Answer[Result] = connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._killed() from None
        return received.get()

    def _killed(self) -> ResourceError:
        return ResourceError("a worker process was killed", advice=self._advice)


def _serve(work: Callable[[Job], Result], connection: Connection, inherited: Sequence[Connection]) -> None:
    """Do jobs until the connection closes."""
    leave_signals_to_parent()
    threadpool_limits(1)
    for other in inherited:
        other.close()
    close_other_sockets(connection.fileno())
    with contextlib.suppress(EOFError, ConnectionResetError, BrokenPipeError):
        while True:
            connection.send(answer(partial(work, connection.recv())))
