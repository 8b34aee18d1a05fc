"""The micro-batches of each step, made ahead by other processes or a thread, and smaller when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator
from typing import Self

import torch

from dragoman.data.batches import Arrays, Batch, Batches, Cut
from dragoman.data.prefetch import Prefetch
from dragoman.errors import ResourceError, is_out_of_memory
from dragoman.machine.devices import usable_cores
from dragoman.machine.forks import can_fork
from dragoman.machine.processes import Processes
from dragoman.machine.workers import Workers
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.batch_watch import BatchWatch
from dragoman.training.training_state import TrainingState

_log = logging.getLogger(__name__)

#: Where memory runs out with micro-batches of this many tokens, smaller ones would not help.
SMALLEST_MICRO_BATCH = 32
#: The most processes that make batches, unless the settings say otherwise. They share the corpus, but each has caches
#: of the pieces of words.
MOST_WORKERS = 16
#: Tokens that a GPU computes in the time in which a micro-batch is launched; each size is a graph to capture, too.
GPU_EXTRA_TOKENS = 1024
#: Batches that may be made before their turn, for each worker: they differ in the work that they take.
AHEAD_OF_TURN = 3


class MicroBatches:
    """This process's share of every batch, cut to fit into memory.

    While it is entered, or until it is closed, it may have other processes that make the batches.
    """

    def __init__(self, batches: Batches, training: TrainingConfig, state: TrainingState, processes: Processes) -> None:
        self._batches, self._training, self._state, self._processes = batches, training, state, processes
        self._device = next(state.model.parameters()).device
        most = n_spare_cores(self._device, processes) if can_fork() else 0
        self.n_workers = choose_workers(training, self._device, most, are_changed=batches.are_changed)
        self._workers = Workers(
            batches.make,
            max(1, self.n_workers),
            "most likely for lack of RAM: give fewer training.batch_workers; the same command continues",
            is_apart=self.n_workers > 0,
            ends_by_close=True,
        )
        self._upcoming: Generator[list[Batch]] | None = None
        #: The time that the steps wait.
        self.watch = BatchWatch(self._device, self.n_workers, most)

    @property
    def _limit(self) -> int | None:
        """Tokens of a micro-batch: as memory allowed, else as asked for; None is a whole batch."""
        return self._state.progress.micro_batch_tokens or self._training.micro_batch_tokens

    @property
    def n_tokens(self) -> int:
        """Tokens of a micro-batch, at most."""
        return self._limit or self._training.batch_tokens

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop making batches, and end the processes that do."""
        if self._upcoming is not None:
            self._upcoming.close()
            self._upcoming = None
        self._workers.close()

    def upcoming(self, n_steps: int) -> Iterator[list[Batch]]:
        """Return the micro-batches of each step from now to `n_steps`, made ahead. An earlier iterator ends.

        Raises:
            ResourceError: a process that makes batches was killed (raised by the iterator).
        """
        self.close()
        if self.n_workers:
            self._workers.start()
        cut = self._cut()
        shares = (self._batches.share(step, cut) for step in range(self._state.progress.step, n_steps))
        made = self._workers.imap(shares, AHEAD_OF_TURN * self.n_workers)
        self._upcoming = _fetched(_as_batches(made, is_pinned=self._device.type == "cuda"), self.watch)
        return self._upcoming

    def _cut(self) -> Cut:
        rank, world_size, is_on_cpu = self._processes.rank, self._processes.world_size, self._device.type == "cpu"
        if not is_on_cpu:
            return Cut(rank, world_size, self._limit, GPU_EXTRA_TOKENS)
        # PyTorch compiles a product in bfloat16 for each shape; so there are half as many shapes.
        return Cut(rank, world_size, self._limit, one_length=self._state.progress.precision == "bfloat16")

    def halve(self, error: Exception) -> None:
        """Halve them after a step that ran out of memory, so that it can be done again.

        Raises:
            ResourceError: they cannot be halved.
            Exception: the error, if it is another one.
        """
        if not is_out_of_memory(error):
            raise error
        state, size = self._state, self.n_tokens // 2
        state.model.zero_grad()
        if size < SMALLEST_MICRO_BATCH or self._processes.world_size > 1:
            advice = "use a smaller model, or training.micro_batch_tokens; the same command continues"
            raise ResourceError(f"out of memory at step {state.progress.step + 1}", advice=advice) from error
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        state.progress.micro_batch_tokens = size
        _log.warning(f"step {state.progress.step + 1}: out of memory; going on in micro-batches of {size:,} tokens")


def n_spare_cores(device: torch.device, processes: Processes) -> int:
    """Return the number of this training process's cores that do not compute its steps."""
    busy = torch.get_num_threads() if device.type == "cpu" else 1
    return max(0, usable_cores() // processes.local_world_size - busy)


def choose_workers(training: TrainingConfig, device: torch.device, n_spare: int, *, are_changed: bool) -> int:
    """Return the number of processes that make batches: those of the settings, or as many as there are spare cores.

    On a CPU all cores compute. Pairs that are used as they are stored need one process at most. Only Linux can copy a
    process safely.
    """
    if not can_fork():
        return 0
    if training.batch_workers is not None:
        return training.batch_workers
    return 0 if device.type == "cpu" else min(n_spare, MOST_WORKERS if are_changed else 1)


def _as_batches(made: Iterable[list[Arrays]], *, is_pinned: bool) -> Generator[list[Batch]]:
    for arrays in made:
        micro_batches = map(Batch.of, arrays)
        yield [batch.pinned() if is_pinned else batch for batch in micro_batches]


def _fetched(batches: Generator[list[Batch]], watch: BatchWatch) -> Generator[list[Batch]]:
    with Prefetch(batches) as fetched:
        yield from watch.watch(fetched)
