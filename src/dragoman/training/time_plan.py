"""The steps of a training that a person gives a time for, from measured speeds. Pure arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from dragoman.errors import ConfigError
from dragoman.settings.duration import duration_text
from dragoman.training.checkpoint import Progress

#: Part of the time for validations, on a GPU too, and their number, where nobody says how often to validate.
VALIDATION_SHARE, GPU_VALIDATION_SHARE, FEWEST_VALIDATIONS, MOST_VALIDATIONS = 0.1, 0.05, 2, 20
#: Part of the time for what is not measured: logs, checkpoints, bundles.
OTHER_SHARE = 0.03
#: Steps below which nothing is learned.
FEWEST_STEPS = 10
#: Parts of the time: of steps after which their speed is looked at again, and by which the end may be missed.
CHECKED_SHARE, MISSED_SHARE = 0.05, 0.02


@dataclass(frozen=True)
class Speed:
    """Measured seconds of a step and of a validation."""

    step: float
    validation: float

    def seconds(self, first: int, last: int, validate_every: int) -> float:
        """Return the time from after step `first` to `last`, with a validation every so many steps and at the end."""
        return (last - first) * self.step + (
            math.ceil(last / validate_every) - first // validate_every
        ) * self.validation

    def last_step(self, first: int, seconds: float, validate_every: int) -> int:
        """Return the last step that can be made and validated in `seconds` from step `first` on."""
        usable = seconds * (1 - OTHER_SHARE)
        candidates = range(first + 1, first + 1 + max(0, int(usable / self.step)))
        return first + bisect_right(candidates, usable, key=lambda last: self.seconds(first, last, validate_every))


@dataclass(frozen=True)
class TimePlan:
    """The steps from now on, and those between two validations."""

    n_steps: int
    validate_every: int


def validation_share(device: str) -> float:
    """Return the part of the time that validations may take, given the type of the device."""
    return GPU_VALIDATION_SHARE if device == "cuda" else VALIDATION_SHARE


def plan_steps(
    seconds: float, speed: Speed, validate_every: int | None = None, share: float = VALIDATION_SHARE
) -> TimePlan:
    """Return the steps that fit into `seconds`, with their validations.

    Args:
        seconds: the time that is left.
        speed: as measured.
        validate_every: as the person asked, if so.
        share: of the time for validations, unless the fewest take more.

    Raises:
        ConfigError: hardly any step fits.
    """
    if validate_every is None:
        usable = seconds * (1 - OTHER_SHARE)
        n_wanted = share * usable / max(speed.validation, 1e-9)
        n_validations = int(min(MOST_VALIDATIONS, max(FEWEST_VALIDATIONS, n_wanted)))
        n_steps = int((usable - n_validations * speed.validation) / speed.step)
        validate_every = max(1, math.ceil(n_steps / n_validations))
    else:
        n_steps = speed.last_step(0, seconds, validate_every)
    if n_steps < FEWEST_STEPS:
        left = f"{max(0.0, seconds):.1f} seconds are left for it"
        needed = FEWEST_STEPS * speed.step + FEWEST_VALIDATIONS * speed.validation - min(0.0, seconds)
        raise ConfigError(
            f"the time is too short: {left}, a step takes {speed.step:.2f} and a validation {speed.validation:.1f}",
            advice=f"add {duration_text(math.ceil(needed / (1 - OTHER_SHARE)))} or more to --time",
        )
    return TimePlan(n_steps, validate_every)


@dataclass
class TimeKeeper:
    """Compares the speed of a training with its plan, since other programs may need the machine too.

    Args:
        limit: seconds for all starts of the run together.
    """

    limit: float
    #: The step after which the speed was last looked at, and the seconds of all steps until then.
    _step: int | None = None
    _seconds: float = 0.0

    def better_length(self, progress: Progress, n_steps: int, validate_every: int) -> int | None:
        """Return how many steps the training should have; None if it will end in time with `n_steps`.

        Args:
            progress: of the training; all that it has spent is counted.
            n_steps: of the whole training, as planned.
            validate_every: steps between two validations.
        """
        step, seconds = progress.step, progress.seconds
        if self._step is None:
            self._step, self._seconds = step, seconds
        if step == self._step or seconds - self._seconds < CHECKED_SHARE * self.limit:
            return None
        speed = Speed((seconds - self._seconds) / (step - self._step), progress.validation_seconds)
        self._step, self._seconds = step, seconds
        left = self.limit - progress.spent
        missed = speed.seconds(step, n_steps, validate_every) - left * (1 - OTHER_SHARE)
        return speed.last_step(step, left, validate_every) if abs(missed) > MISSED_SHARE * self.limit else None
