"""Batches made by other processes: the same ones in the same order, and no process is lost or left behind."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from runs import assert_same_training, settings

from dragoman.data.batches import Batch, Batches, Cut
from dragoman.data.drawn_pairs import Drawing
from dragoman.data.store import PairStore, Part, StoreWriter, pack
from dragoman.errors import DataError, ResourceError
from dragoman.machine.processes import Processes
from dragoman.machine.workers import Workers
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.tokenizer import Tokenizers
from dragoman.training import batch_watch, train
from dragoman.training.batch_watch import BatchWatch
from dragoman.training.checkpoint import Progress, saved_steps
from dragoman.training.micro_batches import MicroBatches, choose_workers

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")]

CPU, ALONE = torch.device("cpu"), Processes()
ALL = AugmentationConfig(spans=0.5, reserved=0.3, case=0.3, punctuation=0.3, typos=0.3)
PAIRS = [
    *((f"Tom has {n} dogs, www.a{n}.org.", f"Tom hat {n} Hunde, www.a{n}.org.") for n in range(2, 30)),
    *((f"Is that {'very ' * (n % 7)}nice, {name}?", f"Ist das {'sehr ' * (n % 7)}nett, {name}?")
      for n, name in enumerate(["Tom", "Mary", "Zanzo"] * 12)),
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig(sampling=0.2, reserved=16), "en", "de")


@pytest.fixture(scope="module")
def store(tokenizers: Tokenizers, tmp_path_factory: pytest.TempPathFactory) -> PairStore:
    folder = tmp_path_factory.mktemp("store")
    with StoreWriter(folder, (tokenizers.source.vocab_size, tokenizers.target.vocab_size)) as writer:
        for name, pairs in (("a", PAIRS[:28]), ("b", PAIRS[28:])):
            writer.begin(Part(name, "en", "de"))
            sources, targets = zip(*pairs, strict=True)
            ids = [list(map(tokenizers.source.encode, sources)), list(map(tokenizers.target.encode, targets))]
            writer.add(pack(ids, [sources, targets]))
    return PairStore(folder)


def all_batches(store: PairStore, tokenizers: Tokenizers) -> Batches:
    """Batches of a mixture with weights, whose pairs are changed and sampled."""
    drawing = Drawing(True, 80, ALL)
    return Batches(store, tokenizers, batch_tokens=90, seed=3, drawing=drawing, weights=(2.5, 0.7))


def micro_batches(
    batches: Batches, n_workers: int, *, step: int = 0, limit: int | None = None, processes: Processes = ALONE
) -> MicroBatches:
    training = TrainingConfig(batch_tokens=90, micro_batch_tokens=limit, batch_workers=n_workers)
    state: Any = SimpleNamespace(model=torch.nn.Linear(1, 1), progress=Progress(step=step))
    return MicroBatches(batches, training, state, processes)


def ids(batches: list[Batch]) -> list[tuple[list[list[int]], list[list[int]]]]:
    return [(batch.source_ids.tolist(), batch.target_ids.tolist()) for batch in batches]


@pytest.fixture
def children() -> Iterator[set[BaseProcess]]:
    """The processes that were there before; a test leaves no others."""
    before = set(multiprocessing.active_children())
    yield before
    deadline = time.monotonic() + 20
    while left := set(multiprocessing.active_children()) - before:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


@pytest.mark.parametrize("n_workers", [0, 1, 3])
def test_whatever_their_number_the_batches_are_the_same(
    n_workers: int, store: PairStore, tokenizers: Tokenizers, children: set[BaseProcess]
) -> None:
    batches, expected = all_batches(store, tokenizers), all_batches(store, tokenizers)
    end, middle = 2 * batches.epochs.n_batches + 3, batches.epochs.n_batches - 2
    for start, limit, processes in (
        (0, None, Processes()),
        (middle, 40, Processes()),
        (middle, None, Processes(1, 2)),
    ):
        cut = Cut(processes.rank, processes.world_size, limit)
        with micro_batches(batches, n_workers, step=start, limit=limit, processes=processes) as made:
            upcoming = made.upcoming(end)
            found = [ids(next(upcoming))]
            assert len(set(multiprocessing.active_children()) - children) == n_workers
            found += map(ids, upcoming)
        assert found == [ids(expected.micro_batches(index, cut)) for index in range(start, end)]
    assert len({str(each) for each in found}) == len(found)  # drawn anew each epoch


def test_smaller_micro_batches_begin_with_the_step_that_ran_out_of_memory(
    store: PairStore, tokenizers: Tokenizers, children: set[BaseProcess]
) -> None:
    batches = all_batches(store, tokenizers)
    with micro_batches(batches, 2) as made:
        first = made.upcoming(20)
        for _ in range(3):
            next(first)
        made._state.progress.step = 2
        made.halve(RuntimeError("out of memory"))
        found = [ids(each) for each in itertools.islice(made.upcoming(20), 4)]
        assert next(first, None) is None
    assert found == [ids(batches.micro_batches(index, Cut(micro_batch_tokens=45))) for index in range(2, 6)]
    assert max(map(len, found)) > 1


def test_a_killed_worker_is_told_of_in_one_line(
    store: PairStore, tokenizers: Tokenizers, children: set[BaseProcess]
) -> None:
    with micro_batches(all_batches(store, tokenizers), 2) as made:
        upcoming = made.upcoming(10_000)
        next(upcoming)
        for worker in set(multiprocessing.active_children()) - children:
            assert worker.pid is not None
            os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(ResourceError, match=r"^a worker process was killed; .*batch_workers.* continues$"):
            list(upcoming)


def test_a_signal_to_all_processes_leaves_the_step_its_batches(
    store: PairStore, tokenizers: Tokenizers, children: set[BaseProcess]
) -> None:
    batches = all_batches(store, tokenizers)
    with micro_batches(batches, 2) as made:
        upcoming = made.upcoming(30)
        found = [ids(next(upcoming))]
        for worker in set(multiprocessing.active_children()) - children:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                assert worker.pid is not None
                os.kill(worker.pid, number)
        found += map(ids, upcoming)
    assert found == [ids(batches.micro_batches(index)) for index in range(30)]


def test_a_signal_to_a_worker_that_has_not_begun_does_not_end_it(children: set[BaseProcess]) -> None:
    workers = Workers(lambda job: job + 1, 2, ends_by_close=True)
    for _ in range(20):
        before = set(multiprocessing.active_children())
        workers.start()
        started = set(multiprocessing.active_children()) - before
        assert len(started) == 2
        for worker in started:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                assert worker.pid is not None
                os.kill(worker.pid, number)
        assert workers.map(range(4)) == [1, 2, 3, 4]
        workers.close()


def test_an_error_comes_in_the_place_of_its_batch(
    store: PairStore, tokenizers: Tokenizers, children: set[BaseProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = all_batches(store, tokenizers)
    bad = batches.share(7).draw.pairs.tolist()
    make = batches.make

    def failing(share: Any) -> Any:
        if share.draw.pairs.tolist() == bad:
            raise DataError("the disk with the corpus is gone")
        return make(share)

    monkeypatch.setattr(batches, "make", failing)
    with micro_batches(batches, 2) as made:
        upcoming = made.upcoming(30)
        for _ in range(7):
            next(upcoming)
        with pytest.raises(DataError, match="is gone"):
            next(upcoming)


ENDS = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "at its end": "pass",
    "by an error": "raise SystemExit(3)",
    "by signals to all": "os.killpg(0, signal.SIGTERM)",
}


@pytest.mark.parametrize("end", ENDS)
def test_workers_that_ignore_signals_end_with_their_process_however_it_ends(end: str) -> None:
    program = (
        "import os, signal; from dragoman.machine.workers import Workers\n"
        "workers = Workers(lambda job: os.getpid(), 2, ends_by_close=True)\n"
        "results = workers.imap(range(20), 6)\n"
        f"print(*(next(results) for _ in range(10)), flush=True)\n{ENDS[end]}"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, start_new_session=True)
    processes = set(map(int, done.stdout.split()))
    assert len(processes) == 2
    assert "Traceback" not in done.stderr
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_training_may_go_on_with_another_number_of_workers(
    corpus: Path, tmp_path: Path, children: set[BaseProcess]
) -> None:
    alone, changing = tmp_path / "alone", tmp_path / "changing"
    chosen = {"tokenizer": {"vocab_size": 290, "sampling": 0.2}, "augmentation": {"typos": 0.5}}
    train({**settings(corpus, max_steps=20), **chosen}, alone, device="cpu")
    for n_workers, n_steps in ((2, 10), (0, 20)):
        train({**settings(corpus, batch_workers=n_workers, max_steps=n_steps), **chosen}, changing, device="cpu")
        assert saved_steps(changing / "checkpoints")[-1] == n_steps
    assert_same_training(alone, changing)


# -- the number of workers, and what is said about waiting -----------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "device", "n_spare", "are_changed", "expected"),
    [
        (None, "cpu", 6, True, 0),
        (None, "cuda", 7, True, 7),
        (None, "cuda", 100, True, 16),
        (None, "cuda", 7, False, 1),
        (None, "cuda", 0, True, 0),
        (3, "cpu", 0, True, 3),
        (0, "cuda", 7, True, 0),
    ],
)
def test_workers_take_the_cores_that_are_left(
    asked: int | None, device: str, n_spare: int, are_changed: bool, expected: int
) -> None:
    training = TrainingConfig(batch_workers=asked)
    assert choose_workers(training, torch.device(device), n_spare, are_changed=are_changed) == expected


class _Clock:
    """A clock that stands still, except while an item is waited for."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


class _Items:
    """Six items, for each of which one waits."""

    is_ready = False

    def __init__(self, clock: _Clock, seconds: float) -> None:
        self._clock, self._seconds, self._numbers = clock, seconds, iter(range(6))

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> int:
        self._clock.now += self._seconds
        return next(self._numbers)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr(batch_watch, "time", clock)
    return clock


def share_waited(watch: BatchWatch, clock: _Clock, seconds_for_each: float, seconds: float) -> float:
    """Wait for five items that others could have made before, in steps that take so many seconds together."""
    items: Any = _Items(clock, seconds_for_each)
    assert list(itertools.islice(watch.watch(items), 6)) == [*range(6)]
    watch.add(seconds)
    return watch.log()


@pytest.mark.parametrize(
    ("most", "advice"), [(4, "training.batch_workers=4 makes more at once"), (1, "more cores would help")]
)
def test_waiting_is_told_once_with_advice(most: int, advice: str, clock: _Clock, log_lines: list[str]) -> None:
    watch = BatchWatch(CPU, 1, most)
    assert share_waited(watch, clock, 0.5, 10.0) == 0.25
    assert share_waited(watch, clock, 1.0, 10.0) == 0.5
    (line,) = log_lines
    assert f"training waited 25% of the time for batches; {advice}" in line


def test_a_moment_and_a_little_waiting_are_counted_but_not_told(clock: _Clock, log_lines: list[str]) -> None:
    watch = BatchWatch(CPU, 0, 4)
    assert share_waited(watch, clock, 0.1, 1.0) == 0.5
    assert share_waited(watch, clock, 0.0, 100.0) == 0
    assert watch.log() == 0
    assert log_lines == []
