"""Configuration: every mistake is found, all at once, with a word on how to mend it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import PRESETS, Config, ModelConfig
from dragoman.errors import ConfigError
from dragoman.recipe import describe_settings, parse_config, read_recipe, to_yaml


def settings(*overrides: str) -> Config:
    return parse_config(read_recipe(None, overrides))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.d_modle=256"], r"unknown key 'model.d_modle' \(did you mean 'd_model'\?\)"),
        (["modle.d_model=256"], r"unknown key 'modle' \(did you mean 'model'\?\)"),
        (["model.d_model='512'"], r"model.d_model: .*integer, got '512'"),
        (["model.n_heads=true"], "model.n_heads: .*integer, got True"),
        (["training.max_steps=1.0"], "training.max_steps: .*integer, got 1.0"),
        (["model.d_model=null"], "model.d_model: .*integer, got None"),
        (["model.d_model=[1]"], "model.d_model: .*integer"),
        (["model.d_model=100", "model.n_heads=3"], "does not divide into 3 heads; set it to 99 or 102"),
        (["model.d_model=15", "model.n_heads=5"], "even d_model; set it to 14 or 16"),
        (["model.memory=layerwise", "model.n_encoder_layers=2"], "as many encoder as decoder layers"),
        (["model.dropout=1.0"], "model.dropout: .*less than 1"),
        (["model.dropout=.nan"], "model.dropout: .*finite"),
        (["training.lr=.inf"], "training.lr: .*finite"),
        (["training.label_smoothing=1.0"], "training.label_smoothing"),
        (["training.max_steps=10", "training.warmup_steps=20"], "warmup_steps 20 is more than max_steps 10"),
        (["search.beam_size=0"], "search.beam_size"),
        (["search.n_best=6"], "n_best 6 is more than beam_size 5"),
        (["search.min_length=9", "search.max_length=3"], "min_length 9 is more than max_length 3"),
        (["model.n_encoder_layers=" + "9" * 300], "model.n_encoder_layers"),
        (["data.source=a.en"], "source and target belong together"),
        (["data.corpus=captions", "data.pairs=x.tsv"], "give only one of"),
        (["model.preset=huge"], "unknown preset 'huge'; choose one of tiny"),
        (["model.preset=[]"], r"unknown preset \[\]"),
        (["data.max_length=512"], "data.max_length 512 must be less than model.max_length 512"),
        (["data.test_source=a.en"], "test_source and test_target belong together"),
        (["training.lr"], "not of the form key=value"),
    ],
)
def test_mistakes_are_told(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        settings(*overrides)
    assert caught.value.exit_code == 2


def test_all_mistakes_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        settings("model.d_modle=1", "training.lr=-1", "search.beam_size=0")
    assert len(str(caught.value).split("\n")) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: {d_model: 1", "not readable as YAML"),
        ("model:\n  d_model: 2\n  d_model: 4", "the key 'd_model' is given twice.*:3:3"),
        ("- a\n- b", "this is no recipe"),
        ("? [1, 2]\n: 3", r"the key \[1, 2\] is not a word"),
        ("data: &a {x: *a}", "references"),
        ("[" * 100_000, "not readable as YAML"),
        ("#" * 100_001, "larger than 100 kB"),
        ("a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 100)), "more than 10 levels"),
        ("training: {lr: !!bool x}", "types"),
        ("training: {seed: !!int ''}", "types"),
        ("training: {seed: 0x" + "f" * 5000 + "}", "more than 1,000 characters"),
        ('data: {source: "\\UFFFFFFFF"}', "not readable as YAML"),
    ],
)
def test_malformed_recipes(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_recipe(path)


@pytest.mark.parametrize("content", [b"data: \0", b"data: \xed\xa0\x80", b"data: \x1b[2J"])
def test_a_recipe_that_is_no_text_is_told_on_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "override", ['training.lr="\\U00110000"', "training.lr=!!bool x", "a" + ".a" * 2000 + "=1", "x=" + "[" * 5000]
)
def test_overrides_that_cannot_be_read(override: str) -> None:
    with pytest.raises(ConfigError, match="--set"):
        read_recipe(None, [override])


def test_overrides_win_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("\ufeffmodel: {preset: tiny, d_ff: 512}\ntraining: {lr: 1e-3}\n", encoding="utf-8")
    config = parse_config(read_recipe(path, ["training.lr=2e-3", "training.max_steps=9000"]), path)
    assert (config.model.d_model, config.model.d_ff) == (PRESETS["tiny"]["d_model"], 512)
    assert (config.training.lr, config.training.max_steps) == (0.002, 9000)


def test_a_configuration_survives_being_written(tmp_path: Path) -> None:
    config = settings(
        "model.preset=tiny", "training.max_steps=4000", "data.corpus=captions", "training.adam_betas=[0.8, 0.9]"
    )
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(config), encoding="utf-8")
    assert parse_config(read_recipe(path)) == config


def test_a_joint_vocabulary_is_needed_to_tie_all() -> None:
    with pytest.raises(ValueError, match="one joint vocabulary"):
        ModelConfig(source_vocab_size=10, target_vocab_size=12, tie="all")


def test_every_setting_is_listed_as_a_recipe(tmp_path: Path) -> None:
    """Which changes nothing as it is, and gives the defaults when all is uncommented."""
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(describe_settings(), encoding="utf-8")
    assert parse_config(read_recipe(recipe)) == Config()
    listed = "\n".join(
        re.sub("^  #(?! )", "  ", line) for line in describe_settings().split("\n") if "preset" not in line
    )
    recipe.write_text(listed, encoding="utf-8")
    settings = read_recipe(recipe)
    assert parse_config(settings) == Config()
    assert {section: set(values) for section, values in settings.items()} == {
        section: set(values) for section, values in Config().model_dump().items()
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": 0.1}, r"unknown key 'lr' \(did you mean 'training.lr'\?\)"),
        ({"model": {"d_modle": 1}}, r"did you mean 'd_model'"),
        ({"model": {"zzz": 1}}, "--list-settings"),
        ({"data": {"source_lang": "klingon"}}, "'klingon' is no language code"),
    ],
)
def test_wrong_words_get_a_hint(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config(settings)
