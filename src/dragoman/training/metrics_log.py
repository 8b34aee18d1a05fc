"""Logs of a training's figures: `metrics.jsonl`, and TensorBoard if asked for.

Another service is another class with `write` and `flush`, opened in `open_logs`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from dragoman.errors import ConfigError, install_advice
from dragoman.inspection.curves import parse_record
from dragoman.machine.files import append_file, write_file


class MetricsLog(Protocol):
    """A place for the figures of logged steps and validations."""

    def write(self, record: Mapping[str, Any]) -> None:
        """Take one record; it has a key `step`."""

    def flush(self) -> None:
        """Write what could not be written before."""


def open_logs(path: Path, last_step: int, last_validation: int | None, *, tensorboard: bool) -> list[MetricsLog]:
    """Continue the logs of a run: what is later than the two steps will be done again.

    Args:
        path: `metrics.jsonl`; the folder `tensorboard` lies beside it.

    Raises:
        ConfigError: TensorBoard is asked for and not installed.
    """
    logs: list[MetricsLog] = [MetricsFile(path, last_step, last_validation)]
    if tensorboard:
        logs.append(TensorBoardLog(path.with_name("tensorboard"), last_step))
    return logs


class MetricsFile:
    """One JSON object a line: every logged step and validation, each exactly once, also across restarts."""

    def __init__(self, path: Path, last_step: int, last_validation: int | None) -> None:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
        last = {"training_loss": last_step, "validation_loss": -1 if last_validation is None else last_validation}
        kept = [line for line in lines if any(_step(line, key) <= step for key, step in last.items())]
        write_file(path, "".join(f"{line}\n" for line in kept).encode())
        self._path, self._unwritten = path, b""

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record; it has a key `step`. What cannot be written now is written with the next.

        Raises:
            ResourceError: the disk is full.
            RunFolderError: the log cannot be written for another reason.
        """
        self._unwritten += f"{json.dumps(record, allow_nan=False)}\n".encode()
        self.flush()

    def flush(self) -> None:
        """Write what could not be written before; raises as `write` does."""
        if self._unwritten:
            append_file(self._path, self._unwritten)
            self._unwritten = b""


class TensorBoardLog:
    """The same figures for TensorBoard.

    Raises:
        ConfigError: it is not installed.
    """

    def __init__(self, folder: Path, last_step: int) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError("training.tensorboard needs TensorBoard", advice=install_advice("tensorboard")) from None
        self._board = SummaryWriter(str(folder), purge_step=last_step + 1)

    def write(self, record: Mapping[str, Any]) -> None:
        """Take one record."""
        for name, value in record.items():
            if name != "step" and isinstance(value, int | float):
                self._board.add_scalar(name, value, record["step"])
        self._board.flush()

    def flush(self) -> None:
        """Do nothing: each record is written at once."""


def _step(line: str, key: str) -> float:
    """Return the step of a record that has `key`; of another record, or of an unfinished line, infinity."""
    record = parse_record(line)
    return record["step"] if record is not None and key in record else math.inf
