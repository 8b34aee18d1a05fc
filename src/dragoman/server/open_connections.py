"""Limits on connections, before a request is there: their number, slow heads, and clients that do not read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

_BUSY = json.dumps({"error": "the server has too many connections"}).encode()
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


class HttpProtocol(Protocol):
    """The part of uvicorn's protocol of a connection that is needed."""

    #: The latest request and its answer, which has an attribute `response_complete`; None before the first.
    cycle: Any

    def connection_made(self, transport: asyncio.Transport) -> None:
        """See `asyncio.Protocol`."""

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""

    def eof_received(self) -> bool | None:
        """See `asyncio.Protocol`."""

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""


@dataclass
class OpenConnections:
    """The connections of one server. A call returns the protocol of one more, as uvicorn makes them.

    Args:
        limit: the most that are open; others are refused.
        seconds: in which the head of a request must have arrived, and in which a client must go on reading.
        make: makes uvicorn's own protocol.
    """

    limit: int
    seconds: float
    make: Callable[..., HttpProtocol]
    open: set[GuardedConnection] = field(default_factory=set)

    def __call__(self, **arguments: Any) -> asyncio.Protocol:
        """Return the protocol of a connection.

        Args:
            arguments: uvicorn's, for its own protocol.
        """
        return GuardedConnection(self, self.make(**arguments))


class GuardedConnection(asyncio.Protocol):
    """A connection that ends if its client is too slow, around uvicorn's protocol."""

    def __init__(self, all_connections: OpenConnections, inner: HttpProtocol) -> None:
        self._all = all_connections
        self._inner = inner
        self._transport: asyncio.Transport | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or refuse if there are too many."""
        stream = cast(asyncio.Transport, transport)
        if len(self._all.open) >= self._all.limit:
            stream.write(_REFUSAL)
            stream.close()
            return
        self._all.open.add(self)
        self._transport = stream
        self._inner.connection_made(stream)
        self._watch("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._transport is not None:
            self._all.open.discard(self)
            for name in list(self._timers):
                self._forget(name)
            self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on a part of a request."""
        if self._transport is None:
            return
        self._inner.data_received(data)
        cycle = self._inner.cycle
        if cycle is None or cycle.response_complete:
            self._watch("head")
        else:
            self._forget("head")

    def eof_received(self) -> bool | None:
        """Pass on that the client sends nothing more."""
        return self._inner.eof_received() if self._transport is not None else None

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        self._watch("write")
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Go on, because it reads again."""
        self._forget("write")
        self._inner.resume_writing()

    def _watch(self, name: str) -> None:
        """Hang up after some seconds, unless it is forgotten before; the first call counts."""
        if name not in self._timers and self._transport is not None:
            loop = asyncio.get_running_loop()
            self._timers[name] = loop.call_later(self._all.seconds, self._transport.abort)

    def _forget(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()
