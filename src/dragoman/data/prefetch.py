"""Items made ready ahead of time by a thread."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class _End:
    """Follows the last item, with the error that ended them."""

    error: BaseException


class Prefetch(Generic[Item]):
    """An iterator over the same items, computed early by a thread, which runs while it is entered.

    An error of `items` is raised in the place of its item.

    Args:
        items: closed in the end.
        ahead: items that wait, at most.
    """

    def __init__(self, items: Generator[Item], ahead: int = 2) -> None:
        self._items = items
        self._waiting: queue.Queue[Item | _End] = queue.Queue(ahead)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="prefetch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    @property
    def is_ready(self) -> bool:
        """True if the next item need not be waited for."""
        return not self._waiting.empty()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        item = self._waiting.get()
        if isinstance(item, _End):
            self._waiting.put(item)  # for whoever asks again
            raise item.error
        return item

    def _work(self) -> None:
        end = _End(StopIteration())
        try:
            with contextlib.closing(self._items):
                for item in self._items:
                    if not self._put(item):
                        return
        except BaseException as error:
            end = _End(error)
        self._put(end)

    def _put(self, item: Item | _End) -> bool:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._waiting.put(item, timeout=0.1)
                return True
        return False
