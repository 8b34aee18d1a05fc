"""The lines that a server has accepted and not translated: at most so many, so that RAM and waiting stay bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dragoman.errors import counted
from dragoman.server.api_errors import ApiError

#: The most seconds that a refused client is told to wait, and the seconds over which the speed is measured.
MOST_SECONDS, _WINDOW = 60, 10.0


class LineQueue:
    """A count of lines. It belongs to the thread of the event loop.

    Args:
        limit: lines; a request with more of them is accepted only if no other line is waiting.
        clock: seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self.n_waiting = 0
        self.is_closed = False
        self._n_done, self._since, self._per_second = 0, clock(), 0.0

    def require_room(self, n_lines: int) -> None:
        """Refuse lines for which there is no room.

        Raises:
            ApiError: there are too many already, or the server stops.
        """
        if self.is_closed:
            raise ApiError(503, "the server stops", self.busy_seconds)
        if self.n_waiting and self.n_waiting + n_lines > self._limit:
            problem = f"the server is busy: {counted(self.n_waiting, 'line is', 'lines are')} waiting"
            raise ApiError(503, problem, self.busy_seconds)

    @contextmanager
    def accept(self, n_lines: int) -> Iterator[None]:
        """Count lines until the block ends.

        Raises:
            ApiError: as `require_room`.
        """
        self.require_room(n_lines)
        with self.hold(n_lines):
            yield

    @contextmanager
    def hold(self, n_lines: int) -> Iterator[None]:
        """Count lines of a request that was accepted, until the block ends."""
        self.n_waiting += n_lines
        try:
            yield
        finally:
            self.n_waiting -= n_lines
            self._count(n_lines)

    @property
    def busy_seconds(self) -> int:
        """Seconds that the lines now waiting will take, by the speed of the last ones; 1 to `MOST_SECONDS`."""
        seconds = self.n_waiting / self._per_second if self._per_second else 1.0
        return max(1, min(MOST_SECONDS, round(seconds)))

    def _count(self, n_lines: int) -> None:
        self._n_done += n_lines
        seconds = self._clock() - self._since
        if seconds >= _WINDOW or not self._per_second:
            self._per_second = self._n_done / max(seconds, 0.1)
            self._n_done, self._since = 0, self._clock()
