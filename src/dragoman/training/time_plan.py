"""The steps of a training that a person gives a time for, from measured speeds. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dragoman.errors import ConfigError
from dragoman.settings.duration import duration_text

#: Part of the time for validations, and their number, where nobody says how often to validate.
VALIDATION_SHARE, FEWEST_VALIDATIONS, MOST_VALIDATIONS = 0.1, 2, 20
#: Part of the time for what is not measured: logs, checkpoints, bundles.
OTHER_SHARE = 0.03
#: Steps below which nothing is learned.
FEWEST_STEPS = 10


@dataclass(frozen=True)
class Speed:
    """Measured seconds of a step and of a validation."""

    step: float
    validation: float


@dataclass(frozen=True)
class TimePlan:
    """The steps from now on, and those between two validations."""

    n_steps: int
    validate_every: int


def plan_steps(seconds: float, speed: Speed, validate_every: int | None = None) -> TimePlan:
    """Return the steps that fit into `seconds`, with their validations.

    Args:
        seconds: the time that is left.
        speed: as measured.
        validate_every: as the person asked, if so.

    Raises:
        ConfigError: hardly any step fits.
    """
    usable = seconds * (1 - OTHER_SHARE)
    if validate_every is not None:
        n_steps = int(usable / (speed.step + speed.validation / validate_every))
    else:
        n_wanted = int(VALIDATION_SHARE * usable / speed.validation) if speed.validation else MOST_VALIDATIONS
        n_validations = min(MOST_VALIDATIONS, max(FEWEST_VALIDATIONS, n_wanted))
        n_steps = int((usable - n_validations * speed.validation) / speed.step)
        validate_every = max(1, math.ceil(n_steps / n_validations))
    if n_steps < FEWEST_STEPS:
        left = f"{max(0.0, seconds):.1f} seconds are left for it"
        needed = FEWEST_STEPS * speed.step + FEWEST_VALIDATIONS * speed.validation - min(0.0, seconds)
        raise ConfigError(
            f"the time is too short: {left}, a step takes {speed.step:.2f} and a validation {speed.validation:.1f}",
            advice=f"add {duration_text(math.ceil(needed / (1 - OTHER_SHARE)))} or more to --time",
        )
    return TimePlan(n_steps, validate_every)
