"""The settings of models that CTranslate2, Argos Translate, ONNX, and stock Marian or Pegasus can all hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.settings.open_settings import fill_open, spelled

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
    "model.norm_epsilon": (1e-5,),
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
    changed, chosen = fill_open(settings, {name: values[0] for name, values in CHOSEN.items()})
    problems = []
    for name, values in {**CHOSEN, **CHECKED}.items():
        section, _, key = name.partition(".")
        given = changed.get(section)
        value = given.get(key) if isinstance(given, Mapping) else None  # no section at all is told by the check
        if value is not None and value not in values:
            fitting = " or ".join(map(spelled, values))
            problems.append(f"{name}={spelled(value)}; it must be {fitting}")
    if problems:
        advice = "leave these settings out, or --portable"
        raise ConfigError("not all programs can hold such a model", location, advice=advice, details=problems)
    return changed, chosen
