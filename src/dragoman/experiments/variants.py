"""Variants of a recipe: the points of a grid of settings."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.settings.parsing import check_request
from dragoman.settings.recipe import override_settings, parse_vary

#: The setting whose values are repetitions of one variant rather than variants.
SEED = "training.seed"


@dataclass(frozen=True)
class Variant:
    """One point of the grid."""

    choices: Mapping[str, str]  # setting -> value, as given
    folder: Path

    @property
    def name(self) -> str:
        """The settings that it changes, without its seed."""
        return ", ".join(f"{key}={value}" for key, value in self.choices.items() if key != SEED) or "as the recipe"

    def recipe(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a recipe with the choices of this variant.

        Raises:
            ConfigError: they are not a valid configuration.
        """
        recipe: dict[str, Any] = json.loads(json.dumps(settings))
        override_settings(recipe, [f"{key}={value}" for key, value in self.choices.items()])
        check_request(recipe, self.folder.name)
        return recipe


def grid(vary: Sequence[str], folder: Path, *, one_at_a_time: bool = False) -> list[Variant]:
    """The variants that `key=value,value,...` ask for, each with a run folder below `folder`.

    Every combination of the values; or, one at a time, the recipe itself and every single value. Either way with every
    seed, if seeds are given.

    Raises:
        ConfigError: one is not of that form, or a key is given twice.
    """
    axes: dict[str, list[str]] = {}
    for each in vary:
        key, values = parse_vary(each, "model.norm=post,pre")
        if key in axes:
            raise ConfigError(f"--vary {key} is given twice", advice="list all its values at once")
        axes[key] = values
    if one_at_a_time:
        seeds = [{SEED: seed} for seed in axes.pop(SEED, [])] or [{}]
        single = [{}, *({key: value} for key, values in axes.items() for value in values)]
        points = [choice | seed for choice in single for seed in seeds]
    else:
        points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    short = {key: key if _is_ambiguous(key, axes) else key.rpartition(".")[2] for key in (*axes, SEED)}
    variants = []
    for choices in points:
        name = ",".join(f"{short[key]}={value}" for key, value in choices.items())
        variants.append(Variant(choices, folder / (name or "recipe").replace("/", "-")))
    return variants


def _is_ambiguous(key: str, keys: Iterable[str]) -> bool:
    """Return True if another key ends in the same word."""
    return sum(each.rpartition(".")[2] == key.rpartition(".")[2] for each in keys) > 1
