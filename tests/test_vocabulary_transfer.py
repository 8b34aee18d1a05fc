"""A model goes on with another vocabulary from where it is."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import PAIRS, tiny_model, tiny_tokenizers

from dragoman.bundle.bundle import Bundle, load_bundle, save_bundle
from dragoman.bundle.weights import weights_of
from dragoman.errors import ConfigError
from dragoman.settings.recipe import read_recipe
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.segmenter import Characters
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.training import train
from dragoman.training.vocabulary_transfer import with_vocabularies

pytestmark = pytest.mark.torch


def of_size(vocab_size: int | None, **config: Any) -> Tokenizers:
    settings = {"vocab_size": vocab_size, "byte_fallback": False, **config}
    return learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig.model_validate(settings), "en", "de")


def model_of(tokenizers: Tokenizers, **config: Any) -> Bundle:
    model = tiny_model(tokenizers, **config)
    return Bundle(model.config, weights_of(model), tokenizers, SearchConfig(), {"step": 3})


def segmentations(piece: str, names: set[str]) -> Iterator[list[str]]:
    """All ways to write a piece as pieces of `names`."""
    if not piece:
        yield []
    for length in range(1, len(piece) + 1):
        if piece[:length] in names:
            yield from ([piece[:length], *rest] for rest in segmentations(piece[length:], names))


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_known_piece_keeps_what_belongs_to_it_and_another_is_the_mean_of_its_parts(tie: str) -> None:
    config = {"joint": tie == "all"}
    start, larger = model_of(of_size(60, **config), tie=tie, bias=True), of_size(90, **config)
    moved = with_vocabularies(start, larger)
    assert (moved.config.source_vocab_size, moved.config.target_vocab_size) == (90, 90)
    assert moved.weights.keys() == start.weights.keys() == weights_of(moved.model).keys()
    for name, weight in moved.weights.items():
        before = start.weights[name]
        if weight.shape == before.shape:
            np.testing.assert_array_equal(weight, before)
            continue
        side = "source" if name.startswith("source") else "target"
        old, new = (getattr(each, side) for each in (start.tokenizers, larger))
        ids = {piece: index for index, piece in enumerate(old.pieces(range(60)))}
        n_known = 0
        for index, piece in enumerate(new.pieces(range(90))):
            if piece in ids:
                n_known += 1
                np.testing.assert_array_equal(weight[index], before[ids[piece]])
            else:
                means = [before[[ids[each] for each in parts]].mean(axis=0) for parts in segmentations(piece, set(ids))]
                assert any(np.allclose(weight[index], mean) for mean in means)
        assert 30 < n_known < 90


def test_the_same_vocabulary_changes_nothing() -> None:
    start = model_of(tiny_tokenizers())
    same = with_vocabularies(start, tiny_tokenizers())
    assert same.config == start.config
    for name, weight in same.weights.items():
        np.testing.assert_array_equal(weight, start.weights[name])


def with_pieces(*pieces: str) -> Tokenizer:
    """A tokenizer that cuts no text."""
    return Tokenizer(Characters(), Vocabulary(pieces))


@pytest.mark.parametrize(
    ("piece", "parts"),
    [
        ("▁hor", ["▁ho", "r"]),  # the longest beginning first, though "▁h" and "or" would do
        ("or", ["or"]),
        ("orr", ["or", "r"]),
        ("▁é", ["▁", "<0xC3>", "<0xA9>"]),  # as bytes, which this one has
        ("▁猫r", ["▁", *["<unk>"] * 3, "r"]),  # and others it lacks
    ],
)
def test_a_piece_is_made_of_the_longest_known_ones_and_of_bytes(piece: str, parts: list[str]) -> None:
    known = with_pieces("▁", "▁h", "▁ho", "o", "r", "or", "<0xC3>", "<0xA9>")
    start = model_of(Tokenizers(known, known, TokenizerConfig(joint=True), (("en", "de"),)))
    new = with_pieces("r", piece)
    moved = with_vocabularies(start, Tokenizers(new, new, TokenizerConfig(joint=True), (("en", "de"),)))
    before, after = (each.weights["source_embedding.tokens.weight"] for each in (start, moved))
    names = known.pieces(range(known.vocab_size))
    np.testing.assert_array_equal(after[:4], before[:4])
    np.testing.assert_array_equal(after[4], before[names.index("r")])
    np.testing.assert_array_equal(after[5], before[[names.index(part) for part in parts]].mean(axis=0))


@pytest.fixture
def recipe(tmp_path: Path) -> dict[str, Any]:
    """Settings of a training, and beside it the bundle `start`."""
    tokenizers = tiny_tokenizers()
    save_bundle(tmp_path / "start", tiny_model(tokenizers), tokenizers, SearchConfig(), facts={})
    (tmp_path / "text.en").write_text("".join(f"{source}\n" for source, _ in PAIRS * 5), encoding="utf-8")
    (tmp_path / "text.de").write_text("".join(f"{target}\n" for _, target in PAIRS * 5), encoding="utf-8")
    training = {"max_steps": 1, "warmup_steps": 1, "lr": 1e-6, "batch_tokens": 200, "ema": 0, "optimizer": "adam"}
    return {
        "data": {"source": str(tmp_path / "text.en"), "target": str(tmp_path / "text.de"), "validation_size": 4},
        "tokenizer": {"vocab_size": 330},
        "training": {**training, "precision": "float32"},
    }


def test_a_training_goes_on_with_a_new_vocabulary_and_after_a_stop_too(
    recipe: dict[str, Any], tmp_path: Path, log_lines: list[str]
) -> None:
    for max_steps in (1, 2):  # the second goes on
        recipe["training"]["max_steps"] = max_steps
        train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    recipe = read_recipe(tmp_path / "run" / "config.yaml")
    recipe["training"]["max_steps"] = 3
    train(recipe, tmp_path / "run", device="cpu")
    assert any("a new vocabulary" in line for line in log_lines)
    start, end = load_bundle(tmp_path / "start"), load_bundle(tmp_path / "run" / "last")
    assert (end.tokenizers.source.vocab_size, end.facts["step"]) == (330, 3)
    expected = with_vocabularies(start, end.tokenizers)
    for name, weight in end.weights.items():
        np.testing.assert_allclose(weight, expected.weights[name], atol=1e-4)


def test_a_run_that_saved_nothing_yet_needs_its_starting_model(recipe: dict[str, Any], tmp_path: Path) -> None:
    train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    shutil.rmtree(tmp_path / "run" / "checkpoints")  # as if it had been killed before the first
    with pytest.raises(ConfigError, match="it began with --init-from: give that again"):
        train(read_recipe(tmp_path / "run" / "config.yaml"), tmp_path / "run", device="cpu")


@pytest.mark.parametrize("vocab_size", [None, 320])  # tiny_tokenizers' own
def test_an_unchanged_size_keeps_the_vocabulary(
    recipe: dict[str, Any], tmp_path: Path, vocab_size: int | None, log_lines: list[str]
) -> None:
    recipe["tokenizer"]["vocab_size"] = vocab_size
    recipe["data"] |= {"source_lang": "en", "target_lang": "fr"}
    train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    before, after = (load_bundle(tmp_path / name).tokenizers for name in ("start", "run/last"))
    assert after.source.encode("A horse.") == before.source.encode("A horse.")
    assert any("translates en-de, and this text is en-fr" in line for line in log_lines)


def test_other_languages_are_reported_with_a_new_vocabulary_too(
    recipe: dict[str, Any], tmp_path: Path, log_lines: list[str]
) -> None:
    recipe["data"] |= {"source_lang": "en", "target_lang": "fr"}
    train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    assert any("translates en-de, and this text is en-fr" in line for line in log_lines)
    assert load_bundle(tmp_path / "run" / "last").tokenizers.target_lang == "fr"


def test_a_model_of_words_keeps_them(recipe: dict[str, Any], tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers("words")
    save_bundle(tmp_path / "words", tiny_model(tokenizers), tokenizers, SearchConfig(), facts={})
    with pytest.raises(ConfigError, match=r"tokenizer\.vocab_size is None in the model of --init-from"):
        train(recipe, tmp_path / "run", init_from=tmp_path / "words", device="cpu")
