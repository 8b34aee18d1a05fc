"""A client that may go away: its request is cancelled, and nobody searches for it any more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

Result = TypeVar("Result")


class ClientGoneError(Exception):
    """The client closed its connection before its answer was there."""


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`, and cancel it if the client goes away. The request's body must have been read.

    Raises:
        ClientGoneError: it went away.
    """
    task, gone = asyncio.create_task(work), asyncio.create_task(_wait_until_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGoneError
    finally:
        for each in (task, gone):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
