"""Very small trainings: a corpus, settings, and what two of them must have in common."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from dragoman.cli.terminal_log import terminal_line
from dragoman.training.checkpoint import saved_steps

LETTERS = "abcdefgh"


def write_rows(folder: Path) -> Path:
    """240 rows of two to six random letters, and the same rows in capitals."""
    rows = Path(__file__).with_name("rows.txt").read_text(encoding="utf-8").splitlines()
    (folder / "rows.low").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    (folder / "rows.up").write_text("".join(f"{row.upper()}\n" for row in rows), encoding="utf-8")
    return folder


def settings(corpus: Path, **training: Any) -> dict[str, Any]:
    return {
        "data": {"source": str(corpus / "rows.low"), "target": str(corpus / "rows.up"), "validation_size": 20},
        "tokenizer": {"kind": "words", "joint": False},
        "model": {
            "d_model": 16,
            "d_ff": 32,
            "n_heads": 2,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "dropout": 0.1,
        },
        "training": {
            "batch_tokens": 200,
            "max_steps": 30,
            "warmup_steps": 10,
            "lr": 0.01,
            "ema": 0.9,
            "precision": "float32",
            "save_every": 7,
            "log_every": 1,
            "validate_every": 20,
            **training,
        },
    }


def logged(run: Path, key: str) -> dict[int, float]:
    """One figure of each logged step; fails when a step is logged twice."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = [(record["step"], float(record[key])) for record in records if key in record]
    assert len(dict(figures)) == len(figures)
    return dict(figures)


def losses(run: Path) -> dict[int, float]:
    """Each logged step's loss, exactly."""
    return logged(run, "training_loss")


def weights(run: Path) -> dict[str, NDArray[np.float32]]:
    return load_file(run / "checkpoints" / f"step-{saved_steps(run / 'checkpoints')[-1]}" / "model.safetensors")


def assert_same_training(one: Path, other: Path) -> None:
    assert losses(one) == losses(other)
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


def assert_equal_but_for_rounding(one: Path, other: Path) -> None:
    """The same losses and gradient norms to 1e-6, and the same weights where the gradient is more than rounding.

    A bias of keys adds the same to all scores of a query, so it has no gradient; Adam scales its noise up.
    """
    for key in ("training_loss", "grad_norm"):
        assert logged(one, key) == pytest.approx(logged(other, key), rel=1e-6)
    first, second = weights(one), weights(other)
    for name in first:
        if not name.endswith("key_projection.bias"):
            assert np.allclose(first[name], second[name], rtol=1e-3, atol=1e-5), name


class _ListHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(terminal_line(record))


@contextlib.contextmanager
def captured_log() -> Iterator[list[str]]:
    """The lines that the package logs inside, as a terminal would show them."""
    logger, handler = logging.getLogger("dragoman"), _ListHandler()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
