"""The signals that ask a process to end."""

from __future__ import annotations

import signal

#: None on Windows. A terminal that closes sends it more than once, so that only the first one counts.
HANG_UP: int | None = getattr(signal, "SIGHUP", None)


def ending_signals() -> list[int]:
    """Return SIGINT, SIGTERM and SIGHUP, except those ignored: background jobs ignore SIGINT, and nohup SIGHUP."""
    known = (signal.SIGINT, signal.SIGTERM, HANG_UP)
    return [each for each in known if each is not None and signal.getsignal(each) is not signal.SIG_IGN]
