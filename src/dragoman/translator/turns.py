"""Calls that share batches: the jobs of each call, and the order in which calls have their turns."""

from __future__ import annotations

import threading
from bisect import bisect
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from dragoman.settings.search_config import SearchConfig
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Candidate, StopCondition

#: Jobs of equal settings are searched together; the last is the batch size of their call.
Settings = tuple[SearchConfig, bool, bool, int]
#: Source tokens and index of jobs, the shortest first.
Lengths = list[tuple[int, int]]


class Call:
    """The jobs of one caller. The lock of the search threads also protects `waiting`."""

    def __init__(self, jobs: Sequence[SearchJob], batch_size: int, stop: StopCondition | None) -> None:
        self.jobs = jobs
        self.stop = stop or StopCondition()
        self.future: Future[list[list[Candidate]]] = Future()
        #: Jobs that no batch has taken yet, by their settings.
        self.waiting: dict[Settings, Lengths] = {}
        for length, index in sorted((len(job.ids) + 1, index) for index, job in enumerate(jobs)):
            self.waiting.setdefault((*jobs[index].settings, batch_size), []).append((length, index))
        self._found: list[list[Candidate]] = [[] for _ in jobs]
        self._n_missing = len(jobs)
        self._is_done = False
        self._lock = threading.Lock()

    @property
    def n_waiting(self) -> int:
        """Jobs that no batch has taken yet."""
        return sum(map(len, self.waiting.values()))

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


def take_in_turn(calls: Sequence[Call], settings: Settings, most: int) -> list[tuple[Call, int]]:
    """Take jobs from calls in turn: one of each call, then more until the batch is full.

    The first call gives its longest job. Each other gives one of nearly that length, the nearest of all calls first,
    so that a batch has little padding, and its translations end at about the same time.

    Args:
        settings: of jobs that each call has.
        most: the most jobs to take.
    """
    batch: list[tuple[Call, int]] = []
    longest = 0
    for call, waiting, place in _offers([(call, call.waiting[settings]) for call in calls]):
        longest = max(longest, waiting[place][0])
        if len(batch) == most or (batch and (len(batch) + 1) * longest > settings[-1]):
            break
        batch.append((call, waiting.pop(place)[1]))
    for call in calls:
        call.waiting = {key: jobs for key, jobs in call.waiting.items() if jobs}
    return batch


def _offers(turns: Sequence[tuple[Call, Lengths]]) -> Iterator[tuple[Call, Lengths, int]]:
    """Yield a job of each call, then another one of each: the call, its jobs, and the place of this one among them."""
    wanted, _ = turns[0][1][-1]
    while turns := [turn for turn in turns if turn[1]]:
        offers = [(call, waiting, _nearest(waiting, wanted)) for call, waiting in turns]
        yield from sorted(offers, key=lambda offer: abs(offer[1][offer[2]][0] - wanted))


def _nearest(waiting: Lengths, length: int) -> int:
    """Return the place of a job whose length is nearest to another."""
    after = min(bisect(waiting, (length,)), len(waiting) - 1)
    return after - (after > 0 and length - waiting[after - 1][0] <= waiting[after][0] - length)
