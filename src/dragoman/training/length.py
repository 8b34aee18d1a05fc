"""The length of a training, where a start finds it finished or changes it: what is left, and what the rate will do."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.epochs import Epochs
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.schedule import learning_rate, total_steps

#: Rates that differ by less are one, for people.
SAME_RATE = 0.05


@dataclass(frozen=True)
class Length:
    """The steps of a training and its learning rates.

    Args:
        training: the settings, with the limits of this start.
        epochs: steps of the epochs.
        d_model: on which the paper's rate depends.
    """

    training: TrainingConfig
    epochs: Epochs
    d_model: int

    @property
    def n_steps(self) -> int:
        """All steps."""
        return total_steps(self.training, self.epochs)

    def describe_end(self, step: int, folder: Path) -> str:
        """Return a line about a training that has made all its steps: what it had, and how to make it longer."""
        wanted = 2 * step
        longer = {"max_epochs": math.ceil(self.epochs.done(wanted)), "max_steps": wanted}
        limits = {name: value for name, value in longer.items() if (getattr(self.training, name) or value) < value}
        settings = " ".join(f"--set training.{name}={value}" for name, value in limits.items())
        other = Length(self.training.model_copy(update=limits), self.epochs, self.d_model)
        epochs = f"{self.epochs.done(step):.1f}".removesuffix(".0")
        done = f"{epochs} epoch{'s' * (epochs != '1')}, {step:,} steps"
        command = f"dragoman train --output {shlex.quote(str(folder))} {settings}"
        return f"this run is finished: {done}; to train longer: {command} ({other.describe_rates(step, step)})"

    def describe_rates(self, step: int, before: int) -> str:
        """Return in words the learning rate after `step`, if the training had `before` steps until now."""
        last = self._rate(self.n_steps, self.n_steps)
        usual, rate = self._rate(step + 1, before), self._rate(step + 1, self.n_steps)
        end = f"{_text(last)} at the last, step {self.n_steps:,}"
        if abs(rate - usual) > SAME_RATE * max(rate, usual):
            way = "up" if rate > usual else "down"
            return f"the learning rate goes {way} at once from {_text(usual)} to {_text(rate)}, then to {end}"
        if rate == last:
            return f"the learning rate stays {_text(rate)}"
        return f"the learning rate goes on from {_text(rate)} to {end}"

    def _rate(self, step: int, n_steps: int) -> float:
        return learning_rate(step, self.training, self.d_model, n_steps)


def _text(rate: float) -> str:
    return f"{rate:.2g}"
