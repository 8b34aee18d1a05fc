"""A model that is made larger begins with the function that it had, and all that is added learns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from runs import settings
from tiny import tiny_model, tiny_tokenizers

from dragoman.bundle import load_bundle
from dragoman.errors import ConfigError
from dragoman.training import train
from dragoman.training.growth import load_grown
from dragoman.weights import unique_weights, weights_of

IDS = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]]), torch.tensor([[1, 6, 5, 4], [1, 9, 7, 0]])
LARGER = {"d_ff": 40, "n_encoder_layers": 3, "n_decoder_layers": 4}


@pytest.mark.parametrize(
    ("shape", "larger"),
    [
        ({"norm": "pre"}, LARGER),
        ({"norm": "pre", "bias": False, "tie": "none", "final_norm": False}, LARGER),
        ({"norm": "pre", "activation": "swiglu", "positions": "rotary", "norm_kind": "rms"}, LARGER),
        ({"norm": "pre", "memory": "layerwise"}, {**LARGER, "n_encoder_layers": 4}),
        ({"norm": "post"}, {"d_ff": 40}),
        ({"norm": "post"}, {}),
    ],
)
def test_it_computes_what_it_did_and_all_that_is_added_learns(shape: dict[str, Any], larger: dict[str, int]) -> None:
    tokenizers = tiny_tokenizers()
    start, model = tiny_model(tokenizers, **shape), tiny_model(tokenizers, **{**shape, **larger})
    load_grown(model, weights_of(start))
    start.eval()
    model.eval()
    assert torch.allclose(model(*IDS), start(*IDS), atol=1e-5)
    before = {name: weight.copy() for name, weight in weights_of(model).items()}
    old = weights_of(start)
    for _ in range(3):  # the last maps move, then what comes before them
        model.zero_grad()
        model(*IDS).square().sum().backward()
        with torch.no_grad():
            for weight in model.parameters():
                weight -= 0.001 * weight.grad
    for name, weight in weights_of(model).items():
        if name not in old or old[name].shape != weight.shape:
            known = old.get(name, weight[:0, :0] if weight.ndim == 2 else weight[:0])
            added = np.ones(weight.shape, bool)
            added[tuple(map(slice, known.shape))] = False
            assert (weight != before[name])[added].any(), name


def test_only_what_does_nothing_is_added() -> None:
    tokenizers = tiny_tokenizers()
    start, model = tiny_model(tokenizers, norm="pre"), tiny_model(tokenizers, norm="pre", **LARGER)
    random = {name: weight.clone() for name, weight in unique_weights(model).items()}
    load_grown(model, weights_of(start))
    for name, weight in unique_weights(model).items():
        if name.endswith("layers.2.feed_forward.inner.weight"):
            assert torch.equal(weight, random[name])
        if name.endswith("layers.2.feed_forward.outer.weight"):
            assert not weight.any()


def test_a_training_goes_on_with_a_larger_model(corpus: Path, tmp_path: Path) -> None:
    recipe, told = settings(corpus, max_steps=2, warmup_steps=1, lr=1e-6), list[str]()
    recipe["model"]["norm"] = "pre"
    train(recipe, tmp_path / "small", device="cpu", report=lambda line: None)
    start = load_bundle(tmp_path / "small")
    size = start.config.d_ff, start.config.n_decoder_layers
    recipe["model"] = {"d_ff": size[0] + 8, "n_decoder_layers": size[1] + 1}
    for _ in range(2):  # the second goes on, and has nothing to do
        train(recipe, tmp_path / "run", init_from=tmp_path / "small", device="cpu", report=told.append)
    larger = load_bundle(tmp_path / "run").config
    assert (larger.d_ff, larger.n_decoder_layers) == (size[0] + 8, size[1] + 1)
    assert f"loss {start.facts['loss']:.3f}" in next(line for line in told if line.startswith("validation at step 0"))


@pytest.mark.parametrize(("key", "value"), [("d_ff", 1), ("d_model", 160), ("n_encoder_layers", 2)])
def test_what_cannot_grow_is_refused(key: str, value: int, corpus: Path, reference: Path, tmp_path: Path) -> None:
    """Its layers cannot, since they are post-norm."""
    recipe = {**settings(corpus), "model": {key: value}}
    with pytest.raises(
        ConfigError, match=rf"model.{key} is \d+ in .* --init-from, not {value}; .*new, and d_ff larger"
    ):
        train(recipe, tmp_path / "run", init_from=reference / "last", device="cpu")
