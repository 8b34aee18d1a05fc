"""One optimizer step: gradient, clipping, optimizer and moving average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from dragoman.data.batches import Batch
from dragoman.machine.processes import Processes
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.checkpoint import Window
from dragoman.training.gradient import Gradients
from dragoman.training.loss_scale import LossScale
from dragoman.training.training_state import TrainingState


@dataclass
class Outcome:
    """Sums over some steps. One whose loss or gradient was not finite left the weights as they were.

    Args:
        sums: over the others.
        n_skipped: steps that were not finite.
        skipped_in_a_row: those of them after the last finite step, with those before these steps.
    """

    sums: Window = field(default_factory=Window)
    n_skipped: int = 0
    skipped_in_a_row: int = 0


class Step(Protocol):
    """Makes the steps of one training. Either implementation moves the weights equally, except for rounding."""

    def make(self, micro_batches: Sequence[Batch], step: int, rate: float) -> Outcome | None:
        """Make the `step`-th step, counted from 1, or leave all as it is if a number is not finite.

        Returns:
            Its outcome; None if the device is not done, and `outcome` will tell.

        Raises:
            MemoryError, RuntimeError: there is not enough memory; nothing has changed.
        """

    def outcome(self) -> Outcome:
        """Wait for the device, and return the outcome of the steps whose `make` returned None, since the last call."""


class PlainStep:
    """A step whose numbers are read as soon as they are known."""

    def __init__(self, state: TrainingState, training: TrainingConfig, processes: Processes) -> None:
        self._state, self._training, self._processes = state, training, processes
        self._gradients = Gradients(state.model, training, processes)
        self._scale = LossScale(state.model, state.progress) if state.progress.precision == "float16" else None
        self._skipped_in_a_row = state.progress.skipped_in_a_row

    def make(self, micro_batches: Sequence[Batch], step: int, rate: float) -> Outcome:
        """Make one step; see `Step`."""
        state, precision, sums = self._state, self._state.progress.precision, Window()
        n_tokens, loss, nll = self._gradients.of_batch(micro_batches, precision, self._scale)
        clip_norm = self._training.clip_norm or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(state.model.parameters(), clip_norm))
        if is_finite := math.isfinite(norm + loss):
            state.optimizer.step(rate, precision, self._processes)
            # From here on, memory is not asked for: a step that runs out of it is done again.
            if state.average is not None:
                state.average.update(state.model, state.average.weight(step))
            sums = Window(loss, nll, norm, n_tokens, 1)
        self._skipped_in_a_row = 0 if is_finite else self._skipped_in_a_row + 1
        if self._scale is not None:
            self._scale.update(state.progress)
        state.model.zero_grad()
        return Outcome(sums, int(not is_finite), self._skipped_in_a_row)

    def outcome(self) -> Outcome:
        """Return an empty outcome: `make` has returned all of them."""
        return Outcome(skipped_in_a_row=self._skipped_in_a_row)
