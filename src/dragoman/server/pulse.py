"""The pulse of a server: it lives, but is not well, if somebody waits and nobody was answered for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dragoman.server.api_errors import ApiError


class Pulse:
    """The times of answers. It belongs to the thread of the event loop.

    Args:
        seconds: in which somebody must have been answered.
        clock: seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._n_waiting = 0
        #: The last answer, or the first request after it.
        self._since = clock()
        #: The last request had no answer, by the server's fault.
        self._is_failing = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a request until it is answered. The block fails if the server does, or the client goes away."""
        if not self._n_waiting and not self._is_failing:
            self._since = self._clock()
        self._n_waiting += 1
        try:
            yield
        except ApiError as error:
            self._is_failing = error.status >= 500
            raise
        else:
            self._is_failing = False
        finally:
            if not self._is_failing:
                self._since = self._clock()
            self._n_waiting -= 1

    def require(self) -> None:
        """Refuse to call the server well while nobody is answered.

        Raises:
            ApiError: somebody waits, and nobody was answered for too long.
        """
        seconds = self._clock() - self._since
        if self._n_waiting and seconds > self._seconds:
            raise ApiError(503, f"nobody was answered for {seconds:.0f} seconds")
