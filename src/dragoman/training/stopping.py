"""A polite end: the first SIGINT, SIGTERM or SIGHUP lets the step finish and be saved; the second stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

import torch

from dragoman.machine.processes import Processes
from dragoman.machine.signals import HANG_UP, ending_signals


class StopRequest:
    """Remembers, while it is entered, that a signal asked the training to stop."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._handle) for number in ending_signals()}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = number
        elif number == HANG_UP:
            return
        elif callable(previous := self._previous[number]):
            previous(number, frame)
        else:
            self.leave()

    def is_asked(self) -> bool:
        """Return True if this process was asked to stop."""
        return self.signal is not None

    def agree(self, processes: Processes, device: torch.device) -> bool:
        """Return True in all processes if any was asked to stop."""
        agreed = processes.max(self.signal or 0, device)
        if agreed:
            self.signal = agreed
        return bool(agreed)

    def leave(self) -> None:
        """End the process as the signal would have: exit status 130, 143 or 129."""
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal is not None:
            raise SystemExit(128 + self.signal)
