"""Items made ready ahead of time by a thread."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")


def prefetch(items: Iterator[Item], ahead: int = 2) -> Iterator[Item]:
    """Yield the same items, computed up to `ahead` early by a thread, which ends with the iterator.

    An error of `items` is raised in the place of its item.
    """
    waiting: queue.Queue[tuple[Item | None, BaseException | None, bool]] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Item | None, error: BaseException | None, last: bool) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put((item, error, last), timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put(item, None, False):
                    return
            put(None, None, True)
        except BaseException as error:
            put(None, error, True)

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error, last = waiting.get()
            if error is not None:
                raise error
            if last:
                return
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
