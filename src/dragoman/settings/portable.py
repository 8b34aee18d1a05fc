"""The settings of models that CTranslate2, Argos Translate, ONNX, and stock Marian or Pegasus can all hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError

#: Values that all these programs can hold, by the full name of a setting. The first is chosen where none is asked for.
CHOSEN: Mapping[str, tuple[Any, ...]] = {
    "model.memory": ("last",),
    "model.positions": ("sinusoidal", "halves", "learned"),
    "model.tie": ("all",),
    "tokenizer.joint": (True,),
}
#: The same for settings that no plan changes, so they are only checked.
CHECKED: Mapping[str, tuple[Any, ...]] = {
    "model.norm_kind": ("layer",),
    "model.activation": ("relu", "gelu", "silu"),
    "model.final_norm": (None,),
    "model.d_k": (None,),
    "model.d_v": (None,),
    "tokenizer.kind": ("bpe", "unigram"),
    "tokenizer.lowercase": (False,),
    "tokenizer.lowercase_source": (False,),
}


def make_portable(settings: Mapping[str, Any], location: str | Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return settings (a recipe, not yet checked) of a model that other programs can hold, and those that were chosen.

    Raises:
        ConfigError: they ask for something else; it lists every such setting.
    """
    changed, chosen, problems = dict(settings), [], []
    for name, values in {**CHOSEN, **CHECKED}.items():
        section, _, key = name.partition(".")
        given = changed.get(section)
        if given is not None and not isinstance(given, Mapping):
            continue  # told when the settings are checked
        value = (given or {}).get(key)
        if value is None and name in CHOSEN:
            changed[section] = {**(given or {}), key: values[0]}
            chosen.append(f"{name}={_spelled(values[0])}")
        elif value is not None and value not in values:
            fitting = " or ".join(_spelled(each) for each in values)
            problems.append(f"{name}={_spelled(value)}; it must be {fitting}")
    if problems:
        advice = "leave these settings out, or --portable"
        raise ConfigError("not all programs can hold such a model", location, advice=advice, details=problems)
    return changed, chosen


def _spelled(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
