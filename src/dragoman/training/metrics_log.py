"""What a training reports while it runs: `metrics.jsonl` for programs, a bar or plain lines for people."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.text import Text

from dragoman.errors import ConfigError
from dragoman.inspection.curves import parse_record
from dragoman.machine.files import append_file, write_file

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_log = logging.getLogger(__name__)


#: Between two parts of the line of a bar.
_GAP = "  "
#: Columns below which a bar shows nothing.
_SHORTEST_BAR = 8


class MetricsLog:
    """One JSON object a line: every logged step and validation, each exactly once, also across restarts."""

    def __init__(self, path: Path, last_step: int, last_validation: int | None, *, tensorboard: bool = False) -> None:
        """Continue the log in `path`: what is later than the two steps will be done again.

        With `tensorboard` the same figures also go to a folder `tensorboard` beside it.

        Raises:
            ConfigError: TensorBoard is asked for and not installed.
        """
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
        last = {"loss": last_step, "validation_loss": -1 if last_validation is None else last_validation}
        kept = [line for line in lines if any(_step(line, key) <= step for key, step in last.items())]
        write_file(path, "".join(f"{line}\n" for line in kept).encode())
        self._path, self._unwritten = path, b""
        self._board = _open_board(path.with_name("tensorboard"), last_step) if tensorboard else None

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record; it has a key `step`. What cannot be written now is written with the next.

        Raises:
            ResourceError: the disk is full.
            RunFolderError: the log cannot be written for another reason.
        """
        self._unwritten += f"{json.dumps(record, allow_nan=False)}\n".encode()
        self.flush()
        if self._board is not None:
            for name, value in record.items():
                if name != "step" and value is not None:
                    self._board.add_scalar(name, value, record["step"])
            self._board.flush()

    def flush(self) -> None:
        """Write what could not be written before; raises as `write` does."""
        if self._unwritten:
            append_file(self._path, self._unwritten)
            self._unwritten = b""


def _open_board(folder: Path, last_step: int) -> SummaryWriter:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ConfigError(
            "training.tensorboard needs TensorBoard", advice='pip install "dragoman[tensorboard]"'
        ) from None
    return SummaryWriter(str(folder), purge_step=last_step + 1)


def _step(line: str, key: str) -> float:
    """Return the step of a record that has `key`; of another record, or of an unfinished line, infinity."""
    record = parse_record(line)
    return record["step"] if record is not None and key in record else math.inf


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
        by_worth = [step, *sorted(self.figures, key=_is_not_loss)[:1], left]
        by_worth += [*sorted(self.figures, key=_is_not_loss)[1:], elapsed]
        room, chosen = self._console.width - 1, set()
        for part in by_worth:
            if len(part) <= room:
                chosen.add(part)
                room -= len(part) + len(_GAP)
        parts = [part for part in (step, *self.figures, elapsed, left) if part in chosen]
        if room >= _SHORTEST_BAR:
            full = round(room * task.percentage / 100)
            parts.insert(
                1, "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * full + "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (room - full)
            )
        return Text(_GAP.join(parts), no_wrap=True, overflow="crop")


def _is_not_loss(figure: str) -> bool:
    return not figure.startswith("loss")


def _times(task: Task) -> tuple[tuple[str, float | None], tuple[str, float | None]]:
    return ("left", task.time_remaining), ("elapsed", task.finished_time if task.finished else task.elapsed)


def _clock(seconds: float | None) -> str:
    return "-:--:--" if seconds is None else str(timedelta(seconds=int(seconds)))


class Display:
    """A live bar on a terminal, plain lines elsewhere; both on standard error."""

    def __init__(self, n_steps: int, *, bar: bool) -> None:
        console = Console(file=sys.stderr)
        self._line = _Line(console)
        self._bar = Progress(self._line, console=console, disable=not (bar and console.is_terminal))
        self._task = self._bar.add_task("", total=n_steps)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self, step: int) -> None:
        """Move the bar to `step`."""
        self._bar.update(self._task, completed=step)

    def figures(self, step: int, figures: Sequence[str]) -> None:
        """Show the latest figures: as a line, or in the bar, as many of them as there is room for."""
        if self._bar.disable:
            _log.info(f"step {step:,}: {'  '.join(figures)}")
            return
        self._line.figures = tuple(figures)
        self._bar.update(self._task, completed=step)
