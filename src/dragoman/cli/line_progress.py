"""Progress of a command over the lines of a file, told now and then."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from dragoman.cli.streams import say, stdout_is_terminal
from dragoman.errors import counted
from dragoman.settings.duration import PROGRESS_EVERY, speed_text

Result = TypeVar("Result")


def with_progress(
    results: Iterable[Result], *, from_file: bool, output: Path | None, unit: str = "line"
) -> Iterator[Result]:
    """Yield the results. For a file, print progress now and then, unless the terminal shows the results.

    Args:
        unit: word for what a result is of.
    """
    if not from_file or (output is None and stdout_is_terminal()):
        yield from results
        return
    started = last_said = last_result = time.monotonic()
    n_done = 0
    for result in results:
        now = time.monotonic()
        if now - last_said >= PROGRESS_EVERY:
            # Results come in blocks, and this one is the first of its block: those before it took until `last_result`.
            if n_done:
                _say_speed(n_done, unit, last_result - started)
            last_said = now
        last_result = now
        n_done += 1
        yield result
    if last_said > started:  # the last progress line has the whole count
        _say_speed(n_done, unit, last_result - started)


def _say_speed(n_done: int, unit: str, seconds: float) -> None:
    say(f"{counted(n_done, unit)}{speed_text(n_done, seconds)}")
