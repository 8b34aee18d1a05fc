"""Settings that a recipe leaves open, filled with what is chosen for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fill_open(settings: Mapping[str, Any], choices: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return settings (a recipe, not yet checked) with choices for those that are open, and these as `name=value`.

    Args:
        choices: values by full names, such as "model.memory". A section that is none is left to the check.

    >>> fill_open({"model": {"memory": "last"}}, {"model.memory": "layerwise", "model.bias": False})
    ({'model': {'memory': 'last', 'bias': False}}, ['model.bias=false'])
    """
    filled, chosen = dict(settings), []
    for name, value in choices.items():
        section, _, key = name.partition(".")
        given = filled.get(section)
        if (given is None or isinstance(given, Mapping)) and (given or {}).get(key) is None:
            filled[section] = {**(given or {}), key: value}
            chosen.append(f"{name}={spelled(value)}")
    return filled, chosen


def spelled(value: object) -> str:
    """Return a value as `--set` reads it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
