"""The Transformer that a search runs on, in NumPy, compiled, and in PyTorch: against `Transformer` and each other."""

import ctypes
import gc
import itertools
import platform
import runpy
import shutil
import subprocess
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial, partialmethod
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch
from engines import ALL_KERNELS, COMPILER, every_library, needs_compiler
from hypothesis import given, settings
from hypothesis import strategies as st
from models import random_model, shapes
from numpy.typing import NDArray
from oracles.array_layers import Linear, exponentials, softmax
from oracles.array_model import ArrayModel
from oracles.embedding import PositionTable
from oracles.folding import can_fold, fold_norms
from setuptools import Extension
from test_decoding import METHODS, assert_same, beam_of_one, config, sentences

from dragoman import native
from dragoman.bundle.weights import weights_of
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import FORBIDDEN, ROWS_AT_ONCE, ArrayScores, Scores
from dragoman.decoding.search import search
from dragoman.decoding.state import State, TransformerScorer
from dragoman.errors import ConfigError, DragomanError
from dragoman.machine.arrays import Floats
from dragoman.model.transformer import Transformer
from dragoman.native import kernels as kernels_module
from dragoman.native.kernels import LIBRARIES, Kernels, header, usable_kernels
from dragoman.native.libraries import SUFFIX, load
from dragoman.runtime.compiled_model import CompiledModel, CompiledScores
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.runtime.projection import ProjectedScores
from dragoman.runtime.torch_model import TorchModel
from dragoman.text.special_ids import SpecialIds

pytestmark = pytest.mark.torch

PAD_ID, SOS_ID, EOS_ID = SpecialIds().pad, SpecialIds().start, SpecialIds().end

ROOT = Path(__file__).parent.parent


def extension(library: str) -> Extension:
    """One of the libraries, as setup.py describes it."""
    modules: list[Extension] = runpy.run_path(str(ROOT / "setup.py"))["EXTENSIONS"]
    return next(each for each in modules if each.name == f"dragoman.native.{library}")


def build(sources: Sequence[Path], options: Sequence[str], library: Path) -> None:
    files = [str(source) for source in sources if source.suffix == ".c"]
    subprocess.run([str(COMPILER), *options, "-shared", "-fPIC", "-o", str(library), *files, "-lm"], check=True)


Scoring = Callable[[Sequence[Transformer]], TransformerScorer]


def in_numpy(models: Sequence[Transformer]) -> TransformerScorer:
    return TransformerScorer([ArrayModel(model.config, weights_of(model)) for model in models])


def in_torch(models: Sequence[Transformer]) -> TransformerScorer:
    return TransformerScorer([TorchModel(model) for model in models])


def compiled(models: Sequence[Transformer], kernels: Kernels) -> TransformerScorer:
    return TransformerScorer([CompiledModel(model.config, weights_of(model), kernels) for model in models])


ALL_NAMES = [*dict.fromkeys(itertools.chain(*LIBRARIES.values()))]
INTEGERS = [kernels for kernels in ALL_KERNELS if kernels.largest_weight]


def ways(libraries: Sequence[Kernels]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "scoring",
        [
            *(pytest.param(scoring, id=scoring.__name__) for scoring in (in_numpy, in_torch)),
            *(pytest.param(partial(compiled, kernels=kernels), id=kernels.name) for kernels in libraries),
        ],
    )


everywhere = ways(usable_kernels())


@torch.no_grad()
def forced_log_prob(model: Transformer, source_ids: torch.Tensor, hypothesis: Hypothesis) -> float:
    """The log-probability of a translation, all its positions computed at once."""
    written = [*hypothesis.ids, *[EOS_ID] * hypothesis.finished]
    log_probs = model(source_ids, torch.tensor([[SOS_ID, *written[:-1]]])).log_softmax(-1)[0]
    return float(log_probs[torch.arange(len(written)), torch.tensor(written)].sum())


@everywhere
@pytest.mark.parametrize("memory", ["last", "layerwise"])
@pytest.mark.parametrize("method", METHODS)
def test_log_probabilities_are_those_of_forced_decoding(
    memory: str, method: dict[str, object], scoring: Scoring
) -> None:
    model = random_model(1, memory=memory)
    source_ids = sentences(1, 7, 4, 2, 7)
    found = search(scoring([model]), source_ids, config(**method), prefixes=[[], [9, 8], [], [7], []])
    for ids, hypotheses in zip(torch.from_numpy(source_ids), found, strict=True):
        for each in hypotheses:
            expected = forced_log_prob(model, ids[ids != PAD_ID][None], each)
            assert each.log_prob == pytest.approx(expected, abs=1e-4)


@everywhere
@pytest.mark.parametrize("method", METHODS)
def test_a_recurrent_decoder_gives_the_log_probabilities_of_forced_decoding(
    method: dict[str, object], scoring: Scoring
) -> None:
    model = random_model(1, decoder_layer="ssru")
    source_ids = sentences(1, 7, 4, 2, 7)
    found = search(scoring([model]), source_ids, config(**method), prefixes=[[], [9, 8], [], [7], []])
    for ids, hypotheses in zip(torch.from_numpy(source_ids), found, strict=True):
        for each in hypotheses:
            expected = forced_log_prob(model, ids[ids != PAD_ID][None], each)
            assert each.log_prob == pytest.approx(expected, abs=1e-4)


@everywhere
@pytest.mark.parametrize("method", METHODS)
def test_a_transformer_gives_the_same_alone_and_in_a_batch(method: dict[str, object], scoring: Scoring) -> None:
    scorer = scoring([random_model(2)])
    lengths = [3, 9, 1, 6, 9, 2]
    together = search(scorer, sentences(*lengths), config(**method))
    for length, hypotheses in zip(lengths, together, strict=True):
        assert_same(hypotheses, search(scorer, sentences(length), config(**method))[0])
    if method == {"beam_size": 1}:
        for one, other in zip(beam_of_one(scorer, sentences(*lengths), config(**method)), together, strict=True):
            assert_same(one, other)


@everywhere
def test_an_ensemble_of_a_model_and_itself_is_that_model(scoring: Scoring) -> None:
    one = random_model(3)
    for alone, twice in zip(
        search(scoring([one]), sentences(3, 5), config(n_best=5)),
        search(scoring([one, one]), sentences(3, 5), config(n_best=5)),
        strict=True,
    ):
        assert_same(twice, alone)


@everywhere
@settings(max_examples=40)
@given(options=shapes)
def test_hypotheses_that_branch_end_and_change_places_are_those_of_the_full_forward(
    options: dict[str, object], scoring: Scoring
) -> None:
    """Random rows are kept, repeated and left out; each reads what a forward pass over its whole path gives."""
    dice = np.random.default_rng(len(options))
    model = random_model(3, **options)
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


def distances(states: dict[str, State], *pairs: tuple[str, str]) -> list[float]:
    """Mean squared distances of log-probabilities, for rows that branch and end: fewer and more of them than are
    multiplied together, over more tokens than a vector has."""
    squares = np.zeros(len(pairs))
    dice = np.random.default_rng(1)
    n_now = len(UNEVEN)
    last_ids = np.full(n_now, SOS_ID)
    for n_rows in (9, 40, 70, 33, 17, 16, 5, 1, 2):
        log_probs = {name: state.step(last_ids).array() for name, state in states.items()}
        squares += [np.mean((log_probs[one] - log_probs[other]) ** 2) for one, other in pairs]
        rows = dice.integers(0, n_now, n_rows)
        for state in states.values():
            state.select(rows)
        last_ids, n_now = dice.integers(4, 25, n_rows), n_rows
    return squares.tolist()


UNEVEN = sentences(5, 20, 7, 1, 33, 3)
UNEVEN_SHAPES = [
    {"norm": norm, "positions": positions, "d_model": d_model, "d_ff": d_ff, "d_k": d_k, "d_v": d_v}
    for d_model, d_ff, d_k, d_v in ((16, 32, 4, 8), (36, 17, 6, 3), (48, 96, 6, 24))
    for norm in ("pre", "post")
    for positions in ("sinusoidal", "rotary")
]
UNEVEN_SHAPES += [
    {"decoder_layer": "ssru", "norm": norm, "d_model": 36, "d_ff": 17, "n_heads": 3} for norm in ("pre", "post")
]
uneven = pytest.mark.parametrize("shape", UNEVEN_SHAPES, ids=lambda shape: "-".join(map(str, shape.values())))


@pytest.fixture(scope="module", params=["with tiles", pytest.param("without", marks=needs_compiler)])
def bfloat16_kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    """Also as they are on a processor with AVX-512 BF16 but without AMX."""
    kernels = next(iter(usable_kernels("bfloat16")), None)
    if kernels is None or kernels.pack == 1:
        pytest.skip("needs a processor that multiplies bfloat16")
    if request.param == "with tiles":
        return kernels
    library = tmp_path_factory.mktemp("kernels") / "kernels.so"
    built = extension("_kernels_bfloat16")
    options = [each for each in built.extra_compile_args if "amx" not in each]
    build([ROOT / source for source in built.sources], options, library)
    return Kernels("without tiles", ctypes.CDLL(str(library)))


@uneven
def test_bfloat16_in_products_alone_is_closer_than_a_model_in_bfloat16(
    shape: dict[str, object], bfloat16_kernels: Kernels
) -> None:
    model = random_model(5, source_vocab_size=60, **shape)
    states = {
        "float32": compiled([model], usable_kernels()[0]).start(UNEVEN),
        "kernels": compiled([model], bfloat16_kernels).start(UNEVEN),
        "PyTorch": in_torch([deepcopy(model).bfloat16()]).start(UNEVEN),
    }
    products, everything = distances(states, ("kernels", "float32"), ("PyTorch", "float32"))
    assert 0 < products < everything


def product_of_integers(linear: Linear, largest: int, x: Floats, out: Floats | None = None) -> Floats:
    """x W + b, inputs in steps of a 254th of their row's range, and weights of a part of their column's largest."""
    range_ = x.max(axis=1, keepdims=True).clip(0) - x.min(axis=1, keepdims=True).clip(None, 0)
    steps = range_.clip(1e-30) / np.float32(254), np.abs(linear.weight).max(axis=0).clip(1e-30) / np.float32(largest)
    rounded = [np.rint(numbers / step) * step for numbers, step in zip((x, linear.weight), steps, strict=True)]
    product: Floats = np.matmul(*rounded, out=out)
    return product if linear.bias is None else np.add(product, linear.bias, out=product)


@uneven
@pytest.mark.parametrize("kernels", INTEGERS, ids=lambda kernels: kernels.name)
def test_products_of_integers_are_those_of_a_model_that_rounds(
    shape: dict[str, object], kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closer than bfloat16 is to float32; and with bfloat16 in attention, hardly further from float32 than it."""
    monkeypatch.setattr(Linear, "__call__", partialmethod(product_of_integers, kernels.largest_weight))
    model = random_model(5, source_vocab_size=60, **shape)
    states = {
        "float32": compiled([model], usable_kernels()[0]).start(UNEVEN),
        "kernels": compiled([model], kernels).start(UNEVEN),
        "rounding": in_numpy([model]).start(UNEVEN),
        "PyTorch": in_torch([deepcopy(model).bfloat16()]).start(UNEVEN),
    }
    pairs = ("kernels", "rounding"), ("PyTorch", "float32"), ("kernels", "float32"), ("rounding", "float32")
    own, coarse, ours, rounding = distances(states, *pairs)
    assert 0 < own < coarse if kernels.pack == 1 else 0 < ours < 1.5 * rounding


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("memory", ["last", "layerwise"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["layer", "std", "rms"])
def test_a_model_whose_norms_are_folded_is_the_same_function(
    kind: str, bias: bool, memory: str, positions: str, activation: str
) -> None:
    parts = {"norm_kind": kind, "bias": bias, "memory": memory, "positions": positions, "activation": activation}
    model = random_model(4, norm="pre", d_k=6, d_v=3, **parts)
    assert can_fold(model.config)
    weights = weights_of(model)
    before = {name: weight.copy() for name, weight in weights.items()}
    source_ids, written = sentences(5, 2, 7), np.array([[SOS_ID, 9], [SOS_ID, 4], [SOS_ID, 12]])
    state = TransformerScorer([ArrayModel(model.config, weights)]).start(source_ids)
    state.step(written[:, 0])
    log_probs = state.step(written[:, 1]).array()
    with torch.no_grad():
        logits = model(torch.from_numpy(source_ids), torch.from_numpy(written))[:, -1]
    np.testing.assert_allclose(log_probs, logits.log_softmax(dim=-1), rtol=1e-4, atol=2e-5)
    for name, weight in weights.items():
        np.testing.assert_array_equal(weight, before[name])


def test_a_folded_norm_has_no_gain_and_no_mean_left() -> None:
    model = random_model(1, norm="pre")
    folded = fold_norms(model.config, {name: weight.numpy() for name, weight in model.state_dict().items()})
    assert not [name for name in folded if "norm" in name]
    added = [name for name in folded if "attention.output_projection" in name or "feed_forward.outer" in name]
    assert len(added) == 2 * (2 + 2 + 2 + 2 + 2)  # weights and biases of five sublayers in two layers
    for name in added:
        np.testing.assert_allclose(folded[name].mean(axis=0), 0, atol=1e-7)


#: Below, at and above what is computed at once.
N_ROWS = [1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE + 12]


@pytest.mark.parametrize("one_in", [23, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("n_rows", N_ROWS)
def test_scores_of_some_rows_at_a_time_are_those_of_all(n_rows: int, one_in: int) -> None:
    """Whatever is asked of them, in any order: as of a matrix that exists."""
    dice = np.random.default_rng(n_rows)
    hidden, matrix = dice.normal(size=(n_rows, 8)).astype(np.float32), dice.normal(size=(8, 300)).astype(np.float32)
    buffer = np.empty((ROWS_AT_ONCE, 300), dtype=np.float32)
    rows, ids = np.unique(dice.integers(0, n_rows, 5)), np.arange(5)
    highest = (hidden[rows] @ matrix).argmax(axis=1)

    def asked(scores: Scores, order: Sequence[int]) -> list[object]:
        answers: list[object] = []
        for question in order:
            if question == 0:
                scores.forbid_everywhere([0, 3])
            elif question == 1:
                scores.forbid(rows, highest)
            elif question == 2:
                scores.force(rows[:1], ids[:1] + 20, np.array([-1.5], dtype=np.float32))
            elif question == 3:
                for values, tokens in (scores.top_k(1), scores.top_k(4)):
                    answers += [values, np.where(values > FORBIDDEN, tokens, 0)]
            elif question == 4:
                answers.append(scores.at(rows, highest))
            elif question == 5:
                scores.multiply(rows.repeat(2), np.repeat(ids[: len(rows)] + 5, 2), 1.5)
            else:
                answers.append(scores.array().copy())
        return answers

    for order in list(itertools.permutations(range(7)))[::one_in]:
        projected = ProjectedScores(
            n_rows, lambda rows: np.matmul(hidden[rows], matrix, out=buffer[: rows.stop - rows.start]), 300
        )
        whole = ArrayScores(np.concatenate([part @ matrix for part in np.split(hidden, range(64, n_rows, 64))]))
        for one, other in zip(asked(projected, order), asked(whole, order), strict=True):
            np.testing.assert_array_equal(one, other)


def test_exponentials_of_extreme_scores() -> None:
    """Where they overflow or vanish, what is made of them is still exact."""
    scores = np.array([[0, 1, 2], [300, 301, -300], [-500, -501, -502], [-0.0, 89, -89]], dtype=np.float32)
    with np.errstate(over="ignore"):
        for some in (scores, scores[:1]):
            wide = torch.from_numpy(some).double()
            _, total, shift = exponentials(some)
            np.testing.assert_allclose(np.log(total) + shift, wide.logsumexp(dim=-1, keepdim=True), rtol=1e-6)
            np.testing.assert_allclose(softmax(some), wide.softmax(dim=-1), rtol=1e-5, atol=1e-30)


@every_library
@settings(max_examples=40)
@given(
    n_rows=st.sampled_from([1, 2, 5, 13, 96, 97, 200]),
    vocab_size=st.sampled_from([5, 16, 31, 511, 512, 513, 1100]),
    width=st.sampled_from([1, 7, 32]),
    k=st.sampled_from([1, 2, 5, 600]),
    forbidden=st.sets(st.integers(0, 4)),
    spread=st.sampled_from([1, 128]),
)
def test_the_best_of_compiled_scores_are_those_of_the_softmax(
    n_rows: int, vocab_size: int, width: int, k: int, forbidden: set[int], spread: int, kernels: Kernels
) -> None:
    model = random_model(
        1, target_vocab_size=vocab_size, d_model=width, n_heads=1, tie="none", norm="post", positions="learned"
    )
    torch.manual_seed(n_rows + vocab_size)
    largest = kernels.largest_weight or 127
    counts, inputs = torch.randint(-largest, largest + 1, (vocab_size, width)), torch.randint(0, 255, (n_rows, width))
    counts[:, -1], inputs[:, 0] = largest, 254  # numbers that every library can hold
    with torch.no_grad():
        model.output_projection.weight.copy_(counts * 2.0**-12 * spread)
    hidden = inputs.float().numpy()
    compiled_model = CompiledModel(model.config, weights_of(model), kernels)
    scores = CompiledScores(hidden, compiled_model)
    expected = model.output_projection.double()(torch.from_numpy(hidden).double()).log_softmax(dim=-1).detach().numpy()
    assert_close = partial(np.testing.assert_allclose, rtol=1e-5, atol=2e-5 * spread)
    assert_close(scores.array(), expected)
    scores = CompiledScores(hidden, compiled_model)
    scores.forbid_everywhere(sorted(forbidden))
    values, ids = scores.top_k(k)
    expected[:, sorted(forbidden)] = -np.inf
    assert_close(values, -np.sort(-expected, axis=1)[:, :k])
    is_allowed = np.isfinite(values)
    assert_close(values[is_allowed], np.take_along_axis(expected, ids, axis=1)[is_allowed])
    for row, allowed in zip(ids, is_allowed, strict=True):
        assert len(set(row[allowed])) == allowed.sum()


@pytest.mark.parametrize("kernels", INTEGERS, ids=lambda kernels: kernels.name)
@given(n_rows=st.integers(1, 30), vocab_size=st.integers(5, 70), width=st.integers(1, 50), power=st.integers(-145, 3))
def test_products_of_integers_take_the_nearest_and_are_exact(
    n_rows: int, vocab_size: int, width: int, power: int, kernels: Kernels
) -> None:
    """Inputs are counted in 254ths of their row's range, and weights in parts of their output's largest."""
    dice = np.random.default_rng(width)

    def counted(n: int, lowest: int, highest: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Whole numbers, and numbers that are nearest to them."""
        counts = dice.integers(lowest, highest + 1, size=(n, width))
        near = counts + dice.uniform(-0.4, 0.4, size=counts.shape).clip(lowest - counts, highest - counts)
        counts[:, 0] = near[:, 0] = lowest
        counts[:, -1] = near[:, -1] = highest
        return counts, near

    lowest = 0 if width == 1 else int(dice.integers(-254, 1))
    inputs, hidden = counted(n_rows, lowest, lowest + 254)
    weights, weight = counted(vocab_size, -kernels.largest_weight, kernels.largest_weight)
    inputs[0] = hidden[0] = 0
    sizes = {"d_model": width, "n_heads": 1, "target_vocab_size": vocab_size}
    model = random_model(n_rows, **sizes, tie="none", norm="post", positions="learned")
    with torch.no_grad():
        model.output_projection.weight.copy_(torch.from_numpy(weight * 2.0**-15))
    logits = inputs @ weights.T * 2.0 ** (power - 15) + model.output_projection.bias.detach().double().numpy()
    compiled_model = CompiledModel(model.config, weights_of(model), kernels)
    found = CompiledScores((hidden * 2.0**power).astype(np.float32), compiled_model).array()
    np.testing.assert_allclose(found, torch.from_numpy(logits).log_softmax(dim=-1).numpy(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("kernels", INTEGERS, ids=lambda kernels: kernels.name)
def test_sums_of_integers_fit_whatever_the_width(kernels: Kernels) -> None:
    """All inputs at their largest, and all weights of an output of one sign, so that nothing cancels out."""
    model, d_ff = random_model(1, d_ff=140_000, source_vocab_size=60), 140_000
    with torch.no_grad():
        for layer in (*model.encoder_layers, *model.decoder_layers):
            layer.feed_forward.inner.weight.zero_()
            layer.feed_forward.inner.bias.fill_(1)
            layer.feed_forward.outer.weight.copy_(torch.linspace(-1, 1, 16)[:, None].expand(16, d_ff) / d_ff)
    exact, rounded = (compiled([model], each).start(UNEVEN) for each in (usable_kernels()[0], kernels))
    ids = np.full(len(UNEVEN), SOS_ID)
    np.testing.assert_allclose(rounded.step(ids).array(), exact.step(ids).array(), atol=0.1)


@ways(ALL_KERNELS)
@pytest.mark.parametrize(
    ("activation", "d_model", "d_ff"),
    [("relu", 16, 32), ("gelu", 16, 32), ("silu", 16, 32), ("swiglu", 16, 32), ("relu", 14, 9)],
)
def test_a_weight_that_is_not_a_number_is_not_lost(activation: str, d_model: int, d_ff: int, scoring: Scoring) -> None:
    model = random_model(1, activation=activation, norm="pre", d_model=d_model, d_ff=d_ff)
    for name, weight in model.named_parameters():
        if "embedding" in name:
            continue  # of which a search reads some rows only
        before = weight.detach().clone()
        with torch.no_grad():
            weight.view(-1)[-1] = torch.nan
        scorer = scoring([model])
        with pytest.raises(DragomanError, match="NaN"):
            print(name, search(scorer, sentences(3), config()))
        with torch.no_grad():
            weight.copy_(before)


EXTREMES = [0.0, -0.0, 1.0, 3e38, -3e38, 1e-45, -1e-45, 1e-37, 1e-36]


@every_library
@given(data=st.data(), width=st.sampled_from([14, 16, 36]))
def test_a_row_that_is_not_finite_does_not_change_its_neighbours(
    data: st.DataObject, width: int, kernels: Kernels
) -> None:
    """Whatever is in it: not even the conversion to integers makes a number of a NaN."""
    model = random_model(1, d_model=width, d_k=4, d_v=4)
    compiled_model = CompiledModel(model.config, weights_of(model), kernels)
    finite = np.array(data.draw(st.lists(st.sampled_from(EXTREMES[:3]), min_size=width, max_size=width)), np.float32)
    wild = np.array(
        data.draw(
            st.lists(st.sampled_from([*EXTREMES, np.nan, np.inf, -np.inf]), min_size=width, max_size=width).filter(
                lambda row: not np.isfinite(row).all()
            )
        ),
        np.float32,
    )
    alone = CompiledScores(np.stack([finite, finite, finite]), compiled_model).array()
    among = CompiledScores(np.stack([finite, wild, finite]), compiled_model).array()
    np.testing.assert_array_equal(among[[0, 2]], alone[[0, 2]])
    assert np.isnan(among[1]).all()
    best, _ = CompiledScores(np.stack([finite, wild, finite]), compiled_model).top_k(3)
    assert np.isnan(best[1]).all()
    assert np.isfinite(best[[0, 2]]).all()


@every_library
@pytest.mark.parametrize("scale", [1e-45, 1e-38, 1e-36])
def test_a_row_of_tiny_numbers_counts_as_zeros(scale: float, kernels: Kernels) -> None:
    model = random_model(1)
    compiled_model = CompiledModel(model.config, weights_of(model), kernels)
    hidden = np.random.default_rng(1).normal(size=(3, 16)).astype(np.float32) * np.float32(scale)
    np.testing.assert_allclose(
        CompiledScores(hidden, compiled_model).array(),
        CompiledScores(np.zeros_like(hidden), compiled_model).array(),
        atol=1e-6,
        rtol=0,
    )


@everywhere
@pytest.mark.parametrize("largest", [1e30, 3e38])
@pytest.mark.filterwarnings("error")
def test_a_model_that_overflows_is_refused_without_warnings(largest: float, scoring: Scoring) -> None:
    for norm in ("pre", "post"):
        model = random_model(1, norm=norm)
        with torch.no_grad():
            for number, weight in enumerate(model.parameters()):
                weight.fill_(largest if number % 2 else -largest)
        with pytest.raises(DragomanError, match="NaN"):
            search(scoring([model]), sentences(3, 2), config())


@pytest.mark.parametrize("halves", [False, True])
def test_a_table_of_positions_grows_to_what_it_would_have_been(halves: bool) -> None:
    table, whole = PositionTable(1000, 12, halves=halves), sinusoidal_table(range(1000), 12, halves=halves)
    for first, last in ((0, 3), (2, 4), (0, 1), (7, 300), (999, 1000), (0, 1000)):
        np.testing.assert_array_equal(table.rows(slice(first, last)), whole[first:last])
    with pytest.raises(IndexError, match="position 1000 of a model that has 1000"):
        table.rows(slice(0, 1001))


@everywhere
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_threads_may_share_a_model_while_its_tables_grow(positions: str, scoring: Scoring) -> None:
    model = random_model(1, max_length=300, positions=positions, source_vocab_size=310)
    batches = [sentences(length) for length in (3, 250, 40, 120, 7, 290, 60, 200)]
    expected = [search(scoring([model]), batch, config(max_length=30)) for batch in batches]
    shared = scoring([model])
    with ThreadPoolExecutor(len(batches)) as pool:
        found = list(pool.map(lambda batch: search(shared, batch, config(max_length=30)), batches))
    for one, other in zip(found, expected, strict=True):
        assert one[0][0] == other[0][0]


@every_library
def test_scores_are_freed_when_nobody_holds_them(kernels: Kernels) -> None:
    """Without waiting for the collector of cycles, which knows nothing of how large they are."""
    steps = CompiledModel(random_model(1).config, weights_of(random_model(1)), kernels).start(sentences(3))
    gc.disable()
    try:
        scores = steps.step(np.full((1, 1), SOS_ID), 0, None, np.arange(1))
        matrix = weakref.ref(scores.array())
        del scores
        assert matrix() is None
    finally:
        gc.enable()


@every_library
def test_ids_and_positions_outside_the_model_are_refused(kernels: Kernels) -> None:
    model = CompiledModel(random_model(1).config, weights_of(random_model(1)), kernels)
    with pytest.raises(ValueError, match="a source of 41 tokens for a model that reads 40"):
        model.start(sentences(40))
    with pytest.raises(ValueError, match="a source of 0 tokens"):
        model.start(sentences(40)[:, :0])
    steps = model.start(sentences(3))
    with pytest.raises(IndexError, match="position 40 of a model that has 40"):
        steps.step(np.full((1, 1), SOS_ID), 40, None, np.arange(1))
    for id in (-1, 25):
        with pytest.raises(IndexError, match="not in the vocabulary"):
            steps.step(np.full((1, 1), id), 0, None, np.arange(1))


@everywhere
def test_an_empty_source_is_refused(scoring: Scoring) -> None:
    scorer, source_ids = scoring([random_model(1)]), sentences(3, 2)
    source_ids[0, 1] = 30
    with pytest.raises(IndexError):
        scorer.start(source_ids)
    source_ids[0, 1] = -1
    with pytest.raises(IndexError):
        scorer.start(source_ids)
    source_ids[0] = PAD_ID
    with pytest.raises(ValueError, match="a source without tokens"):
        scorer.start(source_ids)


def test_a_library_that_does_not_fit_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.native.kernels._usable", kernels_module._usable.__wrapped__)
    monkeypatch.setattr("dragoman.native.kernels.__file__", str(tmp_path / "kernels.py"))
    assert usable_kernels("bfloat16") == ()
    libraries = [tmp_path / f"_{name}{SUFFIX}" for name in ALL_NAMES]
    other = Path(sentencepiece._sentencepiece.__file__).read_bytes()  # one with other symbols
    for content in (b"no library", other):
        for library in libraries:
            library.write_bytes(content)
        assert all(usable_kernels(precision) == () for precision in LIBRARIES)


def test_a_library_for_a_processor_with_more_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(Kernels):
        def __init__(self, name: str, library: object) -> None:
            self.name = name

    class Library(dict[str, Callable[..., int]]):
        pass

    monkeypatch.setattr("dragoman.native.kernels._usable", kernels_module._usable.__wrapped__)
    monkeypatch.setattr("dragoman.native.kernels.Kernels", Plain)

    def best(*bits: int) -> list[str]:
        """The fastest library of each precision, where the processor answers so of each."""
        library = Library(dragoman_processor=lambda precision: bits[precision.value])
        monkeypatch.setattr("dragoman.native.libraries.load", lambda *_: library)
        return [usable_kernels(precision)[0].name for precision in LIBRARIES]

    assert best(0b1, 0b1, 0b100001) == ["kernels", "kernels", "kernels_int8_neon"]
    assert best(0b1, 0b1, 0b1100001) == ["kernels", "kernels", "kernels_int8_dotprod"]
    assert best(0b1, 0b1, 0b1) == ["kernels"] * 3
    assert best(0b11, 0b1, 0b11) == ["kernels_avx2", "kernels_avx2", "kernels_int8_avx2"]
    assert best(0b11, 0b1, 0b111) == ["kernels_avx2", "kernels_avx2", "kernels_int8_vnni"]
    assert best(0b111, 0b1, 0b11) == ["kernels_avx512", "kernels_avx512", "kernels_int8_avx2"]
    assert best(0b111, 0b1, 0b1111) == ["kernels_avx512", "kernels_avx512", "kernels_int8_avx512"]
    assert best(0b111, 0b11, 0b11111) == ["kernels_avx512", "kernels_bfloat16", "kernels_int8_bfloat16"]
    assert [each.name for each in usable_kernels("int8")][-3:] == ["kernels_avx512", "kernels_avx2", "kernels"]


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists() or platform.machine() != "x86_64", reason="needs Linux on x86")
def test_a_library_runs_only_on_the_processors_it_is_for() -> None:
    text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    flags = set(next(line for line in text.splitlines() if line.startswith("flags")).split())
    avx2, avx512 = {"avx2", "fma"} <= flags, {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags
    vnni, bfloat16 = avx512 and "avx512_vnni" in flags, avx512 and "avx512_bf16" in flags
    runs = {
        "kernels": True,
        "kernels_avx2": avx2,
        "kernels_avx512": avx512,
        "kernels_bfloat16": bfloat16,
        "kernels_int8_avx2": avx2,
        "kernels_int8_vnni": avx2 and "avx_vnni" in flags,
        "kernels_int8_avx512": vnni,
        "kernels_int8_bfloat16": vnni and bfloat16,
        "kernels_int8_neon": False,
        "kernels_int8_dotprod": False,
    }
    base = load(Path(native.__file__).with_name("_kernels"), header().digest)
    assert base is not None
    for place, names in enumerate(LIBRARIES.values()):
        bits = base["dragoman_processor"](ctypes.c_int64(place))
        assert [name for at, name in enumerate(names) if bits >> at & 1] == [name for name in names if runs[name]]


def test_every_library_that_is_compiled_is_looked_for() -> None:
    kinds = runpy.run_path(str(ROOT / "setup.py"))["KERNELS"]
    assert {name for kind in kinds.values() for name in kind} == {f"_{name}" for name in ALL_NAMES}


@pytest.mark.thorough
@needs_compiler
def test_the_libraries_are_of_this_source(tmp_path: Path) -> None:
    folder = Path(native.__file__).parent
    for built in runpy.run_path(str(ROOT / "setup.py"))["EXTENSIONS"]:
        name = built.name.split(".")[-1]
        if not name.startswith("_kernels"):
            continue
        sources = [ROOT / source for source in built.sources]
        options = [*built.extra_compile_args, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        done = subprocess.run([str(COMPILER), *options, *sources], capture_output=True, text=True, check=False)
        if "unrecognized command" in done.stderr:
            continue  # a compiler older than the processors that this library is for
        assert done.returncode == 0, done.stderr
        libraries = list(folder.glob(f"{name}.*"))
        assert libraries, "install dragoman again: pip install -e ."
        changed = max(each.stat().st_mtime for each in (*sources, *folder.glob("*.h")))
        assert all(each.stat().st_mtime >= changed for each in libraries), "install dragoman again"
    assert usable_kernels()


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "fits"),
    [
        ("", "", True),
        ("int64_t n_in", "int64_t  n_in", True),  # what is inside may change
        ("int64_t beam_size, n_best;", "int64_t n_best, beam_size;", False),
        ("double seconds;", "float seconds;", False),
        ("int64_t n_sentences, int64_t length", "int64_t length, int64_t n_sentences", False),
    ],
)
def test_a_library_of_another_interface_is_left_out(
    old: str, new: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a change of the header, before the libraries are compiled again."""
    native_folder = tmp_path / "src/dragoman/native"
    shutil.copytree(Path(native.__file__).parent, native_folder, ignore=shutil.ignore_patterns(f"*{SUFFIX}"))
    for path in native_folder.glob("*.[ch]"):
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    built = extension("_kernels")
    library = tmp_path / f"_kernels{SUFFIX}"
    build([tmp_path / source for source in built.sources], [*built.extra_compile_args, "-O0"], library)
    current = header()
    monkeypatch.setattr("dragoman.native.kernels.header", lambda: current)
    monkeypatch.setattr("dragoman.native.kernels.__file__", str(tmp_path / "kernels.py"))
    monkeypatch.setattr("dragoman.native.kernels._usable", kernels_module._usable.__wrapped__)
    assert bool(usable_kernels()) == fits


@everywhere
def test_attention_with_extreme_scores(scoring: Scoring) -> None:
    """Scores of which only the difference from the highest has an exponential."""
    model = random_model(4, positions="learned")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "query_projection.weight" in name:
                weight.mul_(300)
    source_ids = sentences(9, 3, 20)
    for ids, (best, *_) in zip(
        torch.from_numpy(source_ids), search(scoring([model]), source_ids, config(beam_size=3)), strict=True
    ):
        assert best.log_prob == pytest.approx(forced_log_prob(model, ids[ids != PAD_ID][None], best), abs=1e-3)


@everywhere
@pytest.mark.parametrize("k", [1, 3, 5])
def test_of_equal_scores_the_lower_id_comes_first(k: int, scoring: Scoring) -> None:
    model = random_model(1)
    with torch.no_grad():
        model.output_projection.weight.zero_()
        model.output_projection.bias.zero_()
        model.output_projection.bias[[21, 7, 13, 5]] = torch.tensor([3.0, 3, 3, 2])
    _, ids = scoring([model]).start(sentences(3, 2)).step(np.full(2, SOS_ID)).top_k(k)
    assert ids[:, : min(k, 4)].tolist() == [[7, 13, 21, 5][:k]] * 2


@everywhere
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_long_sentences(positions: str, scoring: Scoring) -> None:
    """More keys, and more rows of a sentence, than any piece of them that is computed at once."""
    model = random_model(1, max_length=150, positions=positions, source_vocab_size=160)
    source_ids = sentences(140, 3, 97, 33)
    for beam_size in (1, 3, 110):
        scorer = scoring([model])
        scorer.max_length = 50  # enough of the target
        found = search(scorer, source_ids, config(beam_size=beam_size, min_length=20))
        for ids, (best, *_) in zip(torch.from_numpy(source_ids), found, strict=True):
            assert best.log_prob == pytest.approx(forced_log_prob(model, ids[ids != PAD_ID][None], best), abs=2e-4)


@everywhere
def test_an_ensemble_averages_probabilities(scoring: Scoring) -> None:
    models = [random_model(seed, d_model=8 * seed) for seed in (1, 2)]
    source_ids, last_ids = sentences(2, 3), np.array([SOS_ID, SOS_ID])
    singly = [np.exp(scoring([model]).start(source_ids).step(last_ids).array()) for model in models]
    mean = np.exp(scoring(models).start(source_ids).step(last_ids).array())
    np.testing.assert_allclose(mean, (singly[0] + singly[1]) / 2, rtol=1e-5)


def test_models_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"\(30, 24\), \(30, 25\)"):
        in_numpy([random_model(1), random_model(1, target_vocab_size=24)])
    with pytest.raises(ConfigError, match="no models"):
        TransformerScorer([])
    with pytest.raises(ConfigError, match="training mode"):
        search(in_torch([random_model(1).train()]), sentences(1), config())


@everywhere
def test_the_models_longest_translation_can_be_written(scoring: Scoring) -> None:
    scorer = scoring([random_model(1, max_length=10)])
    for method in METHODS:
        for each in search(scorer, sentences(2, 8), config(**method, min_length=9))[0]:
            assert (len(each.ids), len(each.token_log_probs)) == (9, 9 + each.finished)
