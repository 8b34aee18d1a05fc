"""`--portable`: what it accepts every program can hold, what it chooses is kept, and what contradicts it is told."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from shapes import HF_REFUSED, SHAPES
from tiny import PAIRS

from dragoman.cli.program import run
from dragoman.errors import ConfigError
from dragoman.settings.portable import CHECKED, CHOSEN, make_portable

#: Besides those that transformers refuses: ties of other matrices than --portable chooses.
OTHER_TIES = {"two vocabularies, output tied", "one vocabulary, nothing tied"}
SHORT = ["--set", "training.max_steps=2", "--set", "model.d_model=16", "--set", "tokenizer.vocab_size=320"]


@pytest.fixture
def text(tmp_path: Path) -> list[str]:
    for side, code in enumerate(("en", "de")):
        lines = [f"{pair[side]} {number}\n" for number in range(20) for pair in PAIRS]
        (tmp_path / f"a.{code}").write_text("".join(lines), encoding="utf-8")
    return ["--source", str(tmp_path / "a.en"), "--target", str(tmp_path / "a.de")]


def saved(folder: Path) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    return settings


def is_accepted(settings: dict[str, Any]) -> bool:
    try:
        make_portable(settings)
    except ConfigError:
        return False
    return True


def test_shapes_that_some_program_refuses_are_refused() -> None:
    models = {name: {key: fields[key] for key in fields.keys() - {"many", "joint"}} for name, fields in SHAPES.items()}
    refused = {name for name, model in models.items() if not is_accepted({"model": model})}
    assert refused - OTHER_TIES >= HF_REFUSED.keys() - OTHER_TIES  # CTranslate2 refuses none that these accept
    assert refused - HF_REFUSED.keys() == OTHER_TIES


def test_open_settings_are_chosen_and_asked_ones_kept() -> None:
    asked = {"model": {"norm": "post", "positions": "learned"}, "tokenizer": None, "data": {"corpus": "captions"}}
    settings, chosen = make_portable(asked)
    assert settings == {
        "model": {"norm": "post", "positions": "learned", "memory": "last", "tie": "all"},
        "tokenizer": {"joint": True},
        "data": {"corpus": "captions"},
    }
    assert chosen == ["model.memory=last", "model.tie=all", "tokenizer.joint=true"]
    assert make_portable(settings) == (settings, [])
    assert asked["tokenizer"] is None


@pytest.mark.parametrize("name", [*CHOSEN, *CHECKED])
def test_each_setting_has_a_value_that_is_refused(name: str) -> None:
    section, key = name.split(".")
    with pytest.raises(ConfigError, match=f"{name}=other; it must be") as caught:
        make_portable({section: {key: "other"}})
    assert len(str(caught.value).splitlines()) == 2


def test_all_contradictions_are_told_before_anything_is_written(
    text: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("model: {memory: layerwise}\ntokenizer: {kind: words}\n")
    out = tmp_path / "out"
    assert run(["train", str(recipe), *text, "-o", str(out), "--portable"]) != 0
    assert capsys.readouterr().err.splitlines() == [
        f"error: not all programs can hold such a model: {recipe}; leave these settings out, or --portable",
        "  model.memory=layerwise; it must be last",
        "  tokenizer.kind=words; it must be bpe or unigram",
    ]
    assert not out.exists()


@pytest.mark.torch
def test_a_run_is_portable_and_stays_so(text: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", *text, *SHORT, "-o", str(tmp_path / "run")]
    assert run([*command, "--portable"]) == 0
    (told,) = [line for line in capsys.readouterr().err.splitlines() if "--portable" in line]
    assert told.startswith("chose model.memory=last, model.positions=sinusoidal, model.tie=all, tokenizer.joint=true:")
    first = saved(tmp_path / "run")
    assert (first["model"]["memory"], first["model"]["positions"], first["model"]["norm"]) == (
        "last",
        "sinusoidal",
        "pre",
    )
    for again in (["train", "-o", str(tmp_path / "run"), "--set", "training.max_steps=3"], [*command, "--portable"]):
        assert run(again) == 0
        assert saved(tmp_path / "run")["model"] == first["model"]
    capsys.readouterr()
    assert run(command) != 0
    assert "model.memory: last (then), layerwise (now)" in capsys.readouterr().err


@pytest.mark.torch
def test_a_fine_tuning_has_the_shape_of_its_model(
    text: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", *text, "--init-from", "everyday", "--portable", "-o", str(tmp_path / "out")]) != 0
    told = capsys.readouterr().err
    assert "dragoman distill --portable" in told
    assert told.count("\n") == 1


@pytest.mark.captions
@pytest.mark.torch
def test_a_student_of_any_model_is_portable(
    text: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dragoman.training.sizes.MOST_PASSES", 1)
    command = ["distill", "--portable", "-m", "multi30k-en-de", *text, "-o", str(tmp_path / "out"), "--workers", "1"]
    for _ in range(2):  # the second finds everything done
        assert run([*command, "--beam-size", "1"]) == 0
    student = saved(tmp_path / "out" / "student")
    assert (student["model"]["memory"], student["model"]["positions"]) == ("last", "sinusoidal")
    assert student["data"]["source"] == str(tmp_path / "out" / "train.en")
    assert "dragoman export ct2" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--backward", "multi30k-en-de"], []])
def test_a_student_needs_a_teacher(
    options: list[str], text: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["distill", "--portable", *options, *text, "-o", str(tmp_path / "out")]) != 0
    assert "--model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
