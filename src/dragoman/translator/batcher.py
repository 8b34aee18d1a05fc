"""Batches that callers of several threads share, as in a server: each of a few threads searches for all of them.

A thread that is free takes the next batch: jobs of equal settings from all calls in turn, so a long text delays a short
one by one batch at most. No thread waits for another, and no call waits until a batch is full.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Self

from dragoman.settings.search_config import SearchConfig
from dragoman.translator.checking import positive
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Candidate, Search, StopCondition
from dragoman.translator.turns import Call, take_in_turn

#: Seconds after the last time that several calls waited, in which a batch still has one job of each call only.
SHARED_SECONDS = 1.0
_CLOSED = "the batcher is closed; translate inside the block of `shared()`"


class Batcher:
    """Searches for any number of threads, until it is closed. A call that fails, is late or is cancelled ends alone.

    Args:
        searchers: each is called by one thread, with the jobs of one batch, which have equal settings.
        batch_size: source tokens of a batch, padding included, unless a call says otherwise.
        least_batch: see `Searcher.least_batch`. While fewer jobs wait, each is a batch by itself.
    """

    def __init__(
        self,
        searchers: Sequence[Search],
        batch_size: int,
        least_batch: Callable[[SearchConfig], int] = lambda _: 1,
    ) -> None:
        self._searchers = searchers
        self._batch_size = batch_size
        self._least_batch = least_batch
        #: By process id, because a forked process has no copy of the threads.
        self._threads: dict[int, _SearchThreads] = {}
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Refuse further calls, and wait for the earlier ones."""
        self._is_closed = True
        if threads := self._threads.get(os.getpid()):
            threads.close()

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
        call = Call(jobs, self._batch_size if batch_size is None else positive(batch_size, "batch_size"), stop)
        if not jobs:
            call.finish()
            return call.future
        threads = self._threads.get(os.getpid())
        if threads is None:
            threads = self._threads.setdefault(os.getpid(), _SearchThreads(self._searchers, self._least_batch))
        threads.add(call)
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


class _SearchThreads:
    """Threads that search batch after batch while there are calls."""

    def __init__(self, searchers: Sequence[Search], least_batch: Callable[[SearchConfig], int]) -> None:
        self._least_batch = least_batch
        self._changed = threading.Condition()
        self._is_closed = False
        #: Calls that were not answered, in the order of their next turns.
        self._calls: list[Call] = []
        self._last_shared = -SHARED_SECONDS
        self._n_searching = 0
        self._threads = [
            threading.Thread(target=self._run, args=[searcher], name="dragoman batcher", daemon=True)
            for searcher in searchers
        ]

    def add(self, call: Call) -> None:
        """Add a call; its jobs are taken from the next batch on."""
        with self._changed:
            if self._is_closed:
                raise RuntimeError(_CLOSED)
            for thread in self._threads:
                if not thread.ident:
                    thread.start()
            self._calls.append(call)
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads after the calls that were added."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.ident:
                thread.join()

    def _run(self, searcher: Search) -> None:
        while batch := self._next_batch():
            _search_for(searcher, batch)
            with self._changed:
                self._n_searching -= 1

    def _next_batch(self) -> list[tuple[Call, int]]:
        """Wait for calls, and take jobs of some of them. There are none after the last call."""
        with self._changed:
            while not (batch := self._take()) and not self._is_closed:
                self._changed.wait()
            return batch

    def _take(self) -> list[tuple[Call, int]]:
        """Take jobs with the settings of the next call, from at most this thread's share of the calls."""
        self._calls = [call for call in self._calls if call.is_open()]
        waiting = [call for call in self._calls if call.waiting]
        if not waiting:
            return []
        now = time.monotonic()
        if len(self._calls) > 1:
            self._last_shared = now
        is_shared = now < self._last_shared + SHARED_SECONDS
        settings = next(iter(waiting[0].waiting))
        turns = [call for call in waiting if settings in call.waiting][: _part(len(self._calls), len(self._threads))]
        most = _part(sum(call.n_waiting for call in waiting), len(self._threads) - self._n_searching)
        if is_shared:
            most = min(most, len(turns))
        if most < self._least_batch(settings[0]):
            most = 1
        batch = take_in_turn(turns, settings, most)
        self._n_searching += 1
        had_a_turn = {call for call, _ in batch}
        self._calls.sort(key=lambda call: call in had_a_turn)  # these calls go to the end of the queue
        return batch


def _part(number: int, n_parts: int) -> int:
    return -(-number // n_parts)


def _search_for(searcher: Search, batch: Sequence[tuple[Call, int]]) -> None:
    """Search for a batch; if that fails, for each call by itself, so that only one of them fails."""
    calls = list(dict.fromkeys(call for call, _ in batch))
    latest = max(call.stop.deadline for call in calls)
    stop = StopCondition(latest, lambda: not [call for call in calls if call.is_open()])
    try:
        # As large as the whole batch, so that the searcher does not cut it.
        n_tokens = len(batch) * max(len(call.jobs[index].ids) + 1 for call, index in batch)
        results = searcher.search([call.jobs[index] for call, index in batch], batch_size=n_tokens, stop=stop)
        answers = list(zip(batch, results, strict=True))
    except BaseException as error:  # the thread must live on for other calls
        if len(calls) == 1:
            calls[0].fail(error)
            return
        for call in filter(Call.is_open, calls):
            _search_for(searcher, [(owner, index) for owner, index in batch if owner is call])
        return
    for (call, index), candidates in answers:
        call.add(index, candidates)
