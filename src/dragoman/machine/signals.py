"""The signals that ask a process to end."""

from __future__ import annotations

import signal

#: None on Windows. A terminal that closes sends it more than once, so only the first one counts.
HANG_UP: int | None = getattr(signal, "SIGHUP", None)


def ending_signals() -> list[int]:
    """Return SIGINT, SIGTERM and SIGHUP, except those ignored: background jobs ignore SIGINT, and nohup SIGHUP."""
    numbers = (signal.SIGINT, signal.SIGTERM, HANG_UP)
    return [number for number in numbers if number is not None and signal.getsignal(number) is not signal.SIG_IGN]
