"""A small model that learned four directions: it translates in each, in every form that a model can be kept in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from runs import LETTERS, captured_log
from tiny import without_flags

from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run
from dragoman.cli.train import _first_direction
from dragoman.errors import ConfigError
from dragoman.training import train
from dragoman.translator import Translator

pytestmark = pytest.mark.torch

#: "English" rows of letters are capitals in "German" and Greek letters in "French".
GERMAN = {letter: letter.upper() for letter in LETTERS}
FRENCH = dict(zip(LETTERS, "αβγδεζηθ", strict=True))
DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en"))


def rows(seed: int, n_rows: int = 600) -> list[str]:
    generator = torch.Generator().manual_seed(seed)
    letters = torch.randint(8, (n_rows, 4), generator=generator).tolist()
    return [" ".join(LETTERS[letter] for letter in row) for row in letters]


def written(row: str, language: str) -> str:
    table = {"en": {}, "de": GERMAN, "fr": FRENCH}[language]
    return " ".join(table.get(letter, letter) for letter in row.split())


def write(folder: Path, language: str, texts: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"source_lang": "en", "target_lang": language}
    for side, code in (("source", "en"), ("target", language)):
        entry[side] = str(folder / f"{language}-text.{code}")
        Path(entry[side]).write_text("".join(f"{written(row, code)}\n" for row in texts), encoding="utf-8")
    return entry


SETTINGS: dict[str, Any] = {
    "tokenizer": {"split_digits": True},
    "model": {"d_model": 32, "d_ff": 64, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "dropout": 0.0},
    "training": {"batch_tokens": 800, "max_steps": 1000, "warmup_steps": 50, "lr": 0.006, "validate_every": 1000},
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    corpora = [{**write(folder, language, rows(seed)), "both_ways": True} for seed, language in ((1, "de"), (2, "fr"))]
    train({**SETTINGS, "data": {"corpora": corpora, "validation_size": 40}}, folder / "run", device="cpu")
    return folder / "run"


def share_right(translator: Translator, source: str, target: str) -> float:
    texts = rows(9, 40)
    found = translator.translate(
        [written(row, source) for row in texts], source_lang=source, target_lang=target, beam_size=1
    )
    return sum(each.text == written(row, target) for each, row in zip(found, texts, strict=True)) / len(texts)


def require_all_directions(name: Path, **options: Any) -> None:
    translator = Translator.load(name, device="cpu", **options)
    assert translator.directions == DIRECTIONS
    for direction in DIRECTIONS:
        assert share_right(translator, *direction) > 0.9, direction


def test_it_translates_in_each_direction(learned: Path) -> None:
    require_all_directions(learned)


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_package_keeps_all_directions(learned: Path, precision: str, tmp_path: Path) -> None:
    assert run(["package", "-m", str(learned), "-o", str(tmp_path / "small"), "--precision", precision]) == 0
    require_all_directions(tmp_path / "small")
    card = (tmp_path / "small" / "README.md").read_text(encoding="utf-8")
    title = next(line for line in card.splitlines() if line.startswith("# "))
    assert "en to de, de to en, en to fr, fr to en" in title
    assert "--target-lang" in card


def test_an_average_keeps_all_directions(learned: Path, tmp_path: Path) -> None:
    assert run(["average", str(learned), str(learned), "-o", str(tmp_path / "mean")]) == 0
    require_all_directions(tmp_path / "mean")


def test_a_fine_tuning_of_one_direction_keeps_the_tags(learned: Path, tmp_path: Path) -> None:
    data = {**write(tmp_path, "fr", rows(5, 60)), "validation_size": 10}
    changes = {"training": {**SETTINGS["training"], "max_steps": 5, "lr": 1e-4, "warmup_steps": 1}}
    train({"data": data, **changes}, tmp_path / "tuned", init_from=learned, device="cpu")
    bundle = load_bundle(tmp_path / "tuned")
    assert bundle.tokenizers.fingerprint() == load_bundle(learned).tokenizers.fingerprint()
    require_all_directions(tmp_path / "tuned")
    advised = _first_direction(tmp_path / "tuned", {"data": data})  # the trained one, not the first of the model
    assert advised == ["--source-lang", "en", "--target-lang", "fr"]
    italian = {**data, "target_lang": "it"}
    with pytest.raises(ConfigError, match="not into it"):
        train({"data": italian, **changes}, tmp_path / "other", init_from=learned, device="cpu")


def evaluated(capsys: pytest.CaptureFixture[str], *options: object) -> tuple[int, Any, str]:
    capsys.readouterr()
    code = run(["evaluate", *map(str, options), "--beam-size", "1", "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if code == 0 else out, without_flags(err)


def test_evaluation_by_direction(learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_text = ("-m", learned, "--split", "validation")
    code, scores, _ = evaluated(capsys, *run_text, "--perturb", "upper")
    assert code == 0
    assert [each["direction"] for each in scores] == ["-".join(direction) for direction in DIRECTIONS]
    assert all(each["exact_match"] > 0.9 for each in scores)
    changed = {each["direction"]: each["perturbed"][1]["changed"] for each in scores}
    assert (changed["en-de"], changed["de-en"]) == (1, 0)  # capitals of the text, not of its tag
    code, one, _ = evaluated(capsys, *run_text, "--source-lang", "de")
    assert {**one, "direction": "de-en"}.keys() == scores[1].keys() - {"perturbed"}
    assert one["metrics"] == scores[1]["metrics"]
    code, _, err = evaluated(capsys, *run_text, "--target-lang", "zh")
    assert (code, err.count("\n")) == (2, 1)
    assert "there is en-de, de-en, en-fr, fr-en" in err


def test_evaluation_of_files_takes_the_direction_of_their_names(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, "fr", rows(8, 30))
    options = ("-m", learned, "--source", files["source"], "--target", files["target"])
    code, scores, _ = evaluated(capsys, *options)
    assert (code, scores["exact_match"] > 0.9) == (0, True)
    turned = ("-m", learned, "--source", files["target"], "--target", files["source"])
    assert evaluated(capsys, *turned)[1]["exact_match"] > 0.9
    for name in ("source", "target"):
        (tmp_path / name).write_bytes(Path(files[name]).read_bytes())
    unnamed = ("-m", learned, "--source", tmp_path / "source", "--target", tmp_path / "target")
    code, _, err = evaluated(capsys, *unnamed)
    assert (code, "the model translates into several languages: de, en, fr" in err) == (2, True)
    assert evaluated(capsys, *unnamed, "--target-lang", "fr")[1]["metrics"] == scores["metrics"]


def test_a_recipe_of_several_corpora_is_a_test_set(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = write(tmp_path, "fr", rows(7, 30))
    validation = {f"validation_{side}": entry[side] for side in ("source", "target")}
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(json.dumps({"data": {"corpora": [{**entry, **validation, "both_ways": True}]}}))
    code, scores, _ = evaluated(capsys, recipe, "-m", learned, "--split", "validation")
    assert (code, [each["direction"] for each in scores]) == (0, ["en-fr en-fr", "en-fr fr-en"])
    code, _, err = evaluated(capsys, recipe, "-m", learned)
    assert (code, "no corpus has test data" in err) == (2, True)
    assert run(["evaluate", str(recipe), "-m", str(learned), "--split", "validation", "--beam-size", "1"]) == 0
    table = capsys.readouterr().out
    assert "mean" in table
    assert run(["tune", str(recipe), "-m", str(learned), "--vary", "beam_size=1,2"]) == 2
    assert "give --source-lang and --target-lang" in capsys.readouterr().err
    one = [str(recipe), "-m", str(learned), "--vary", "beam_size=1,2", "--source-lang", "fr"]
    assert run(["tune", *one]) == 0


def test_the_prompt_asks_for_the_language_first(
    learned: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.cli.translate._is_terminal", lambda: True)
    assert run(["translate", "-m", str(learned)]) == 2
    out, err = capsys.readouterr()
    assert (out, ">" in err) == ("", False)
    assert "the model translates into several languages: de, en, fr; name one of them, such as --target-lang de" in err


def test_a_direction_between_two_others_is_tried(learned: Path) -> None:
    with captured_log() as lines:
        Translator.load(learned, device="cpu").translate("A B", source_lang="de", target_lang="fr")
    assert [line for line in lines if "was not trained to translate de to fr" in line]
