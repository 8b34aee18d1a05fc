"""Processes that prepare texts and documents for all clients in turn: none holds up another for longer than a call.

What they do is Python that reads what strangers send. It is limited there in time and RAM, and the event loop, which
answers everybody, never waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from dragoman.machine.limited_process import LimitedProcess
from dragoman.translator import StopCondition

Work = TypeVar("Work")
Result = TypeVar("Result")

#: Numbers of calls whose process is remembered.
_MOST_HOMES = 1_000
#: The client whose request is being answered, and the time until which it must be.
CLIENT: ContextVar[str] = ContextVar("client", default="")
STOP: ContextVar[StopCondition | None] = ContextVar("stop", default=None)


class Helpers(Generic[Work]):
    """A few processes that call functions. It belongs to the thread of the event loop.

    Args:
        number: of processes.
        seconds: of processor time, the most for one call.
        shared: the first argument of each call; the processes have it as it was when they were made.
    """

    def __init__(self, number: int, seconds: float, shared: Work) -> None:
        self._seconds = seconds
        self._all = [LimitedProcess[Any, Any](lambda job: job[0](shared, *job[1])) for _ in range(number)]
        self._idle = list(self._all)
        self._waiting: list[tuple[str, asyncio.Future[LimitedProcess[Any, Any]]]] = []
        self._running: Counter[str] = Counter()
        self._homes: OrderedDict[int | None, LimitedProcess[Any, Any]] = OrderedDict()
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="dragoman helper")

    def start(self) -> None:
        """Make the processes."""
        for process in self._all:
            process.start()

    async def call(
        self, function: Callable[..., Result], *arguments: object, stop: StopCondition, number: int | None = None
    ) -> Result:
        """Call a function of a module, with what is shared and the arguments, when it is the client's turn.

        Args:
            number: of calls that are faster in the same process.

        Raises:
            DeadlineError: there was not enough time.
            DataError: it took too much RAM.
            ResourceError: its process was killed.
        """
        client, loop, is_wanted = CLIENT.get(), asyncio.get_running_loop(), threading.Event()
        process = await self._turn(client, stop, self._homes.pop(number, None))
        if number is not None:
            self._homes[number] = process
            if len(self._homes) > _MOST_HOMES:
                self._homes.popitem(last=False)
        is_wanted.set()
        left = stop.seconds_left
        seconds = self._seconds if left is None else min(self._seconds, max(left, 0.01))
        done = loop.run_in_executor(self._threads, process.call, (function, arguments), seconds, is_wanted.is_set)
        done.add_done_callback(lambda _: self._release(client, process))
        try:
            found: Result = await asyncio.shield(done)
        except asyncio.CancelledError:
            is_wanted.clear()
            done.add_done_callback(asyncio.Future.exception)  # nobody else looks at it
            raise
        return found

    async def _turn(
        self, client: str, stop: StopCondition, home: LimitedProcess[Any, Any] | None
    ) -> LimitedProcess[Any, Any]:
        """Wait for a process, `home` if it is idle. The client with the fewest running calls is next."""
        if not self._idle:
            turn: asyncio.Future[LimitedProcess[Any, Any]] = asyncio.get_running_loop().create_future()
            self._waiting.append((client, turn))
            try:
                async with asyncio.timeout(stop.seconds_left):
                    return await turn
            except BaseException as error:
                if turn.done() and not turn.cancelled():
                    self._release(client, turn.result())
                if isinstance(error, TimeoutError):
                    raise stop.error() from None
                raise
            finally:
                self._waiting = [each for each in self._waiting if each[1] is not turn]
        self._running[client] += 1
        self._idle.sort(key=lambda process: process is home)
        return self._idle.pop()

    def _release(self, client: str, process: LimitedProcess[Any, Any]) -> None:
        self._running -= Counter((client,))
        self._idle.append(process)
        waiting = [each for each in self._waiting if not each[1].done()]
        if waiting:
            name, turn = min(waiting, key=lambda each: self._running[each[0]])
            self._running[name] += 1
            turn.set_result(self._idle.pop())

    def close(self) -> None:
        """End the processes, whatever they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            if process in self._idle:
                process.end()
            else:  # its thread sees it
                process.kill()
