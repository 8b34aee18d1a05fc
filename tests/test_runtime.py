"""The Transformer that a search runs on, in NumPy and in PyTorch: against `Transformer` and against each other."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_decoding import METHODS, assert_same, beam_of_one, config, sentences

from dragoman.config import ModelConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import ConfigError
from dragoman.model.shapes import weight_shapes
from dragoman.model.transformer import Transformer
from dragoman.runtime.array_model import ArrayModel
from dragoman.runtime.folding import fold_norms
from dragoman.runtime.layers import exponentials, softmax
from dragoman.runtime.torch_model import TorchModel
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID
from dragoman.weights import unique_weights, weights_of

Scoring = Callable[[Sequence[Transformer]], TransformerScorer]


def in_numpy(models: Sequence[Transformer]) -> TransformerScorer:
    return TransformerScorer([ArrayModel(model.config, weights_of(model)) for model in models])


def in_torch(models: Sequence[Transformer]) -> TransformerScorer:
    return TransformerScorer([TorchModel(model) for model in models])


both = pytest.mark.parametrize("scoring", [in_numpy, in_torch])
shapes = st.fixed_dictionaries(
    {},
    optional={
        "norm": st.sampled_from(["pre", "post"]),
        "norm_kind": st.sampled_from(["layer", "std", "rms"]),
        "final_norm": st.booleans(),
        "activation": st.sampled_from(["relu", "gelu", "swiglu"]),
        "bias": st.booleans(),
        "scale_embeddings": st.booleans(),
        "positions": st.sampled_from(["sinusoidal", "halves", "learned", "rotary"]),
        "memory": st.sampled_from(["last", "layerwise"]),
        "tie": st.sampled_from(["none", "decoder", "all"]),
        "d_k": st.sampled_from([4, 6]),
        "d_v": st.sampled_from([3, 8]),
    },
)


def transformer(seed: int, **options: object) -> Transformer:
    torch.manual_seed(seed)
    shape: dict[str, object] = {
        "source_vocab_size": 30,
        "target_vocab_size": 30 if options.get("tie") == "all" else 25,
        "d_model": 16,
        "d_ff": 32,
        "n_heads": 2,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "max_length": 40,
    }
    model = Transformer(ModelConfig.model_validate(shape | options)).eval()
    with torch.no_grad():
        model.output_projection.weight.mul_(3)  # an untrained model is sure of nothing
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)  # else zero, or one
    return model


@torch.no_grad()
def forced_log_prob(model: Transformer, source_ids: torch.Tensor, hypothesis: Hypothesis) -> float:
    """The log-probability of a translation, all its positions computed at once."""
    written = [*hypothesis.ids, *[EOS_ID] * hypothesis.finished]
    log_probs = model(source_ids, torch.tensor([[SOS_ID, *written[:-1]]])).log_softmax(-1)[0]
    return float(log_probs[torch.arange(len(written)), torch.tensor(written)].sum())


@both
@pytest.mark.parametrize("memory", ["last", "layerwise"])
@pytest.mark.parametrize("method", METHODS)
def test_log_probabilities_are_those_of_forced_decoding(
    memory: str, method: dict[str, object], scoring: Scoring
) -> None:
    model = transformer(1, memory=memory)
    source_ids = sentences(1, 7, 4, 2, 7)
    found = search(scoring([model]), source_ids, config(**method), prefixes=[[], [9, 8], [], [7], []])
    for ids, hypotheses in zip(torch.from_numpy(source_ids), found, strict=True):
        for each in hypotheses:
            expected = forced_log_prob(model, ids[ids != PAD_ID][None], each)
            assert each.log_prob == pytest.approx(expected, abs=1e-4)


@both
@pytest.mark.parametrize("method", METHODS)
def test_a_transformer_gives_the_same_alone_and_in_a_batch(method: dict[str, object], scoring: Scoring) -> None:
    scorer = scoring([transformer(2)])
    lengths = [3, 9, 1, 6, 9, 2]
    together = search(scorer, sentences(*lengths), config(**method))
    for length, hypotheses in zip(lengths, together, strict=True):
        assert_same(hypotheses, search(scorer, sentences(length), config(**method))[0])
    if method == {"beam_size": 1}:
        for one, other in zip(beam_of_one(scorer, sentences(*lengths), config(**method)), together, strict=True):
            assert_same(one, other)


@both
def test_an_ensemble_of_a_model_and_itself_is_that_model(scoring: Scoring) -> None:
    one = transformer(3)
    for alone, twice in zip(
        search(scoring([one]), sentences(3, 5), config(n_best=5)),
        search(scoring([one, one]), sentences(3, 5), config(n_best=5)),
        strict=True,
    ):
        assert_same(twice, alone)


@both
@settings(max_examples=40)
@given(options=shapes)
def test_hypotheses_that_branch_end_and_change_places_are_those_of_the_full_forward(
    options: dict[str, object], scoring: Scoring
) -> None:
    """Random rows are kept, repeated and left out; each reads what a forward pass over its whole path gives."""
    dice = np.random.default_rng(len(options))
    model = transformer(3, **options)
    source_ids = sentences(5, 2, 7, 1, 4, 3)
    state = scoring([model]).start(source_ids)
    sentence = np.arange(len(source_ids))
    written = np.full((len(source_ids), 1), SOS_ID)
    for n_rows in (9, 9, 20, 4, 4, 8, 1, 3):
        log_probs = state.step(written[:, -1]).array()
        with torch.no_grad():
            logits = model(torch.from_numpy(source_ids[sentence]), torch.from_numpy(written))[:, -1]
        np.testing.assert_allclose(log_probs, logits.log_softmax(dim=-1), rtol=1e-4, atol=2e-5)
        rows = dice.integers(0, len(sentence), n_rows)
        state.select(rows)
        new = dice.integers(4, 25, (n_rows, 1))
        sentence, written = sentence[rows], np.concatenate((written[rows], new), axis=1)


@given(options=shapes)
@settings(max_examples=60)
def test_the_shapes_of_a_model_are_told_from_its_configuration(options: dict[str, object]) -> None:
    model = transformer(1, **options)
    assert weight_shapes(model.config) == {name: tuple(each.shape) for name, each in unique_weights(model).items()}


@pytest.mark.parametrize("kind", ["layer", "std", "rms"])
def test_folded_norms_have_only_a_size_left(kind: str) -> None:
    """That the function stays the same is what the tests above say, of all that can be folded and all that cannot."""
    model = transformer(1, norm="pre", norm_kind=kind)
    folded = fold_norms(model.config, {name: weight.numpy() for name, weight in model.state_dict().items()})
    assert not [name for name in folded if "norm" in name]
    for name in ("source_embedding.tokens.weight", "decoder_layers.1.feed_forward.outer.bias"):
        assert (np.abs(folded[name].mean(axis=-1)).max() < 1e-7) == (kind != "rms")


def test_exponentials_of_extreme_scores() -> None:
    """Where they overflow or vanish, what is made of them is still exact."""
    scores = np.array([[0, 1, 2], [300, 301, -300], [-500, -501, -502], [-0.0, 89, -89]], dtype=np.float32)
    with np.errstate(over="ignore"):
        for some in (scores, scores[:1]):
            wide = torch.from_numpy(some).double()
            _, total, shift = exponentials(some)
            np.testing.assert_allclose(np.log(total) + shift, wide.logsumexp(dim=-1, keepdim=True), rtol=1e-6)
            np.testing.assert_allclose(softmax(some), wide.softmax(dim=-1), rtol=1e-5, atol=1e-30)


@both
def test_an_ensemble_averages_probabilities(scoring: Scoring) -> None:
    models = [transformer(seed, d_model=8 * seed) for seed in (1, 2)]
    source_ids, last_ids = sentences(2, 3), np.array([SOS_ID, SOS_ID])
    singly = [np.exp(scoring([model]).start(source_ids).step(last_ids).array()) for model in models]
    mean = np.exp(scoring(models).start(source_ids).step(last_ids).array())
    np.testing.assert_allclose(mean, (singly[0] + singly[1]) / 2, rtol=1e-5)


def test_what_cannot_be_searched_with_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"\(30, 24\), \(30, 25\)"):
        in_numpy([transformer(1), transformer(1, target_vocab_size=24)])
    with pytest.raises(ConfigError, match="no models"):
        TransformerScorer([])
    with pytest.raises(ConfigError, match="training mode"):
        search(in_torch([transformer(1).train()]), sentences(1), config())


@both
def test_the_models_longest_translation_can_be_written(scoring: Scoring) -> None:
    scorer = scoring([transformer(1, max_length=10)])
    for method in METHODS:
        for each in search(scorer, sentences(2, 8), config(**method, min_length=10))[0]:
            assert len(each.ids) == 10
