"""A live bar for people who watch a training."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.text import Text

_log = logging.getLogger(__name__)

#: Between two parts of the line of a bar.
_GAP = "  "
#: Columns below which a bar shows nothing.
_SHORTEST_BAR = 8


class _Line(ProgressColumn):
    """The whole line of a bar. However narrow the terminal becomes, what matters most stays: step, loss, time left."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self.figures: Sequence[str] = ()

    def render(self, task: Task) -> Text:
        """Return the line for the width that the terminal has now."""
        step = f"step {int(task.completed)}/{int(task.total or 0)}"
        left, elapsed = (f"{name} {_clock(seconds)}" for name, seconds in _times(task))
        room, chosen, figures = self._console.width - 1, set(), self.figures
        if sum(map(len, (step, *_by_worth(figures)[:1], left))) + 2 * len(_GAP) > room:
            figures = [figure.removeprefix("training ") for figure in figures]
        loss, others = _by_worth(figures)[:1], _by_worth(figures)[1:]
        by_worth = [step, *loss, left, *others, elapsed]
        for part in by_worth:
            if len(part) <= room:
                chosen.add(part)
                room -= len(part) + len(_GAP)
        parts = [part for part in (step, *figures, elapsed, left) if part in chosen]
        if room >= _SHORTEST_BAR:
            full = round(room * task.percentage / 100)
            parts.insert(
                1, "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * full + "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (room - full)
            )
        return Text(_GAP.join(parts), no_wrap=True, overflow="crop")


def _by_worth(figures: Sequence[str]) -> list[str]:
    """Return the figures with the loss before all others."""
    return sorted(figures, key=lambda figure: "loss" not in figure)


def _times(task: Task) -> tuple[tuple[str, float | None], tuple[str, float | None]]:
    return ("left", task.time_remaining), ("elapsed", task.finished_time if task.finished else task.elapsed)


def _clock(seconds: float | None) -> str:
    return "-:--:--" if seconds is None else str(timedelta(seconds=int(seconds)))


class ProgressBar:
    """A live bar on standard error if that is a terminal; the log instead, if not."""

    def __init__(self, n_steps: int, *, is_shown: bool) -> None:
        console = Console(file=sys.stderr)
        self._line = _Line(console)
        self._bar = Progress(self._line, console=console, disable=not (is_shown and console.is_terminal))
        self._task = self._bar.add_task("", total=n_steps)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def move(self, step: int, n_steps: int | None = None) -> None:
        """Move the bar to `step`; its end may have moved, too."""
        self._bar.update(self._task, completed=step, total=n_steps)

    def show(self, step: int, figures: Sequence[str]) -> None:
        """Show the latest figures: in the bar, as many as there is room for, or as a line of the log."""
        if self._bar.disable:
            _log.info(f"step {step:,}: {'  '.join(figures)}")
            return
        self._line.figures = tuple(figures)
        self._bar.update(self._task, completed=step)
