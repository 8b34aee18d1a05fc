"""The search on tensors: the candidates of the search in Python, with the same model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from models import random_model, shapes
from scorers import EOS_ID, PAD_ID, config
from shapes import shaped_bundle

from dragoman.decoding.constraints.forbidden import ForbiddenTokens
from dragoman.decoding.faults import FaultFinder
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import DragomanError, StoppedError
from dragoman.machine.arrays import Ints
from dragoman.model.transformer import Transformer
from dragoman.runtime.step_graphs import FEWEST_TOKENS, MOST_TOKENS, tokens_that_fit
from dragoman.runtime.tensor_beam import SearchTensors, SentenceTensors, advance
from dragoman.runtime.tensor_search import STEPS_UNREAD, TensorSearch
from dragoman.runtime.tensor_space import Shape, Space, empty_sentences
from dragoman.runtime.torch_model import TorchModel, TorchSteps
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.plans import SearchJob
from dragoman.translator.searching import Searcher

pytestmark = pytest.mark.torch


def on_tensors(model: Transformer) -> TensorSearch:
    found = TensorSearch.of(TransformerScorer([TorchModel(model)]))
    assert found is not None
    return found


def assert_equal(
    model: Transformer,
    sources: Ints,
    options: SearchConfig,
    prefixes: Sequence[Sequence[int]] | None = None,
    forbidden: Sequence[Sequence[int]] = (),
) -> list[list[Hypothesis]]:
    """Check that both searches find the same, in the same order."""
    rules = [ForbiddenTokens(forbidden)] if forbidden else []
    expected = search(TransformerScorer([TorchModel(model)]), sources, options, prefixes=prefixes, constraints=rules)
    found = on_tensors(model).search(sources, options, prefixes=prefixes, forbidden=forbidden)
    for beam, others in zip(found, expected, strict=True):
        assert [each.ids for each in beam] == [each.ids for each in others]
        for one, other in zip(beam, others, strict=True):
            assert (one.finished, one.faults) == (other.finished, other.faults)
            assert one.score == pytest.approx(other.score, abs=1e-5)
            assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-5)
    return expected


def sources_of(lengths: Sequence[int], seed: int) -> Ints:
    draw, width = np.random.default_rng(seed), max(lengths)
    rows = [[*draw.integers(4, 30, length).tolist(), EOS_ID, *[PAD_ID] * (width - length)] for length in lengths]
    return np.array(rows, dtype=np.int64)


def eager_to_end(model: Transformer, bias: float) -> Transformer:
    """Add to the score of the end mark."""
    with torch.no_grad():
        if model.output_projection.bias is not None:
            model.output_projection.bias[EOS_ID] += bias
    return model


@st.composite
def options(draw: st.DrawFn) -> SearchConfig:
    beam_size = draw(st.integers(1, 8))
    chosen: dict[str, object] = {"beam_size": beam_size, "n_best": draw(st.integers(1, beam_size))}
    chosen["length_penalty"] = draw(st.sampled_from([0.0, 0.6, 1.0, 3.0]))
    chosen["min_length"] = draw(st.sampled_from([0, 0, 3]))
    chosen["max_length"] = draw(st.sampled_from([None, None, 4, 9, 38]))
    return config(**chosen)


@given(
    seed=st.integers(0, 10**6),
    shape=shapes.filter(lambda shape: shape.get("decoder_layer") != "ssru"),
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    options=options(),
    end=st.sampled_from([-4.0, 0.0, 4.0]),
    certainty=st.sampled_from([0.3, 3.0, 10.0]),
    has_prefixes=st.booleans(),
    has_forbidden=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_the_candidates_are_those_of_the_search_in_python(
    seed: int,
    shape: dict[str, object],
    lengths: list[int],
    options: SearchConfig,
    end: float,
    certainty: float,
    has_prefixes: bool,
    has_forbidden: bool,
) -> None:
    model = eager_to_end(random_model(seed, certainty, **shape).double(), end)
    draw = np.random.default_rng(seed)
    most = min(4, (options.max_length or 9) - 1)
    given_ids = [draw.integers(4, 25, draw.integers(0, most)).tolist() if has_prefixes else [] for _ in lengths]
    forbidden = [draw.integers(4, 25, draw.integers(0, 9)).tolist() for _ in lengths] if has_forbidden else ()
    assert_equal(model, sources_of(lengths, seed), options, given_ids, forbidden)


def test_spaces_that_are_kept_and_rounded_change_nothing() -> None:
    """As on a card: other sentences were in the same space before, and rows, sources and steps are padded."""
    model = random_model(3).double()
    kept = TensorSearch(TransformerScorer([TorchModel(model)]), model, kept_bytes=10**9)
    for seed, lengths, options in (
        (1, [9, 3, 12, 1, 5], config(beam_size=3, n_best=2)),
        (2, [7, 7, 2], config(beam_size=3, n_best=2)),
        (3, [1] * 70, config(beam_size=1)),
        (4, [9, 3, 12, 1, 5], config(beam_size=3, n_best=2, length_penalty=0.0, min_length=2)),
    ):
        sources = sources_of(lengths, seed)
        prefixes = [[5] * (number % 3) for number in range(len(lengths))]
        expected = on_tensors(model).search(sources, options, prefixes=prefixes)
        assert kept.search(sources, options, prefixes=prefixes) == expected


def test_a_prefix_may_be_longer_than_the_first_room() -> None:
    model = random_model(3).double()
    assert_equal(model, sources_of([3, 2], 1), config(beam_size=2), [[5, 6] * 17, []])


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 4}, {"beam_size": 4, "max_length": 6}])
def test_it_takes_as_many_steps_as_the_search_in_python(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: dict[str, int] = {"tensors": 0, "python": 0}

    def counting(kind: type, name: str) -> None:
        step = kind.step

        def counted(self: Any, *arguments: Any) -> Any:
            steps[name] += 1
            return step(self, *arguments)

        monkeypatch.setattr(kind, "step", counted)

    counting(Space, "tensors")
    counting(TorchSteps, "python")
    model = eager_to_end(random_model(2, 1).double(), 1.5)
    for seed in range(3):
        before = dict(steps)
        assert_equal(model, sources_of([4, 6], seed), config(**options))
        taken = {name: steps[name] - before[name] for name in steps}
        assert 0 <= taken["tensors"] - taken["python"] < STEPS_UNREAD
    assert steps["python"] < 3 * 30  # else nothing ended early


def test_equal_continuations_keep_the_order_of_slots_and_tokens() -> None:
    search, rows = tensors_of(n_slots=3, n_tokens=7)
    rows.log_prob[:] = torch.tensor([[0.0, 0.0, -torch.inf]])
    rows.path[..., 0] = torch.arange(3)
    scores = torch.full((1, 3, 7), -5.0)
    scores[0, 0, 5] = scores[0, 1, 4] = scores[0, 1, 6] = scores[0, 2, 4] = -1.0
    advance(search, rows, scores)
    assert rows.parents[0, 0].tolist() == [0, 1, 1]
    assert rows.tokens[0, 0, 0] == 5
    assert set(rows.tokens[0, 0, 1:].tolist()) == {4, 6}


@given(
    source=st.lists(st.integers(4, 6), max_size=6),
    ids=st.lists(st.sampled_from([4, 5]), max_size=30),
    pattern=st.lists(st.integers(4, 6), min_size=1, max_size=9),
    n_prefix=st.integers(0, 3),
)
@settings(max_examples=40, deadline=None)
def test_repetitions_are_those_of_the_fault_finder(
    source: list[int], ids: list[int], pattern: list[int], n_prefix: int
) -> None:
    ids = [*ids[:8], *pattern * 7, *ids[8:]]
    finder = FaultFinder(source, ids[:n_prefix])
    search, rows = tensors_of(n_slots=2, n_tokens=7, n_room=len(ids))
    rows.fewest_repeats[:] = torch.tensor(finder.fewest_repeats)
    rows.forced[0, :n_prefix] = torch.tensor(ids[:n_prefix], dtype=torch.int64)
    rows.log_prob[:, 0] = 0
    is_found = False
    for number, id in enumerate(ids, 1):
        scores = torch.full((1, 2, 7), -torch.inf)
        scores[..., id] = -0.1
        advance(search, rows, scores)
        is_found = is_found or "repetition" in finder.find(ids[:number])
        assert bool(rows.is_repetitive[0, 0]) == is_found


def tensors_of(n_slots: int, n_tokens: int, n_room: int = 4) -> tuple[SearchTensors, SentenceTensors]:
    """One sentence that has written nothing, all of whose slots are closed."""
    search = SearchTensors.on(torch.device("cpu"), n_room, EOS_ID)
    search.begin(config(beam_size=n_slots))
    rows = empty_sentences(Shape(1, n_slots, 1, n_room, 1, 1), torch.device("cpu"))
    rows.written += n_tokens * n_room
    rows.width += n_slots
    rows.usual_lengths[:, 1] = n_room
    rows.fewest_repeats += n_room
    return search, rows


@pytest.mark.parametrize("n_slots", [1, 4])
def test_a_step_reads_nothing_from_the_device(n_slots: int) -> None:
    """On the device "meta", which has no numbers, whatever would wait for them is an error."""
    device = torch.device("meta")
    for model in (random_model(1, positions="rotary"), random_model(1, positions="learned", norm_kind="std")):
        model = model.to(device)
        search = SearchTensors.on(device, 40, EOS_ID)
        space = Space(model, Shape(2, n_slots, 8, 16, 1, 4), search)
        before = [id(tensor) for tensor in space.tensors()]
        for _ in range(2):
            space.step()
        assert [id(tensor) for tensor in space.tensors()] == before  # a graph writes to the same ones


@pytest.mark.parametrize("beam_size", [1, 3])
def test_scores_that_are_not_numbers_are_refused_and_forgotten(beam_size: int) -> None:
    model = random_model(1)
    weight = model.decoder_layers[0].feed_forward.inner.weight
    search = TensorSearch(TransformerScorer([TorchModel(model)]), model, kept_bytes=10**9)
    sources, options = sources_of([3, 4], 1), config(beam_size=beam_size)
    expected = search.search(sources, options)
    with torch.no_grad():
        saved = weight.clone()
        weight.fill_(torch.nan)
        with pytest.raises(DragomanError, match="not numbers"):
            search.search(sources, options)
        weight.copy_(saved)
    assert search.search(sources, options) == expected


@pytest.mark.parametrize("n_steps", [0, 1, 5])
def test_a_search_stops_before_the_step_at_which_it_is_told_to(n_steps: int) -> None:
    calls: list[bool] = []
    model = eager_to_end(random_model(1), -9)
    with pytest.raises(StoppedError):
        on_tensors(model).search(
            sources_of([3], 1),
            config(beam_size=2),
            should_stop=lambda: len(calls) == n_steps or bool(calls.append(True)),
        )
    assert len(calls) == n_steps


def test_what_cannot_be_done_on_tensors_has_a_reason() -> None:
    model = random_model(1)
    search = on_tensors(model)
    assert search.reason_against(config(beam_size=8, n_best=2, min_length=2, max_length=9)) is None
    for options in ({"sample": True}, {"no_repeat_ngram": 2}, {"repetition_penalty": 1.5}, {"beam_size": 33}):
        assert search.reason_against(config(**options))
    assert search.reason_against(config(), has_demands=True)
    twice = TensorSearch.of(TransformerScorer([TorchModel(model)] * 2))
    assert twice is not None
    assert twice.reason_against(config())


def test_a_batch_fits_the_card() -> None:
    base = random_model(1, d_model=512, n_heads=8, n_decoder_layers=6, n_encoder_layers=1).config
    sizes = [tokens_that_fit(base, 2, gigabytes * 2**30) for gigabytes in (1, 8, 24, 80, 1000)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (FEWEST_TOKENS, MOST_TOKENS)


def test_a_searcher_uses_the_card_and_tells_why_it_did_not() -> None:
    bundle = shaped_bundle("pre, rotary, no biases", many=True)
    scorer, tokenizer = TransformerScorer([TorchModel(bundle.model.eval())]), bundle.tokenizers.target
    card = TensorSearch.of(scorer)
    in_python, on_card = Searcher(scorer, tokenizer, 64), Searcher(scorer, tokenizer, 64, on_card=card)
    for options in (config(beam_size=3), config(beam_size=3, no_repeat_ngram=2)):
        jobs = [SearchJob(ids, (), options) for ids in ([20, 21, 22], [23], [24] * 9)]
        expected, found = in_python.search(jobs), on_card.search(jobs)
        assert [beam[0].text for beam in found] == [beam[0].text for beam in expected]
        assert {beam[0].fallback for beam in expected} == {None}
        assert {beam[0].fallback for beam in found} == {"no_repeat_ngram" if options.no_repeat_ngram else None}
