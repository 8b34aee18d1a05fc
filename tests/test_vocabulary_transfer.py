"""A model goes on with another vocabulary from where it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import PAIRS, tiny_model, tiny_tokenizers

from dragoman.bundle import Bundle, load_bundle, save_bundle
from dragoman.config import SearchConfig, TokenizerConfig
from dragoman.recipe import read_recipe
from dragoman.text.tokenizer import Tokenizers, learn_tokenizers
from dragoman.text.vocabulary import UNK_ID
from dragoman.training import train
from dragoman.training.vocabulary_transfer import with_vocabularies
from dragoman.weights import weights_of


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


def test_what_no_known_token_begins_is_as_unk() -> None:
    start = model_of(of_size(60))
    longer = learn_tokenizers(
        lambda: iter([*PAIRS, ("⁂⁑", "⁑⁂")]), TokenizerConfig(vocab_size=70, byte_fallback=False), "en", "de"
    )
    moved = with_vocabularies(start, longer)
    rows, before = (each.weights["source_embedding.tokens.weight"] for each in (moved, start))
    for index, piece in enumerate(longer.source.pieces(range(longer.source.vocab_size))):
        if set(piece) <= {"⁂", "⁑"}:
            np.testing.assert_array_equal(rows[index], before[UNK_ID])


def test_a_training_goes_on_with_a_new_vocabulary_and_after_a_stop_too(tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers()
    save_bundle(tmp_path / "start", tiny_model(tokenizers), tokenizers, SearchConfig(), facts={})
    (tmp_path / "text.en").write_text("".join(f"{source}\n" for source, _ in PAIRS * 5), encoding="utf-8")
    (tmp_path / "text.de").write_text("".join(f"{target}\n" for _, target in PAIRS * 5), encoding="utf-8")
    recipe: dict[str, Any] = {
        "data": {"source": str(tmp_path / "text.en"), "target": str(tmp_path / "text.de"), "validation_size": 4},
        "tokenizer": {"vocab_size": 330},
    }
    training = {
        "warmup_steps": 1,
        "lr": 1e-6,
        "batch_tokens": 200,
        "ema": 0,
        "optimizer": "adam",
        "precision": "float32",
    }
    told: list[str] = []
    for max_steps in (1, 2):  # the second goes on
        recipe["training"] = {**training, "max_steps": max_steps}
        train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu", report=told.append)
    recipe = read_recipe(tmp_path / "run" / "config.yaml")
    recipe["training"]["max_steps"] = 3
    train(recipe, tmp_path / "run", device="cpu", report=told.append)
    assert sum("the vocabulary is a new one" in line for line in told) == 2
    start, end = load_bundle(tmp_path / "start"), load_bundle(tmp_path / "run" / "last")
    assert (end.tokenizers.source.vocab_size, end.facts["step"]) == (330, 3)
    expected = with_vocabularies(start, end.tokenizers)
    for name, weight in end.weights.items():
        np.testing.assert_allclose(weight, expected.weights[name], atol=1e-4)
