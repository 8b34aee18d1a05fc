"""The package's log on a terminal: plain lines; "warning: " and "error: " begin warnings and errors."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from dragoman.cli.streams import say


class TerminalHandler(logging.Handler):
    """Prints each record on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        say(terminal_line(record))


def terminal_line(record: logging.LogRecord) -> str:
    """Return the line of a record."""
    levels = ((logging.ERROR, "error: "), (logging.WARNING, "warning: "))
    return next((begin for level, begin in levels if record.levelno >= level), "") + record.getMessage()


@contextlib.contextmanager
def log_to_terminal() -> Iterator[None]:
    """Print the log of the package on standard error inside the context."""
    logger, handler = logging.getLogger("dragoman"), TerminalHandler()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
