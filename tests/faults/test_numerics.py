"""G12: the numerical rows (N) on random models and batches; and trained models say the same alone and in a batch."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from amount import FULL
from models import sentences
from oracles.array_model import ArrayModel
from torch import Tensor

from dragoman import Translator
from dragoman.bundle.weights import weights_of
from dragoman.corpora.synthetic import make_corpus
from dragoman.decoding.hypothesis import best_first
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIds

pytestmark = pytest.mark.torch

SOS_ID, EOS_ID = SpecialIds().start, SpecialIds().end

N_SHAPES = 1000 if FULL else 50
N_SENTENCES = 1000 if FULL else 100
TOLERANCE = 1e-5  # float32, on scores of about unit size
RELEASES = Path(__file__).parents[1] / "releases"


def some_model(dice: random.Random) -> Transformer:
    """Any of the model's variants, in any small size."""
    n_heads, depth = dice.randint(1, 4), dice.randint(1, 3)
    memory = dice.choice(["last", "layerwise"])
    fields: dict[str, Any] = {
        "d_model": 2 * n_heads * dice.randint(1, 8),
        "d_ff": dice.randint(1, 40),
        "n_heads": n_heads,
        "n_encoder_layers": depth,
        "n_decoder_layers": depth if memory == "layerwise" else dice.randint(1, 3),
        "memory": memory,
        "norm": dice.choice(["pre", "post"]),
        "norm_kind": dice.choice(["layer", "rms", "std"]),
        "positions": dice.choice(["sinusoidal", "halves", "learned", "rotary"]),
        "activation": dice.choice(["relu", "gelu", "silu", "swiglu"]),
        "tie": dice.choice(["none", "decoder", "all"]),
        "bias": dice.choice([True, False]),
        "scale_embeddings": dice.choice([True, False]),
        "d_k": dice.choice([None, 2, 6]),
        "d_v": dice.choice([None, 1, 5]),
    }
    torch.manual_seed(dice.randrange(2**31))
    n_words = dice.randint(5, 40)
    return Transformer(
        ModelConfig(source_vocab_size=n_words, target_vocab_size=n_words, max_length=64, **fields)
    ).eval()


def some_sentences(model: Transformer, dice: random.Random) -> tuple[list[list[int]], list[list[int]]]:
    def sentence() -> list[int]:
        return [dice.randrange(4, model.config.source_vocab_size) for _ in range(dice.randint(0, 20))]

    n_rows = dice.randint(1, 5)
    return [[*sentence(), EOS_ID] for _ in range(n_rows)], [[SOS_ID, *sentence()] for _ in range(n_rows)]


def difference(one: Tensor, other: Tensor) -> float:
    """The largest, relative to the size of the scores where that is more than one."""
    return float((one - other).detach().abs().max() / max(1.0, float(one.detach().abs().max())))


def check(dice: random.Random) -> None:
    model = some_model(dice)
    source_rows, target_rows = some_sentences(model, dice)
    source, target = sentences(*source_rows), sentences(*target_rows)
    logits = model(source, target)
    assert logits.isfinite().all()
    real = target != 0

    # N1: a row of padding
    padded = model(sentences(*source_rows, []), sentences(*target_rows, []))
    assert difference(logits[real], padded[:-1][real]) < TOLERANCE
    padded.square().mean().backward()
    assert all(each.grad is None or each.grad.isfinite().all() for each in model.parameters())

    # N3: the future
    position = dice.randrange(target.size(1))
    changed = target.clone()
    changed[:, position + 1 :] = dice.randrange(4, model.config.target_vocab_size)
    assert torch.equal(model(source, changed)[:, : position + 1], logits[:, : position + 1])

    # N4: padding and neighbours; N5: the shortest
    row = dice.randrange(len(source_rows))
    n_pads = dice.randint(0, 30)
    among = model(
        sentences([4] * (20 + n_pads), source_rows[row], [EOS_ID]), sentences([SOS_ID, 4], target_rows[row], [SOS_ID])
    )
    n_tokens = len(target_rows[row])
    assert difference(logits[row, :n_tokens], among[1, :n_tokens]) < TOLERANCE

    # N6: stepping, and searching
    cache = model.start_cache(model.encode(source), padding_mask(source, 0))
    stepped = torch.cat([model.project(model.step(ids[:, None], cache)) for ids in target.unbind(1)], dim=1)
    assert difference(logits[real], stepped[real]) < 10 * TOLERANCE
    kernels, width = dice.choice([*usable_kernels(), None]), dice.randint(1, 4)
    arguments = model.config, weights_of(model)
    scorer = TransformerScorer([CompiledModel(*arguments, kernels) if kernels else ArrayModel(*arguments)])
    greedy = search(scorer, source.numpy(), SearchConfig(beam_size=1))
    beams = search(scorer, source.numpy(), SearchConfig(beam_size=width, n_best=width))
    for (best,), beam in zip(greedy, beams, strict=True):
        assert beam == best_first(beam)
        if width == 1:
            assert beam[0].ids == best.ids
    first = beams[row][0]
    written = [*first.ids, EOS_ID] if first.finished else list(first.ids)
    forced = model(sentences(source_rows[row]), sentences([SOS_ID, *written[:-1]])).log_softmax(dim=-1)
    log_prob = float(forced[0, range(len(written)), written].detach().sum())
    assert abs(log_prob - first.log_prob) < 1e-4


def test_random_shapes(figure: Callable[..., None]) -> None:
    for seed in range(N_SHAPES):
        try:
            check(random.Random(seed))
        except Exception as error:
            raise AssertionError(f"shape number {seed}") from error
    figure("G12", "random models and batches", shapes=N_SHAPES)


@pytest.mark.parametrize("kind", ["characters", "words"])
def test_a_trained_model_says_the_same_alone_and_in_a_batch(kind: str, figure: Callable[..., None]) -> None:
    translator = Translator.load(RELEASES / "0.1.0" / kind, device="cpu")
    corpus = make_corpus("copy" if kind == "characters" else "captions", 1, 1, N_SENTENCES, seed=7)
    sources = [source for source, _ in corpus.test]
    together = [each.text for each in translator.translate(sources)]
    alone = [translator.translate(source).text for source in sources]
    equal = sum(one == other for one, other in zip(together, alone, strict=True))
    assert equal == N_SENTENCES if kind == "characters" else equal >= 0.999 * N_SENTENCES
    figure("G12", f"alone and in a batch, {kind}", sentences=N_SENTENCES, equal=equal)
