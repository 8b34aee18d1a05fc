"""Calls that share batches: who waits for which jobs, and whose turn it is."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from dragoman.settings.search_config import SearchConfig
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Candidate, StopCondition


class Call:
    """The jobs of one caller. `waiting` belongs to the lock of the threads that search."""

    def __init__(self, jobs: Sequence[SearchJob], batch_size: int, stop: StopCondition | None) -> None:
        self.jobs = jobs
        self.batch_size = batch_size
        self.stop = stop or StopCondition()
        self.future: Future[list[list[Candidate]]] = Future()
        #: Jobs that no batch has taken yet, the longest first.
        self.waiting = deque(sorted(range(len(jobs)), key=lambda index: -len(jobs[index].ids)))
        self._found: list[list[Candidate]] = [[] for _ in jobs]
        self._n_missing = len(jobs)
        self._is_settled = False
        self._lock = threading.Lock()

    @property
    def settings(self) -> tuple[SearchConfig, bool, bool, int]:
        """The settings of its next job; jobs of equal settings are searched together."""
        return *self.jobs[self.waiting[0]].settings, self.batch_size

    @property
    def length(self) -> int:
        """Source tokens of its next job."""
        return len(self.jobs[self.waiting[0]].ids) + 1

    def is_open(self) -> bool:
        """Return True if its caller still waits. Fail the call if it should stop."""
        try:
            if self.stop():
                self.fail(self.stop.error())
        except BaseException as error:  # raised by the caller's own `is_cancelled`
            self.fail(error)
        if self.future.cancelled():
            self._settle()
        return not self._is_settled

    def add(self, index: int, candidates: list[Candidate]) -> None:
        """Keep the candidates of a job, and give the caller all of them after the last."""
        self._found[index] = candidates
        with self._lock:
            self._n_missing -= 1
            is_last = not self._n_missing
        if is_last:
            self.finish()

    def finish(self) -> None:
        """Give the caller the candidates."""
        if self._settle():
            self.future.set_result(self._found)

    def fail(self, error: BaseException) -> None:
        """Give the caller an error."""
        if self._settle():
            self.future.set_exception(error)

    def _settle(self) -> bool:
        """Return True the first time, if the caller still waits. A cancelled future wakes its waiters."""
        with self._lock:
            if self._is_settled:
                return False
            self._is_settled = True
        return self.future.set_running_or_notify_cancel()


def take_in_turn(calls: Sequence[Call], most: int, filled: float) -> list[tuple[Call, int]]:
    """Take jobs of equal settings from calls in turn: one of each until the batch is full, then more.

    Args:
        most: jobs.
        filled: the part of a batch after which each call has one job only.
    """
    settings, n_tokens = calls[0].settings, calls[0].batch_size
    turns = deque(calls)
    batch: list[tuple[Call, int]] = []
    longest = 0
    while turns and len(batch) < most:
        call = turns.popleft()
        longest = max(longest, call.length)
        limit = n_tokens if len(batch) < len(calls) else n_tokens * filled
        if batch and (len(batch) + 1) * longest > limit:
            break
        batch.append((call, call.waiting.popleft()))
        if call.waiting and call.settings == settings:
            turns.append(call)
    return batch
