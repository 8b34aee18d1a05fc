"""The share of its time that a training waits for batches, and a warning with advice when it is large."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator
from typing import TypeVar

import torch

from dragoman.data.prefetch import Prefetch

_log = logging.getLogger(__name__)

Item = TypeVar("Item")

#: The share of the time that is worth a warning, and the seconds of training that must have been seen.
LARGE_SHARE, ENOUGH_SECONDS = 0.1, 5.0


class BatchWatch:
    """Measures how long steps wait for their batches.

    Args:
        n_workers: processes that make batches; 0 is a thread of this one.
        most_workers: processes that the cores of this machine have room for.
    """

    def __init__(self, device: torch.device, n_workers: int, most_workers: int) -> None:
        self._device, self._n_workers, self._most_workers = device, n_workers, most_workers
        self._waited = self._seconds = 0.0
        self._all_waited = self._all_seconds = 0.0
        self._is_told = False

    def watch(self, items: Prefetch[Item]) -> Iterator[Item]:
        """Yield the items, and count the time that the device has nothing to do while the next one is made.

        The first is not counted: nobody could have begun it earlier.
        """
        yield from itertools.islice(items, 1)
        while True:
            if not items.is_ready and self._device.type == "cuda":
                torch.cuda.synchronize(self._device)  # until then it has steps to compute
            started = time.perf_counter()
            item = next(items, None)
            self._waited += time.perf_counter() - started
            if item is None:
                return
            yield item

    def add(self, seconds: float) -> None:
        """Count the time of a step, its waiting included."""
        self._seconds += seconds

    def log(self) -> float:
        """Return the share of the time that steps waited since the last call, and warn once if it is large."""
        waited, seconds = self._waited, self._seconds
        self._waited = self._seconds = 0.0
        self._all_waited, self._all_seconds = self._all_waited + waited, self._all_seconds + seconds
        if self._all_seconds >= ENOUGH_SECONDS:
            share = self._all_waited / self._all_seconds
            self._all_waited = self._all_seconds = 0.0
            if share >= LARGE_SHARE and not self._is_told:
                self._is_told = True
                _log.warning(f"training waited {share:.0%} of the time for batches; {self._advice()}")
        return min(1.0, waited / seconds) if seconds else 0.0

    def _advice(self) -> str:
        if self._n_workers < self._most_workers:
            return f"training.batch_workers={self._most_workers} makes more at once (now {self._n_workers})"
        return "more cores would help, or a smaller part of the pairs changed by augmentation and tokenizer.sampling"
