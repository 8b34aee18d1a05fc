"""Loss, BLEU and learning rate of a run over its steps, from its `metrics.jsonl`."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import DataError

#: (step, value), in order.
Curve = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class RunCurves:
    """Curves of one run. Losses are in nats a token, without label smoothing; that of training is with dropout."""

    name: str
    training_loss: Curve
    validation_loss: Curve
    validation_bleu: Curve
    learning_rate: Curve


def read_curves(run: Path) -> RunCurves:
    """Read the curves of a run folder, or of a `metrics.jsonl`.

    Raises:
        DataError: see `read_metrics`.
    """
    path = _log(run)
    records = read_metrics(path)

    def curve(key: str) -> list[tuple[int, float]]:
        return [(record["step"], float(record[key])) for record in records if _is_number(record.get(key))]

    return RunCurves(
        name=path.resolve().parent.name,
        training_loss=curve("training_nll"),
        validation_loss=curve("validation_loss"),
        validation_bleu=curve("validation_bleu"),
        learning_rate=curve("lr"),
    )


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Read the records of a run folder, or of a `metrics.jsonl`, in order. Each has a `step`.

    Raises:
        DataError: there is no log, it cannot be read, or nothing has been logged yet.
    """
    path = _log(run)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        problem = f"no metrics of a run ({error.strerror})"
        raise DataError(problem, path, advice="give a run folder made by `dragoman train`") from None
    records = [record for record in map(parse_record, lines) if record is not None]
    if not records:
        raise DataError("nothing has been logged yet", path, advice="let the training go on")
    return records


def _log(run: Path) -> Path:
    return run / "metrics.jsonl" if run.is_dir() else run


def parse_record(line: str) -> dict[str, Any] | None:
    """Return the record of a line; None if there is none, as in a line that a killed process did not finish."""
    with contextlib.suppress(ValueError, RecursionError):
        record = json.loads(line)
        if isinstance(record, dict) and isinstance(record.get("step"), int):
            return record
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
