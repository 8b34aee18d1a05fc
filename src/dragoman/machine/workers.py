"""Processes that work at the same time, each with one thread, and share what this process has in RAM."""

from __future__ import annotations

import atexit
import contextlib
import gc
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
from dragoman.machine.forks import Answer, answer, can_fork, close_other_sockets, fork

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
        ends_by_close: no signal that a person may send ends a worker, only `close`, or the end of this process: it
            finishes what it is doing first, and needs them for that.

    Raises:
        ConfigError: fewer than one.
    """

    def __init__(
        self,
        work: Callable[[Job], Result],
        n_workers: int,
        advice: str = "use fewer",
        *,
        is_apart: bool = False,
        ends_by_close: bool = False,
    ) -> None:
        if n_workers < 1:
            raise ConfigError(f"{n_workers} workers", advice="use at least 1")
        self._work, self._n_workers, self._advice = work, n_workers, advice
        self._is_apart, self._ends_by_close = is_apart and can_fork(), ends_by_close
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
            return list(self._in_order(jobs, connections, len(jobs)))

    def imap(self, jobs: Iterable[Job], ahead: int = 0) -> Iterator[Result]:
        """Yield the result of each job, in order, while jobs are still being made: each worker has at most one.

        Args:
            ahead: jobs that may be begun or done before their turn, at least one for each worker. With more, a worker
                goes on while another is still at an earlier, longer job.

        Raises:
            ResourceError: a worker was killed, most likely for want of RAM.
        """
        if self.n_workers == 1 and not self._is_apart:
            yield from map(self._work, jobs)
            return
        self._reset_after_fork()
        with self._claim() as connections:
            yield from self._in_order(jobs, connections, max(ahead, len(connections)))

    def _in_order(self, jobs: Iterable[Job], connections: Sequence[Connection], most: int) -> Iterator[Result]:
        """Give each worker its next job as soon as it is done, never two, so that neither side waits to send.

        Args:
            most: jobs that may be begun or done before their turn.
        """
        remaining, idle, busy = enumerate(jobs), deque(connections), dict[Connection, int]()
        answers, turn = dict[int, Answer[Result]](), 0
        while True:
            while idle and len(busy) + len(answers) < most and (numbered := next(remaining, None)) is not None:
                connection = idle.popleft()
                busy[connection] = numbered[0]
                self._send(connection, numbered[1])
            if turn in answers:
                yield answers.pop(turn).get()
                turn += 1
            elif not busy:
                return
            else:
                ready = wait(list(busy))
                for connection in [each for each in busy if each in ready]:
                    answers[busy.pop(connection)] = self._receive(connection)
                    idle.append(connection)

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
            self.start()
            yield self._connections
        except BaseException:
            self.close()
            raise
        finally:
            self._is_busy = False

    def start(self) -> None:
        """Start the workers, if they are not there: a process is copied most safely while no other thread works."""
        if self._ends_by_close and not self._connections:
            atexit.register(self.close)  # called before Python waits for the processes that it started
        while len(self._connections) < self.n_workers:
            self._connections.append(self._start())

    def close(self) -> None:
        """Let all workers end after their present job; the next call starts others."""
        atexit.unregister(self.close)
        for connection in self._connections:
            connection.close()
        self._connections = []

    def _start(self) -> Connection:
        """Start a worker, which ends when this process closes the connection, or ends."""
        parent_end, child_end = multiprocessing.Pipe()
        # A copy has our ends of all connections too, and would keep the other workers from ending with them.
        inherited = [*self._connections, parent_end]
        fork(_serve, self._work, child_end, inherited, ends_by_close=self._ends_by_close)
        child_end.close()
        return parent_end

    def _reset_after_fork(self) -> None:
        """Leave workers that this process inherited by a fork to the process that started them."""
        if self._process != os.getpid():
            self.close()
            self._forget()

    def _send(self, connection: Connection, job: Job) -> None:
        with contextlib.suppress(BrokenPipeError):  # the command line takes it for a closed output
            connection.send(job)
            return
        raise self._killed()

    def _receive(self, connection: Connection) -> Answer[Result]:
        try:
            received: Answer[Result] = connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._killed() from None
        return received

    def _killed(self) -> ResourceError:
        return ResourceError("a worker process was killed", advice=self._advice)


def _serve(work: Callable[[Job], Result], connection: Connection, inherited: Sequence[Connection]) -> None:
    """Do jobs until the connection closes."""
    gc.freeze()  # what it shares stays shared
    threadpool_limits(1)
    for other in inherited:
        other.close()
    close_other_sockets(connection.fileno())
    with contextlib.suppress(EOFError, ConnectionResetError, BrokenPipeError):
        while True:
            connection.send(answer(partial(work, connection.recv())))
