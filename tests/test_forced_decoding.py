"""Forced decoding on a CPU: probabilities and attention equal those of PyTorch, for every shape of a model."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from models import random_model, shapes
from tiny import tiny_model

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.weights import weights_of
from dragoman.decoding.search import search
from dragoman.machine.devices import Precision
from dragoman.model.transformer import Transformer
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.runtime.forced_steps import forced_attention, forced_log_probs
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import ComputeOptions, Translator, forced_in_torch
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.models import TrainedModels
from dragoman.translator.padding import IdPair, pad_pairs

pytestmark = pytest.mark.torch

Load = Callable[[Transformer], CompiledModel]


def compiled(model: Transformer, library: int) -> CompiledModel:
    return CompiledModel(model.config, weights_of(model), usable_kernels()[library])


ENGINES = [partial(compiled, library=number) for number in range(len(usable_kernels()))]
ids = st.lists(st.integers(4, 24), max_size=12)


@pytest.mark.parametrize("load", ENGINES, ids=[each.name for each in usable_kernels()])
@settings(max_examples=60)
@given(shape=shapes, pairs=st.lists(st.tuples(ids, ids), min_size=1, max_size=4))
def test_every_model_scores_and_attends_as_in_pytorch(
    load: Load, shape: dict[str, object], pairs: Sequence[IdPair]
) -> None:
    model = random_model(1, **shape)
    engine = load(model)
    source_ids, target_ids = pad_pairs(pairs, SpecialIdPair())
    with_end = pad_pairs([(source, [*target, SpecialIds().end]) for source, target in pairs], SpecialIdPair())
    expected = forced_in_torch.forced_log_probs(model, *with_end)
    log_probs = forced_log_probs(engine, *with_end)
    attention = forced_attention(engine, source_ids, target_ids)
    expected_attention = forced_in_torch.forced_attention(model, source_ids, target_ids)
    assert attention.shape == expected_attention.shape
    for row, (source, target) in enumerate(pairs):
        scored = np.s_[row, : len(target) + 1]
        np.testing.assert_allclose(log_probs[scored], expected[scored], atol=2e-5, rtol=1e-4)
        real = np.s_[:, row, :, : len(target) + 1]
        np.testing.assert_allclose(attention[real], expected_attention[real], atol=2e-5)
        assert not attention[real][..., len(source) + 1 :].any(), "padding has no weight"


few_ids = st.lists(st.integers(4, 6), max_size=5)


@settings(max_examples=60)
@given(pairs=st.lists(st.tuples(few_ids, few_ids), min_size=1, max_size=8))
def test_pairs_with_equal_sources_and_beginnings_are_scored_as_if_alone(pairs: Sequence[IdPair]) -> None:
    engine = compiled(random_model(1), 0)
    end = SpecialIds().end
    together = forced_log_probs(engine, *pad_pairs([(s, [*t, end]) for s, t in pairs], SpecialIdPair()))
    for row, (source, target) in enumerate(pairs):
        alone = forced_log_probs(engine, *pad_pairs([(source, [*target, end])], SpecialIdPair()))[0]
        np.testing.assert_allclose(together[row, : len(alone)], alone, atol=2e-5, rtol=1e-4)
        assert not together[row, len(alone) :].any(), "padding is not scored"


@pytest.mark.parametrize("n_models", [1, 3])
def test_a_decoder_on_the_cpu_equals_that_in_pytorch(tokenizers: Tokenizers, n_models: int) -> None:
    models = [tiny_model(tokenizers, seed, n_decoder_layers=2) for seed in range(n_models)]
    trained = TrainedModels(models, ComputeOptions())
    on_cpu, heads = ForcedDecoder(trained, trained.for_search()), AlignmentHeads(heads=((1, 0), (0, 1)), shifted=True)
    wide = [torch.nn.Module.double(tiny_model(tokenizers, seed, n_decoder_layers=2)) for seed in range(n_models)]
    trained = TrainedModels(wide, ComputeOptions())
    in_torch = ForcedDecoder(trained, trained.for_search())  # doubles are for PyTorch alone
    pairs = [([5, 6, 7], [8, 9, 10, 11]), ([], [4]), ([4] * 12, [])]
    for found, expected, (_, target) in zip(on_cpu.log_probs(pairs), in_torch.log_probs(pairs), pairs, strict=True):
        assert len(found) == len(target) + 1
        assert found == pytest.approx(expected, abs=1e-5)
    assert on_cpu.log_probs([]) == []
    weights = zip(on_cpu.token_weights(pairs, heads), in_torch.token_weights(pairs, heads), pairs, strict=True)
    for found_weights, expected_weights, (source, target) in weights:
        assert found_weights.shape == (len(target), len(source))
        np.testing.assert_allclose(found_weights, expected_weights, atol=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_a_translation_has_the_score_of_its_search_in_every_precision(
    tokenizers: Tokenizers, precision: Precision
) -> None:
    translator = Translator([tiny_model(tokenizers)], tokenizers, compute=ComputeOptions(precision=precision))
    source_ids = tokenizers.source.encode("A man is riding a horse.")
    (best,) = search(translator.scorer, np.array([[*source_ids, SpecialIds().end]]), SearchConfig(beam_size=2))[0]
    (forced,) = translator.forced_decoder.log_probs([(source_ids, best.ids)])
    assert forced[: len(best.token_log_probs)] == pytest.approx(best.token_log_probs, abs=1e-4)
