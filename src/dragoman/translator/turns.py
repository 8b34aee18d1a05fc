"""Calls that share batches: the jobs of each call, and the order in which calls have their turns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from dragoman.settings.search_config import SearchConfig
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Candidate, StopCondition


class Call:
    """The jobs of one caller. The lock of the search threads also protects `waiting`."""

    def __init__(self, jobs: Sequence[SearchJob], batch_size: int, stop: StopCondition | None) -> None:
        self.jobs = jobs
        self.batch_size = batch_size
        self.stop = stop or StopCondition()
        self.future: Future[list[list[Candidate]]] = Future()
        #: Jobs that no batch has taken yet, the longest first.
        self.waiting = deque(sorted(range(len(jobs)), key=lambda index: -len(jobs[index].ids)))
        self._found: list[list[Candidate]] = [[] for _ in jobs]
        self._n_missing = len(jobs)
        self._is_done = False
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
            self._claim()
        return not self._is_done

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
        if self._claim():
            self.future.set_result(self._found)

    def fail(self, error: BaseException) -> None:
        """Give the caller an error."""
        if self._claim():
            self.future.set_exception(error)

    def _claim(self) -> bool:
        """Return True if the future may be set now: the first time, unless the caller cancelled it."""
        with self._lock:
            if self._is_done:
                return False
            self._is_done = True
        return self.future.set_running_or_notify_cancel()


def take_in_turn(calls: Sequence[Call], most: int, filled: float) -> list[tuple[Call, int]]:
    """Take jobs of equal settings from calls in turn: one job of each call, then more until the batch is full.

    Args:
        most: the most jobs to take.
        filled: the share of the batch, from 0 to 1, above which no call gets a second job.
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
