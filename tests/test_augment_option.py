"""`train --augment`: what it chooses, what it leaves as asked, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tiny import PAIRS

from dragoman.cli.program import run
from dragoman.errors import ConfigError
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.settings.augmenting import DOSES, VOCABULARY, augment

pytestmark = pytest.mark.torch


def write_text(folder: Path) -> list[str]:
    for side, code in enumerate(("en", "de")):
        lines = [f"{pair[side]} {number}\n" for number in range(20) for pair in PAIRS]
        (folder / f"a.{code}").write_text("".join(lines), encoding="utf-8")
    return ["--source", str(folder / "a.en"), "--target", str(folder / "a.de")]


def test_it_has_every_change() -> None:
    assert AugmentationConfig(**DOSES).model_dump() == DOSES


def test_open_settings_are_chosen_and_asked_ones_kept() -> None:
    asked = {"augmentation": {"typos": 0.0, "spans": 0.5}, "tokenizer": {"reserved": 8}}
    settings, chosen = augment(asked)
    assert settings["augmentation"] == {**DOSES, "typos": 0.0, "spans": 0.5}
    assert settings["tokenizer"] == {"reserved": 8, "split_digits": True}
    assert len(chosen) == len(DOSES) + len(VOCABULARY) - 3
    assert augment(settings) == (settings, [])


@pytest.mark.parametrize("kind", ["words", "characters"])
def test_a_vocabulary_without_pieces_is_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"--augment needs a vocabulary of pieces, and tokenizer.kind is {kind}"):
        augment({"tokenizer": {"kind": kind}})


def test_a_run_has_what_was_chosen_and_goes_on_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    command = ["train", *write_text(tmp_path), "-o", str(out), "--device", "cpu", "--set", "model.d_model=16"]
    command += ["--set", "tokenizer.vocab_size=400", "--set", "training.max_steps=2", "--augment"]
    assert run(command) == 0
    (told,) = [line for line in capsys.readouterr().err.splitlines() if "--augment" in line]
    assert told.startswith("chose augmentation.spans=0.2, augmentation.reserved=0.1, ")
    settings = yaml.safe_load((out / "config.yaml").read_text(encoding="utf-8"))
    assert settings["augmentation"] == DOSES
    assert {f"tokenizer.{key}": settings["tokenizer"][key] for key in ("reserved", "split_digits")} == VOCABULARY
    for again in (command, ["train", "-o", str(out), "--device", "cpu", "--set", "training.max_steps=3"]):
        assert run(again) == 0
    capsys.readouterr()
    assert run([*command, "--set", "augmentation.typos=0.5"]) != 0  # another training
    assert "augmentation.typos" in capsys.readouterr().err


def test_another_models_vocabulary_is_not_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", *write_text(tmp_path), "-o", str(tmp_path / "run"), "--augment", "--init-from", "everyday"]
    assert run(command) == 2
    assert capsys.readouterr().err == (
        "error: --augment chooses a vocabulary, and --init-from keeps the one that its model has; "
        "set the changes one by one, as --set augmentation.typos=0.1\n"
    )
    assert not (tmp_path / "run").exists()
