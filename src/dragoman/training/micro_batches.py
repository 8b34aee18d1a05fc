"""The micro-batches of each step, made smaller when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import torch

from dragoman.data.batches import Batch, Batches
from dragoman.data.prefetch import prefetch
from dragoman.errors import ResourceError, is_out_of_memory
from dragoman.machine.processes import Processes
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.training_state import TrainingState

_log = logging.getLogger(__name__)

#: Where memory runs out with micro-batches of this many tokens, smaller ones would not help.
SMALLEST_MICRO_BATCH = 32


class MicroBatches:
    """This process's share of every batch, cut to fit into memory."""

    def __init__(self, batches: Batches, training: TrainingConfig, state: TrainingState, processes: Processes) -> None:
        self._batches, self._training, self._state, self._processes = batches, training, state, processes
        self._device = next(state.model.parameters()).device

    @property
    def _limit(self) -> int | None:
        """Tokens of a micro-batch: as memory allowed, else as asked for; None is a whole batch."""
        return self._state.progress.micro_batch_tokens or self._training.micro_batch_tokens

    @property
    def n_tokens(self) -> int:
        """Tokens of a micro-batch, at most."""
        return self._limit or self._training.batch_tokens

    def of_step(self, step: int) -> list[Batch]:
        """Return the micro-batches of a step, counted from 0."""
        return self._batches.micro_batches(
            step,
            micro_batch_tokens=self._limit,
            rank=self._processes.rank,
            world_size=self._processes.world_size,
            # On a CPU, PyTorch compiles a product in bfloat16 for each shape; so there are half as many shapes.
            one_length=self._state.progress.precision == "bfloat16" and self._device.type == "cpu",
        )

    def upcoming(self, n_steps: int) -> Iterator[list[Batch]]:
        """Yield the micro-batches of each step from now to `n_steps`, made ready ahead of time."""
        return prefetch(self.of_step(step) for step in range(self._state.progress.step, n_steps))

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
