"""What a training reports while it runs: `metrics.jsonl` for programs, a bar or plain lines for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dragoman.errors import ConfigError
from dragoman.storage import append_file, write_file

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


#: Columns of a terminal for a bar and its times, without the numbers of steps.
BESIDE_FIGURES = 45


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
    """The step of a record that has `key`; of others, and of lines that a killed process did not finish, infinity."""
    try:
        record = json.loads(line)
        return int(record["step"]) if key in record else math.inf
    except (ValueError, TypeError, KeyError):
        return math.inf


class Display:
    """A live bar on a terminal, plain lines elsewhere; both on standard error."""

    def __init__(self, n_steps: int, report: Callable[[str], None], *, bar: bool = True) -> None:
        self._report = report
        console = Console(file=sys.stderr)
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(bar_width=None),
            TextColumn("{task.description}"),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not (bar and console.is_terminal),
        )
        self._task = self._bar.add_task("", total=n_steps)
        self._n_digits = len(str(n_steps))

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
        """Show the latest figures: as a line, or beside the bar, as many of the first ones as there is room for."""
        if self._bar.disable:
            self._report(f"step {step:,}: {'  '.join(figures)}")
            return
        room = self._bar.console.width - BESIDE_FIGURES - 2 * self._n_digits
        shown = figures[0]
        for figure in figures[1:]:
            if len(shown) + 2 + len(figure) <= room:
                shown += f"  {figure}"
        self._bar.update(self._task, completed=step, description=shown)

    def line(self, text: str) -> None:
        """Print a line that stays."""
        if self._bar.disable:
            self._report(text)
        else:
            self._bar.console.print(text, markup=False, highlight=False)
