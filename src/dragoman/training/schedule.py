"""The learning rate at each step: a linear warm-up, then one of four ways down."""

from __future__ import annotations

import math

from dragoman.data.epochs import Epochs
from dragoman.settings.training_config import TrainingConfig


def peak_rate(training: TrainingConfig, d_model: int) -> float:
    """Return the rate at the end of the warm-up: the one asked for, or the paper's (d_model * warmup_steps)^-0.5."""
    return training.lr or (d_model * max(1, training.warmup_steps)) ** -0.5


def total_steps(training: TrainingConfig, epochs: Epochs) -> int:
    """Return the steps of a whole training: the smaller of its two limits."""
    by_epochs = epochs.start(training.max_epochs or 0)
    return min(each for each in (training.max_steps, by_epochs) if each)


def learning_rate(step: int, training: TrainingConfig, d_model: int, n_steps: int) -> float:
    """Return the learning rate of step 1 .. n_steps.

    `inverse_sqrt` without an explicit rate is equation 3 of the paper,
    d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).
    `cosine` (Loshchilov and Hutter 2017) and `linear` end at zero.
    """
    peak, warmup = peak_rate(training, d_model), training.warmup_steps
    if step < warmup:
        return peak * step / warmup
    if training.schedule == "inverse_sqrt":
        return peak * math.sqrt(max(1, warmup) / step)
    if training.schedule == "constant":
        return peak
    done = min(1.0, (step - warmup) / max(1, n_steps - warmup))
    return peak * (0.5 * (1 + math.cos(math.pi * done)) if training.schedule == "cosine" else 1 - done)
