"""The settings of a model that another program cannot express, told all at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import ConfigError


class Obstacle(NamedTuple):
    """One setting that another program cannot express."""

    #: As in a recipe: "model.memory".
    setting: str
    value: object
    reason: str
    #: A value that the program can express; None if there is none.
    instead: object = None


def require_none(obstacles: Sequence[Obstacle], program: str, name: str | Path) -> None:
    """Refuse a model if there are obstacles.

    Args:
        program: its name, as people know it.
        name: of the model.

    Raises:
        ConfigError: there are; the message has all of them, and settings of a model that could be exported.
    """
    if not obstacles:
        return
    changes = [f"--set {each.setting}={_spelled(each.instead)}" for each in obstacles if each.instead is not None]
    advice = "export another model"
    if changes:
        advice = f"train another with {' '.join(changes)}; dragoman distill makes its training text from this one"
    lines = [f"{each.setting}={_spelled(each.value)}: {each.reason}" for each in obstacles]
    raise ConfigError(f"{program} cannot hold this model", name, advice=advice, details=lines)


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | None) else str(value)
