"""What docs/many-machines.md says of one machine: a corpus on another disk, copies of a command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from runs import assert_same_training, settings

from dragoman.cli.program import run
from dragoman.training import train

pytestmark = pytest.mark.torch


def test_copies_of_a_translation_are_refused(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them would translate everything, into the same file."""
    (tmp_path / "text").write_text("a b\n", encoding="utf-8")
    command = ["translate", "-m", str(reference), "-i", str(tmp_path / "text"), "-o", str(tmp_path / "out")]
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert run(command) == 2
    assert "torchrun started 8 times the same `dragoman translate`; use --ray" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert run(command) == 0


def test_the_corpus_may_lie_on_another_disk(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """A link in the place of `data/`, made before the training or on the way."""
    run_folder, local = tmp_path / "run", tmp_path / "local"
    shutil.copytree(reference, run_folder, symlinks=True)
    shutil.rmtree(run_folder / "checkpoints" / "step-30")
    shutil.move(run_folder / "data", local)
    (run_folder / "data").symlink_to(local, target_is_directory=True)
    train(settings(corpus), run_folder, device="cpu")
    assert_same_training(reference, run_folder)
