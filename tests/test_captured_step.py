"""The step for GPUs, whose work is captured there and called here: equal to the plain step, and it reads no number."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import weakref
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import sentences, small_model
from runs import captured_log, losses, settings, weights

from dragoman.data.batches import WHOLE, Batch
from dragoman.data.row_groups import group_by_cost
from dragoman.machine.processes import Processes
from dragoman.settings.training_config import TrainingConfig
from dragoman.training import captured_step, gradient, train, trainer, validation
from dragoman.training.captured_step import STEPS_AHEAD, CapturedStep, CudaGraphs, Work, build_step
from dragoman.training.checkpoint import Progress, saved_steps
from dragoman.training.loss import batch_loss
from dragoman.training.micro_batches import GPU_EXTRA_TOKENS
from dragoman.training.shapes import Shape, shape_for
from dragoman.training.step import Outcome, PlainStep, Step
from dragoman.training.training_state import TrainingState

pytestmark = pytest.mark.torch

N_TOKENS = 60
#: Tokens of a batch whose pairs are changed.
N_CHANGED = 4096


class PlainCalls:
    """Stands for CUDA graphs: calls the work."""

    def in_order(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def run(self, name: Hashable, work: Work) -> None:
        work()

    def end_step(self) -> None:
        pass

    def forget(self) -> None:
        pass


def made_up_batches(seed: int = 1) -> Iterator[list[Batch]]:
    """Batches within the budget, one or two to a step."""
    draw = torch.Generator().manual_seed(seed)

    def sentence(longest: int) -> list[int]:
        length = int(torch.randint(1, longest, (), generator=draw))
        return torch.randint(4, 11, (length,), generator=draw).tolist()

    while True:
        longest = int(torch.randint(3, 12, (), generator=draw))
        n_pairs = int(torch.randint(1, 1 + N_TOKENS // longest, (), generator=draw))
        pairs = [(sentence(longest), sentence(longest)) for _ in range(n_pairs)]
        parts = [pairs] if n_pairs < 4 else [pairs[:3], pairs[3:]]
        yield [
            Batch(sentences(*([*a, 3] for a, _ in part)), sentences(*([2, *b, 3] for _, b in part))) for part in parts
        ]


def new_state(training: TrainingConfig, precision: str = "float32", **model: Any) -> TrainingState:
    torch.manual_seed(3)
    model = {"dropout": 0.0, **model}
    return TrainingState.at_start(small_model(**model).float(), training, Progress(precision=precision))


def captured(state: TrainingState, training: TrainingConfig) -> CapturedStep:
    return CapturedStep(state, training, Processes(), PlainCalls(), lambda: N_TOKENS)


@contextlib.contextmanager
def overflow(is_on: bool = True) -> Iterator[None]:
    """Inside, losses and gradients are not finite."""

    def overflowing(*args: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        loss, nll = batch_loss(*args, **options)
        return loss * math.inf, nll

    with pytest.MonkeyPatch.context() as patch:
        for module in (gradient, captured_step) if is_on else ():
            patch.setattr(module, "batch_loss", overflowing)
        yield


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({"optimizer": "muon", "ema": 0.99}, {"bias": False, "norm": "pre", "tie": "all"}),
        ({"optimizer": "adam", "clip_norm": None, "label_smoothing": 0.0}, {"tie": "none"}),
        ({"optimizer": "muon", "ema": 0.9, "r_drop": 2.0, "clip_norm": 0.1}, {"positions": "rotary"}),
    ],
)
def test_fifty_steps_are_the_plain_ones(options: dict[str, Any], model: dict[str, Any]) -> None:
    """Two of them have a gradient that is not finite: weights, optimizer and average stay as they were."""
    training = TrainingConfig.model_validate(options)
    states = [new_state(training, **model) for _ in range(2)]
    steps: Sequence[Step] = [PlainStep(states[0], training, Processes()), captured(states[1], training)]
    n_tokens, told = 0, list[Outcome]()
    for number, micro_batches in zip(range(1, 51), made_up_batches(), strict=False):
        for state, step in zip(states, steps, strict=True):
            state.model.train()
            with overflow(number in (20, 21)):
                outcome = step.make(micro_batches, number, 0.002 * min(1, number / 10))
            assert (outcome is None) == isinstance(step, CapturedStep)
            told += [outcome] if outcome else []
        n_tokens += sum(int((batch.target_ids[:, 1:] != 0).sum()) for batch in micro_batches) * (number not in (20, 21))
        if number == 21:
            outcomes = [together(told), steps[1].outcome()]
            told.clear()
            assert [(each.n_skipped, each.skipped_in_a_row) for each in outcomes] == [(2, 2)] * 2
            assert [each.sums.n_steps for each in outcomes] == [19, 19]
            n_before = outcomes[0].sums.n_tokens
    plain, other = together(told), steps[1].outcome()
    assert steps[0].outcome() == Outcome()
    assert (plain.n_skipped, plain.skipped_in_a_row, plain.sums.n_steps) == (0, 0, 29)
    assert (other.n_skipped, other.skipped_in_a_row, other.sums.n_steps) == (0, 0, 29)
    assert plain.sums.n_tokens == other.sums.n_tokens == n_tokens - n_before
    for name in ("loss", "nll", "norm"):
        assert getattr(other.sums, name) == pytest.approx(getattr(plain.sums, name), rel=1e-5)
    checkpoints = [state.checkpoint() for state in states]
    for kind in ("model", "optimizer", "average"):
        one, two = (getattr(checkpoint, kind) or {} for checkpoint in checkpoints)
        assert one.keys() == two.keys()
        for name, tensor in one.items():
            if "key_projection.bias" not in name:  # whose gradient is rounding only
                assert torch.allclose(tensor, two[name], rtol=1e-3, atol=1e-5), name


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of all these steps."""
    total = Outcome(skipped_in_a_row=outcomes[-1].skipped_in_a_row)
    for each in outcomes:
        total.sums.add(each.sums)
        total.n_skipped += each.n_skipped
    return total


def test_a_step_that_is_not_finite_changes_no_bit() -> None:
    training = TrainingConfig(optimizer="muon", ema=0.9)
    state = new_state(training)
    step, batches = captured(state, training), made_up_batches()
    for number in range(1, 4):
        step.make(next(batches), number, 0.01)
    before = [tensor.clone() for tensor in kept_tensors(state)]
    with overflow():
        step.make(next(batches), 4, 0.01)
    for tensor, as_it_was in zip(kept_tensors(state), before, strict=True):
        assert torch.equal(tensor, as_it_was)
    step.make(next(batches), 5, 0.01)
    assert not torch.equal(kept_tensors(state)[0], before[0])
    assert step.outcome().skipped_in_a_row == 0


def kept_tensors(state: TrainingState) -> list[torch.Tensor]:
    checkpoint = state.checkpoint()
    groups = (checkpoint.model, checkpoint.optimizer, checkpoint.average or {})
    return [tensor for group in groups for tensor in group.values()]


def test_a_step_reads_no_number_before_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it could not be captured. Only target tokens are counted, of the batch before it is copied."""
    training = TrainingConfig(optimizer="muon", ema=0.9, r_drop=1.0)
    state = new_state(training)
    step, micro_batches = captured(state, training), next(made_up_batches())
    monkeypatch.setattr(captured_step, "n_target_tokens", lambda batch, pad_id: 7)

    def refuse(*_: Any) -> Any:
        raise AssertionError("a number is read")

    with monkeypatch.context() as patch:
        for name in ("__bool__", "__int__", "__float__", "__index__", "item", "tolist", "nonzero"):
            patch.setattr(torch.Tensor, name, refuse)
        step.make(micro_batches, 1, 0.01)
    assert step.outcome().sums.n_steps == 1


def test_equal_work_has_equal_tensors() -> None:
    """A graph knows tensors by their place: for each shape, ids, gradients and weights must keep theirs."""
    places: dict[Any, set[tuple[int, ...]]] = {}

    class Watched(PlainCalls):
        def run(self, name: Any, work: Any) -> None:
            work()
            tensors = [*state.model.parameters(), *(each.grad for each in state.model.parameters())]
            if name in step._inputs:
                batch = step._inputs[name].batch
                assert batch.source_ids.shape == (name.n_pairs, name.length)
                tensors += [batch.source_ids, batch.target_ids]
            places.setdefault(name, set()).add(tuple(each.data_ptr() for each in tensors))

    training = TrainingConfig(ema=0.9)
    state = new_state(training)
    step = CapturedStep(state, training, Processes(), Watched(), lambda: N_TOKENS)
    for number, micro_batches in zip(range(1, 40), made_up_batches(), strict=False):
        step.make(micro_batches, number, 0.01)
    assert all(len(each) == 1 for each in places.values())
    assert 3 < len(places) < 40


def test_tables_of_positions_outlive_longer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph of short sentences goes on to read the table that there was when it was captured."""
    monkeypatch.setattr("dragoman.model.positions.FIRST_NUMBERS", 1)
    training = TrainingConfig()
    state = new_state(training)
    step = captured(state, training)
    short, long = ([Batch(sentences([*[4] * length, 3]), sentences([2, *[5] * length, 3]))] for length in (2, 20))
    step.make(short, 1, 0.01)
    tables = [weakref.ref(table) for table in state.model.buffers()]
    step.make(long, 2, 0.01)
    assert tables
    assert all(one() is not other for one, other in zip(tables, state.model.buffers(), strict=True))
    assert all(table() is not None for table in tables)


def test_a_step_that_runs_out_of_memory_changes_nothing_and_can_be_made_again() -> None:
    class Full(PlainCalls):
        def run(self, name: Any, work: Any) -> None:
            work()
            if is_full and name != "update":
                raise MemoryError

    training, is_full = TrainingConfig(optimizer="muon", ema=0.9), True
    states = [new_state(training) for _ in range(2)]
    full = CapturedStep(states[0], training, Processes(), Full(), lambda: N_TOKENS)
    free, micro_batches = captured(states[1], training), next(made_up_batches())
    with pytest.raises(MemoryError):
        full.make(micro_batches, 1, 0.01)
    is_full = False
    states[0].model.zero_grad()  # as whoever halves the micro-batches does
    for step in (full, free):
        step.make(micro_batches, 1, 0.01)
    for one, two in zip(*map(kept_tensors, states), strict=True):
        assert torch.equal(one, two)


def test_in_float16_the_scale_is_that_of_pytorch(corpus: Path) -> None:
    training = TrainingConfig()
    states = [new_state(training, "float16") for _ in range(2)]
    steps: Sequence[Step] = [PlainStep(states[0], training, Processes()), captured(states[1], training)]
    told = []
    for number, micro_batches in zip(range(1, 8), made_up_batches(), strict=False):
        for step in steps:
            with overflow(number == 3):
                told.append(step.make(micro_batches, number, 0.001))
    assert [outcome.n_skipped for outcome in told if outcome] == [0, 0, 1, 0, 0, 0, 0]
    assert steps[1].outcome().n_skipped == 1
    for state in states:
        assert (state.progress.loss_scale, state.progress.loss_scale_steps) == (2.0**15, 4)
    again = captured(states[1], training)
    again.make(next(made_up_batches()), 8, 0.001)
    again.outcome()
    assert (states[1].progress.loss_scale, states[1].progress.loss_scale_steps) == (2.0**15, 5)


@pytest.mark.parametrize("tie", ["none", "all"])
@pytest.mark.parametrize("r_drop", [0.0, 3.0])
@pytest.mark.parametrize("is_compiled", [True, False])
def test_padding_adds_nothing_to_the_loss_and_its_gradients(
    tie: str, r_drop: float, is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_compiled:
        monkeypatch.setattr("dragoman.native.fused.library", lambda: None)
    monkeypatch.setattr("dragoman.training.loss.CHUNK_TOKENS", 4)
    model = small_model(tie=tie)
    batch = Batch(sentences([4, 5, 3], [6, 3]), sentences([2, 7, 8, 9, 3], [2, 4, 3]))
    found = []
    for is_static in (False, True):
        loss, nll = batch_loss(model, batch, 0.1, r_drop, is_static=is_static)
        found.append((loss, nll, *torch.autograd.grad(loss, list(model.parameters()))))
    for plain, static in zip(*found, strict=True):
        assert torch.allclose(plain, static, rtol=1e-5, atol=1e-5)


@given(st.integers(1, 3000), st.integers(1, 700), st.integers(1, 30_000))
def test_a_shape_holds_its_batch(n_pairs: int, length: int, n_tokens: int) -> None:
    shape = shape_for(n_pairs, length, n_tokens)
    assert shape.n_pairs >= n_pairs
    assert shape.length >= length
    assert shape == shape_for(*shape, n_tokens)
    if n_pairs * length <= n_tokens:  # at most a tenth longer than the shortest of its batches, or one position
        assert shape.n_pairs * shape.length <= max(2 * n_tokens, shape.length)
        if n_pairs == n_tokens // length:
            assert shape.n_pairs * shape.length <= 1.1 * n_tokens + shape.length


def test_changed_pairs_make_few_shapes_on_a_gpu() -> None:
    """Of 200 batches, whose pairs were of one length, and three of ten of which became up to twice as long."""
    draw = np.random.default_rng(1)
    shapes: dict[int, Counter[Shape]] = {extra: Counter() for extra in (WHOLE.extra_tokens, GPU_EXTRA_TOKENS)}
    for length in draw.integers(5, 25, 200).tolist():
        costs = [length + draw.integers(length) * (draw.random() < 0.3) for _ in range(N_CHANGED // length)]
        for extra, found in shapes.items():
            for group in group_by_cost(costs, N_CHANGED, extra):
                found[shape_for(len(group), max(costs[row] for row in group), N_CHANGED)] += 1
    on_cpu, on_gpu = shapes.values()
    assert len(on_gpu) < 0.8 * len(on_cpu)
    assert on_gpu.total() < 0.8 * on_cpu.total()
    padded = [sum(shape.n_pairs * shape.length * n for shape, n in found.items()) for found in (on_cpu, on_gpu)]
    assert padded[1] < 1.15 * padded[0]


def test_few_shapes_serve_all_lengths() -> None:
    assert len({shape_for(25_000 // length, length, 25_000) for length in range(1, 101)}) < 40


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainers make the step for GPUs."""

    def build(state: Any, training: Any, processes: Any, n_tokens: Any) -> CapturedStep:
        return CapturedStep(state, training, processes, PlainCalls(), n_tokens)

    monkeypatch.setattr(trainer, "build_step", build)


def test_a_whole_run_learns_the_same(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(corpus, max_steps=30, ema=0.9, log_every=7)
    chosen["model"]["dropout"] = 0.0
    train(chosen, tmp_path / "plain", device="cpu")
    monkeypatch.setattr(trainer, "build_step", lambda *args: CapturedStep(*args[:3], PlainCalls(), args[3]))
    train(chosen, tmp_path / "captured", device="cpu")
    assert losses(tmp_path / "captured") == pytest.approx(losses(tmp_path / "plain"), rel=1e-3)
    newest = [tmp_path / name / "checkpoints" / "step-30" / "state.json" for name in ("plain", "captured")]
    one, two = (json.loads(path.read_text()) for path in newest)
    assert one["target_tokens"] == two["target_tokens"]


@pytest.mark.usefixtures("on_device")
def test_a_stopped_run_goes_on_to_the_same_bits(corpus: Path, tmp_path: Path) -> None:
    """With dropout, Muon and a moving average; stopped among steps that are reported together."""
    options = {"schedule": "constant", "optimizer": "muon", "ema": 0.9, "log_every": 10}
    train(settings(corpus, max_steps=24, **options), tmp_path / "unbroken", device="cpu")
    for steps in (7, 24):
        train(settings(corpus, max_steps=steps, **options), tmp_path / "other", device="cpu")
    assert saved_steps(tmp_path / "other" / "checkpoints")[-1] == 24
    other, unbroken = weights(tmp_path / "other"), weights(tmp_path / "unbroken")
    assert all(other[name].tobytes() == unbroken[name].tobytes() for name in unbroken)


@pytest.mark.usefixtures("on_device")
def test_a_validation_without_memory_is_made_again_without_what_steps_keep(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the training goes on to the same bits."""
    options = settings(corpus, max_steps=9, validate_every=4, optimizer="muon", ema=0.9)
    train(options, tmp_path / "free", device="cpu")
    steps: list[weakref.ref[CapturedStep]] = []
    build, n_calls = trainer.build_step, itertools.count()

    def watched(*arguments: Any) -> Any:
        step = build(*arguments)
        steps.append(weakref.ref(step))
        return step

    def full(*arguments: Any) -> Any:
        if next(n_calls) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return validation.validate(*arguments)

    monkeypatch.setattr(trainer, "build_step", watched)
    monkeypatch.setattr(trainer, "validate", full)
    train(options, tmp_path / "full", device="cpu")
    assert len(steps) == 2
    assert steps[0]() is None  # and with it the memory of its graphs
    full_weights, free_weights = weights(tmp_path / "full"), weights(tmp_path / "free")
    assert all(full_weights[name].tobytes() == free_weights[name].tobytes() for name in free_weights)


@pytest.mark.usefixtures("on_device")
def test_no_checkpoint_follows_a_skipped_step(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the step is skipped long before the next report."""
    factors = iter([1.0, 1.0, math.inf, *[1.0] * 20])

    def some_overflow(*args: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        loss, nll = batch_loss(*args, **options)
        return loss * next(factors), nll

    monkeypatch.setattr(captured_step, "batch_loss", some_overflow)
    options = {"save_every": 3, "log_every": 100, "validate_every": 100, "keep_checkpoints": 9}
    train(settings(corpus, max_steps=8, **options), tmp_path / "run", device="cpu")
    assert saved_steps(tmp_path / "run" / "checkpoints") == [0, 6, 8]  # not 3


class FakeGraph:
    """Stands for a CUDA graph: what is captured is not done, until it is replayed."""

    n_replays = 0

    def replay(self) -> None:
        self.n_replays += 1


class FakeGenerator:
    """Stands for the device's random numbers: a capture that fails leaves them in a state that draws none."""

    state = "free"

    def clone_state(self) -> str:
        return "free"

    def graphsafe_set_state(self, state: str) -> None:
        self.state = state


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The part of PyTorch that a CPU lacks; `error` is what a capture ends with."""
    fake = SimpleNamespace(graphs=[], error=None, n_waits=0, generator=FakeGenerator())

    @contextlib.contextmanager
    def graph(captured: FakeGraph, pool: Any, stream: Any, *, capture_error_mode: str) -> Iterator[None]:
        assert (pool, capture_error_mode) == ("pool", "thread_local")
        try:
            yield
            if fake.error is not None:
                raise fake.error
        except RuntimeError as error:
            fake.generator.state = "captured"
            raise RuntimeError("operation failed due to a previous error during capture") from error
        fake.graphs.append(captured)

    def wait() -> None:
        fake.n_waits += 1

    stream = SimpleNamespace(wait_stream=lambda other: None, device=torch.device("cuda", 0))
    event = SimpleNamespace(record=lambda stream: None, synchronize=wait)
    for name, value in {
        "Stream": lambda device: stream,
        "current_stream": lambda device: stream,
        "stream": lambda stream: contextlib.nullcontext(),
        "graph_pool_handle": lambda: "pool",
        "CUDAGraph": FakeGraph,
        "graph": graph,
        "Event": lambda: event,
        "synchronize": lambda device: None,
        "default_generators": (fake.generator,),
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    return fake


def test_work_is_called_then_captured_then_replayed(fake_cuda: SimpleNamespace) -> None:
    graphs, calls = CudaGraphs(torch.device("cuda")), list[str]()
    for name in "abaabba":
        with graphs.in_order():
            graphs.run(name, lambda name=name: calls.append(name))
            graphs.end_step()
    assert "".join(calls) == "abab"  # called once, captured once
    assert [graph.n_replays for graph in fake_cuda.graphs] == [3, 2]
    assert fake_cuda.n_waits == 7 - STEPS_AHEAD
    graphs.forget()
    graphs.run("a", lambda: calls.append("again"))
    assert calls[-1] == "again"


def test_work_that_cannot_be_captured_is_called(fake_cuda: SimpleNamespace) -> None:
    graphs, calls = CudaGraphs(torch.device("cuda")), list[str]()
    for name in "abb":
        graphs.run(name, lambda name=name: calls.append(name))
    fake_cuda.error = RuntimeError("operation not permitted when stream is capturing\nmore")
    with captured_log() as lines:
        for name in "aaab":
            graphs.run(name, lambda name=name: calls.append(name))
    assert "".join(calls) == "abb" + "aaaab"  # the capture that failed did nothing, and no graph is kept
    assert fake_cuda.generator.state == "free"
    assert [line for line in lines if "without CUDA graphs" in line] == [
        "going on without CUDA graphs, which are faster: operation not permitted when stream is capturing"
    ]


def test_a_capture_without_memory_is_the_trainers_to_mend(fake_cuda: SimpleNamespace) -> None:
    graphs = CudaGraphs(torch.device("cuda"))
    graphs.run("a", lambda: None)
    fake_cuda.error = torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    with pytest.raises(torch.cuda.OutOfMemoryError):
        graphs.run("a", lambda: None)


def test_without_a_gpu_steps_are_plain() -> None:
    training = TrainingConfig()
    assert isinstance(build_step(new_state(training), training, Processes(), lambda: N_TOKENS), PlainStep)
    assert not captured_step._obstacle(training, Processes())
    assert "several" in captured_step._obstacle(training, Processes(world_size=2))
    assert "cuda_graphs" in captured_step._obstacle(TrainingConfig(cuda_graphs=False), Processes())
