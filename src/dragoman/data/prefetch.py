"""Items made ready ahead of time by a thread."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class _End:
    """Follows the last item, with the error that ended them."""

    error: BaseException | None = None


def prefetch(items: Iterator[Item], ahead: int = 2) -> Iterator[Item]:
    """Yield the same items, computed up to `ahead` early by a thread, which ends with the iterator.

    An error of `items` is raised in the place of its item.
    """
    waiting: queue.Queue[Item | _End] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Item | _End) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=0.1)
                return True
        return False

    def work() -> None:
        end = _End()
        try:
            for item in items:
                if not put(item):
                    return
        except BaseException as error:
            end = _End(error)
        put(end)

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := waiting.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        thread.join()
