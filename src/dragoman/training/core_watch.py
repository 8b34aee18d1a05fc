"""A warning when other programs use the cores of a training, whose threads then wait for each other."""

from __future__ import annotations

import logging
import os

_log = logging.getLogger(__name__)

#: A training shares its cores if its threads get less than this part of their time, and more programs are at work than
#: there are cores. Two threads that share are slower than one that does not (lab/speed-notes.md, "Cores that others
#: use").
SHARED = 0.6
#: Seconds of training that must have been seen.
ENOUGH_SECONDS = 5.0


class CoreWatch:
    """Compares the processor time of training steps with the time that they took.

    Args:
        n_threads: threads that compute a step.
    """

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._seconds = self._cpu_seconds = 0.0
        self._is_told = False

    def add(self, seconds: float, cpu_seconds: float) -> None:
        """Count a step: the time it took, and the processor time of all threads in it."""
        self._seconds += seconds
        self._cpu_seconds += cpu_seconds

    def log(self) -> None:
        """Warn once that the cores are shared, if they are."""
        if self._is_told or self._n_threads < 2 or self._seconds < ENOUGH_SECONDS:
            return
        n_busy = self._cpu_seconds / self._seconds
        self._seconds = self._cpu_seconds = 0.0
        if n_busy < SHARED * self._n_threads and _is_crowded():
            self._is_told = True
            n_fewer = max(1, round(n_busy))
            _log.warning(
                f"other programs use the cores: {self._n_threads} threads got the time of {n_busy:.1f} "
                f"cores and wait for each other; OMP_NUM_THREADS={n_fewer} may be faster"
            )


def _is_crowded() -> bool:
    """Return True if more threads want to run than there are cores; False if the system does not say."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1) + 0.5
