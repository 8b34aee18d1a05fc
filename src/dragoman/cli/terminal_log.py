"""The package's log on a terminal: lines as they are, warnings with the word before them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from dragoman.cli.streams import say


class TerminalHandler(logging.Handler):
    """Says each record to the person on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say one record."""
        say(terminal_line(record))


def terminal_line(record: logging.LogRecord) -> str:
    """Return a record as the terminal shows it."""
    return f"warning: {record.getMessage()}" if record.levelno >= logging.WARNING else record.getMessage()


@contextlib.contextmanager
def log_to_terminal() -> Iterator[None]:
    """Inside, whatever the package logs is said to the person."""
    logger, handler = logging.getLogger("dragoman"), TerminalHandler()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
