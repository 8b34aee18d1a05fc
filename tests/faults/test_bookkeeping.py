"""The files of a training of very many steps: as few as asked for, and a log without gaps or repetitions."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from amount import FULL
from tiny import tiny_model, tiny_tokenizers

from dragoman.machine.pointers import read_pointer
from dragoman.settings.search_config import SearchConfig
from dragoman.training.checkpoint import Checkpoint, Progress
from dragoman.training.metrics_log import MetricsFile
from dragoman.training.run_folder import RunFolder

pytestmark = pytest.mark.torch

N_STEPS = 100_000 if FULL else 5_000


def test_the_run_folder_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Callable[..., None]
) -> None:
    """Nothing but the bookkeeping: saved every 100 steps, validated every 700, logged every 2, killed now and then."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    folder, dice, progress = RunFolder(tmp_path), random.Random(1), Progress()
    tokenizers = tiny_tokenizers("characters")
    model, weight = tiny_model(tokenizers), {"weight": torch.zeros(2)}
    log = MetricsFile(folder.metrics, 0, None)
    record = {"training_loss": 1 / 3, "training_nll": 1 / 7, "lr": 1e-9, "seconds": 1.5}
    for step in range(0, N_STEPS + 1, 2):
        log.write({"step": step, **record})
        if step % 700 == 0:
            best = dice.random() < 0.3 or progress.best_step is None
            progress = replace(progress, last_validation=step, best_step=step if best else progress.best_step)
            folder.keep_bundle(progress, model, tokenizers, SearchConfig(), {})
        if step % 100 == 0:
            progress = replace(progress, step=step)
            folder.save(Checkpoint(progress, weight, weight, None), 3)
            assert folder.steps == list(range(max(0, step - 200), step + 1, 100))
            assert len(list(tmp_path.iterdir())) == 5  # checkpoints, bundles, metrics.jsonl, best, last
            assert len(list(folder.bundles.iterdir())) <= 4
            assert not list(folder.checkpoints.glob(".dragoman-*"))
            for name, kept in (("best", progress.best_step), ("last", progress.last_validation)):
                assert read_pointer(tmp_path / name).name == f"step-{kept}"
                assert (tmp_path / name / "MANIFEST.json").exists()
        if step % 5_000 == 1_000:  # killed: a half save is left, and steps that are done again
            (folder.checkpoints / f".dragoman-step-{step + 1}").mkdir()
            for later in (step + 2, step + 4):
                log.write({"step": later, **record})
            with open(folder.metrics, "ab") as file:
                file.write(b'{"step": ')
            log = MetricsFile(folder.metrics, step, progress.last_validation)
    lines = folder.metrics.read_bytes().split(b"\n")
    assert [json.loads(line)["step"] for line in lines[:-1]] == list(range(0, N_STEPS + 1, 2))
    assert max(map(len, lines)) < 150
    figure("T20", "bookkeeping", steps=N_STEPS)
