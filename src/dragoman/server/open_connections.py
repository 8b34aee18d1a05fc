"""Limits on connections, before a request is there: their number, slow heads, and clients that do not read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_BUSY = json.dumps({"error": "the server has too many connections"}).encode()
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


class GuardedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that ends if its client is too slow.

    Args:
        open: all connections of the server.
        limit: the most that are open; others are refused.
        seconds: in which the head of a request must have arrived, and in which a client must go on reading.
        arguments: uvicorn's.
    """

    def __init__(self, open: set[GuardedConnection], limit: int, seconds: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._open, self._limit, self._seconds = open, limit, seconds
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin, or refuse if there are too many."""
        if len(self._open) >= self._limit:
            transport.write(_REFUSAL)
            transport.close()
            return
        self._open.add(self)
        super().connection_made(transport)
        self._watch("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self in self._open:
            self._open.discard(self)
            for name in list(self._timers):
                self._forget(name)
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self not in self._open:
            return
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._watch("head")
        else:
            self._forget("head")

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        self._watch("write")
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on, because it reads again."""
        self._forget("write")
        super().resume_writing()

    def _watch(self, name: str) -> None:
        """Hang up after some seconds, unless it is forgotten before; the first call counts."""
        if name not in self._timers:
            self._timers[name] = asyncio.get_running_loop().call_later(self._seconds, self.transport.abort)

    def _forget(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()
