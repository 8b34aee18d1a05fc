"""A limit on what each client sends in a minute."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from dragoman.server.api_errors import ApiError

#: Clients that are remembered; the one that came least recently is forgotten.
MOST_CLIENTS = 100_000


class RateLimit:
    """A bucket for each client, which fills evenly within a minute. It belongs to the thread of the event loop.

    Args:
        per_minute: units; -1 is no limit.
        clock: seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        #: What each client has left, and when that was.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, cost: int) -> None:
        """Take units from a client's bucket. A request that costs more than the whole bucket needs a full one.

        Raises:
            ApiError: there are not enough.
        """
        if self._per_minute < 0:
            return
        now, left = self._clock(), self._units(client)
        self._left.pop(client, None)
        needed = min(cost, self._per_minute) if self._per_minute else cost
        is_allowed = needed <= left
        self._left[client] = (left - needed if is_allowed else left), now
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        if not is_allowed:
            raise self._refusal(needed - left)

    def require(self, client: str) -> None:
        """Refuse a client that has no unit left, and take none.

        Raises:
            ApiError: it has none.
        """
        left = self._units(client)
        if self._per_minute > 0 and left < 1:
            raise self._refusal(1 - left)

    def _units(self, client: str) -> float:
        now = self._clock()
        left, then = self._left.get(client, (float(self._per_minute), now))
        return min(self._per_minute, left + (now - then) * self._per_minute / 60)

    def _refusal(self, missing: float) -> ApiError:
        seconds = 60 if not self._per_minute else int(missing * 60 / self._per_minute) + 1
        return ApiError(429, f"Slowdown: {self._per_minute} per 1 minute", seconds)
