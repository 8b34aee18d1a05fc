"""The bodies of requests as they arrive: the longest, the bytes of all together, and the time that each may take."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from dragoman.server.api_errors import ApiError
from dragoman.settings.server_config import ServerConfig

#: Bytes of a body that always have room, and all bytes beyond that, in bodies of the longest kind.
SMALL, _MOST_LONG = 2**16, 16
#: Brackets, braces, commas and colons of JSON: a megabyte of them takes seconds to read and a hundred in RAM.
_MARKS, _MOST_MARKS = (b"[", b"{", b",", b":"), 200_000
_STRING = rb'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"?+'
_TOO_MANY = re.compile(rb'(?:(?:[^"\[{,:]++|%b)*+[\[{,:]){%d}+' % (_STRING, _MOST_MARKS + 1))


class Bodies:
    """The bodies of all requests to one server. It belongs to the thread of the event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self.limit, self.seconds = config.body_limit, config.read_timeout
        #: Bytes that are held, without the first `SMALL` of each body, so that a short text has room at any time.
        self.n_bytes = 0
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of a body whose reading holds up the event loop: between two, others are answered."""
        async with self._turn:
            await asyncio.sleep(0)
            yield

    @property
    def most_bytes(self) -> int:
        """The most of `n_bytes`."""
        return _MOST_LONG * self.limit

    def open(self, scope: Scope, receive: Receive) -> Body:
        """Return the body of a request; its bytes count until the block ends.

        Raises:
            ApiError: it says that it is too long.
        """
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and (len(announced) > 20 or int(announced) > self.limit):
            raise self.too_long()
        return Body(self, receive)

    def too_long(self) -> ApiError:
        """Return the answer to a body of more bytes than are allowed."""
        return ApiError(413, f"the request has more than {self.limit:,} bytes")


class Body:
    """One body, which nobody holds but who reads it."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies, self._receive = bodies, receive
        self._end = asyncio.get_running_loop().time() + bodies.seconds
        self._n_bytes, self._is_complete = 0, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bodies.n_bytes -= max(0, self._n_bytes - SMALL)
        self._n_bytes = 0

    async def receive(self) -> Message:
        """Return the next part.

        Raises:
            ApiError: it is too long, comes too slowly, or there is no room for it.
        """
        if self._is_complete:  # only the end of the connection can follow
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            raise ApiError(408, f"the request did not arrive within {self._bodies.seconds:g} seconds") from None
        self._count(len(message.get("body", b"")))
        self._is_complete = not message.get("more_body", False)
        return message

    def _count(self, n_bytes: int) -> None:
        before, self._n_bytes = self._n_bytes, self._n_bytes + n_bytes
        self._bodies.n_bytes += max(0, self._n_bytes - SMALL) - max(0, before - SMALL)
        if self._n_bytes > self._bodies.limit:
            raise self._bodies.too_long()
        if self._bodies.n_bytes > self._bodies.most_bytes:
            raise ApiError(503, "the server has too many long requests", 1)


def parse_json(body: bytes, wrong: Callable[[], ApiError]) -> Any:
    """Return the value of JSON.

    Args:
        wrong: makes the error for what is none.

    Raises:
        ApiError: it is none, or has too many values.
    """
    if sum(map(body.count, _MARKS)) > _MOST_MARKS and _TOO_MANY.match(body):
        raise ApiError(400, f"the JSON has more than {_MOST_MARKS:,} values")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise wrong() from None
