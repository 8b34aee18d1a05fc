"""A client that may go away: its request is cancelled, and nobody searches for it any more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from dragoman.errors import DragomanError
from dragoman.server.helpers import STOP
from dragoman.server.server_parts import ServerParts
from dragoman.translator import StopCondition

Result = TypeVar("Result")

#: Seconds for finishing what was found until the time was over.
_MORE_SECONDS = 1.0


class ClientGoneError(Exception):
    """The client closed its connection before its answer was there."""


async def answered(parts: ServerParts, request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work` in time, and cancel it if the client goes away. The body must have been read.

    Raises:
        ApiError: it took too long, or the translator refused it.
        ClientGoneError: the client went away.
    """
    stop = StopCondition.after(parts.config.timeout)
    STOP.set(stop)
    with parts.pulse.waiting():
        try:
            async with asyncio.timeout(parts.config.timeout + _MORE_SECONDS):
                return await _while_connected(request, work)
        except TimeoutError:
            raise parts.refusal_of(stop.error()) from None
        except DragomanError as error:
            raise parts.refusal_of(error) from error


async def _while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
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
