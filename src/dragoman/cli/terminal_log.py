"""The package's log on a terminal: plain lines, and warnings with "warning: " before them."""

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
    return f"warning: {record.getMessage()}" if record.levelno >= logging.WARNING else record.getMessage()


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
