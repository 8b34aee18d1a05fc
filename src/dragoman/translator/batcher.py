"""Batches that callers of several threads share, as in a server: one thread searches for all of them.

While it searches, further calls gather. The next round takes jobs of equal settings from all calls in turn, so a long
text delays a short one by one round at most. Rounds are short while several calls come. No call waits for a batch to
fill.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Self

from dragoman.settings.search_config import SearchConfig
from dragoman.translator.checking import positive
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Candidate, Search, StopCondition

#: The part of a batch that a long call fills in a round that it shares with others.
SHARED_PART = 1 / 4
_CLOSED = "the batcher is closed; translate inside the block of `shared()`"


class Batcher:
    """One search for any number of threads, until it is closed. A call that fails, is late or is cancelled ends alone.

    Args:
        searcher: called by one thread only, with jobs of equal settings.
        batch_size: source tokens of a batch, padding included, unless a call says otherwise.
        n_batches: batches that are searched in one round: one for each worker process.
    """

    def __init__(self, searcher: Search, batch_size: int, n_batches: int = 1) -> None:
        self._searcher = searcher
        self._batch_size = batch_size
        self._n_batches = n_batches
        #: By process id, because a forked process has no copy of the thread.
        self._threads: dict[int, _SearchThread] = {}
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Refuse further calls, and wait for the earlier ones."""
        self._is_closed = True
        if thread := self._threads.get(os.getpid()):
            thread.close()

    def submit(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> Future[list[list[Candidate]]]:
        """Return a future of what `search` returns. Cancelling it stops the search for this call.

        Raises:
            RuntimeError: the batcher is closed.
            ConfigError: `batch_size` is no whole number of one or more.
        """
        if self._is_closed:
            raise RuntimeError(_CLOSED)
        call = _Call(jobs, self._batch_size if batch_size is None else positive(batch_size, "batch_size"), stop)
        if not jobs:
            call.finish()
            return call.future
        thread = self._threads.get(os.getpid())
        if thread is None:
            thread = self._threads.setdefault(os.getpid(), _SearchThread(self._searcher, self._n_batches))
        thread.add(call)
        return call.future

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """See `Pipeline.search`."""
        stop = stop or StopCondition()
        future = self.submit(jobs, batch_size=batch_size, stop=stop)
        try:
            wait([future], stop.seconds_left)
        except BaseException:  # an interrupt
            future.cancel()
            raise
        if future.cancel():
            raise stop.error()
        return future.result()


class _Call:
    """The jobs of one caller. All methods belong to the thread that searches."""

    def __init__(self, jobs: Sequence[SearchJob], batch_size: int, stop: StopCondition | None) -> None:
        self.jobs = jobs
        self.batch_size = batch_size
        self.stop = stop or StopCondition()
        self.future: Future[list[list[Candidate]]] = Future()
        #: Jobs that no round has taken yet, the longest first.
        self.waiting = deque(sorted(range(len(jobs)), key=lambda index: -len(jobs[index].ids)))
        self._found: list[list[Candidate]] = [[] for _ in jobs]
        self._n_missing = len(jobs)
        self._is_settled = False

    @property
    def settings(self) -> tuple[SearchConfig, int]:
        """The settings of its next job; jobs of equal settings are searched together."""
        return self.jobs[self.waiting[0]].config, self.batch_size

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
        self._n_missing -= 1
        if not self._n_missing:
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
        if self._is_settled:
            return False
        self._is_settled = True
        return self.future.set_running_or_notify_cancel()


class _SearchThread:
    """A thread that searches round after round while there are calls."""

    def __init__(self, searcher: Search, n_batches: int) -> None:
        self._searcher = searcher
        self._n_batches = n_batches
        self._lock = threading.Lock()
        self._is_closed = False
        #: Calls that the thread has not seen; None is the last.
        self._inbox: SimpleQueue[_Call | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="dragoman batcher", daemon=True)

    def add(self, call: _Call) -> None:
        """Search for a call, from the next round on."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError(_CLOSED)
            if not self._thread.ident:
                self._thread.start()
            self._inbox.put(call)

    def close(self) -> None:
        """End the thread after the calls that were added."""
        with self._lock:
            self._is_closed = True
            self._inbox.put(None)
        if self._thread.ident:
            self._thread.join()

    def _run(self) -> None:
        calls: list[_Call] = []
        is_closing = False
        was_shared = False
        while calls or not is_closing:
            while not is_closing and (not calls or not self._inbox.empty()):
                call = self._inbox.get()
                if call is None:
                    is_closing = True
                else:
                    calls.append(call)
            calls = [call for call in calls if call.is_open()]
            if calls:
                jobs_of_calls = _next_round(calls, self._n_batches, was_shared)
                self._search_for(jobs_of_calls)
                had_a_turn = {call for call, _ in jobs_of_calls}
                was_shared = len(had_a_turn) > 1
                calls.sort(key=lambda call: call in had_a_turn)  # they are the last in the next round

    def _search_for(self, jobs_of_calls: list[tuple[_Call, int]]) -> None:
        """Search for jobs of some calls; if that fails, for each call by itself, so that only one of them fails."""
        calls = list(dict.fromkeys(call for call, _ in jobs_of_calls))
        latest = max(call.stop.deadline for call in calls)
        stop = StopCondition(latest, lambda: not [call for call in calls if call.is_open()])
        jobs = [call.jobs[index] for call, index in jobs_of_calls]
        try:
            batch_size = _shared_out(jobs, calls[0].batch_size, self._n_batches)
            results = self._searcher.search(jobs, batch_size=batch_size, stop=stop)
        except BaseException as error:  # the thread must live on for other calls
            if len(calls) == 1:
                calls[0].fail(error)
                return
            for call in filter(_Call.is_open, calls):
                self._search_for([(owner, index) for owner, index in jobs_of_calls if owner is call])
            return
        for (call, index), candidates in zip(jobs_of_calls, results, strict=True):
            call.add(index, candidates)


def _next_round(calls: Sequence[_Call], n_batches: int, was_shared: bool) -> list[tuple[_Call, int]]:
    """Take jobs with the settings of the first call from all calls: one of each until the batches are full, then more.

    Args:
        was_shared: True if the round before had several calls. Those that it answered may be about to call again.
    """
    settings = calls[0].settings
    n_tokens = n_batches * settings[1]
    turns = deque(call for call in calls if call.settings == settings)
    n_first_turns = len(turns)
    n_filling = n_tokens * (SHARED_PART if n_first_turns > 1 or was_shared else 1)
    round_jobs: list[tuple[_Call, int]] = []
    longest = 0
    while turns:
        call = turns.popleft()
        longest = max(longest, len(call.jobs[call.waiting[0]].ids) + 1)
        limit = n_tokens if len(round_jobs) < n_first_turns else n_filling
        if round_jobs and (len(round_jobs) + 1) * longest > limit:
            break
        round_jobs.append((call, call.waiting.popleft()))
        if call.waiting and call.settings == settings:
            turns.append(call)
    return round_jobs


def _shared_out(jobs: Sequence[SearchJob], batch_size: int, n_batches: int) -> int:
    """Return the tokens of a batch, fewer than `batch_size` if a few jobs would leave some workers without one."""
    longest = max(len(job.ids) + 1 for job in jobs)
    return min(batch_size, -(-len(jobs) // n_batches) * longest)
