"""Recipes: YAML files with the sections of a `Config`, and `--set a.b=c` overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from dragoman.errors import ConfigError
from dragoman.settings.config import Config
from dragoman.settings.sections import Section
from dragoman.settings.yaml_loader import MAX_DEPTH, UNREADABLE, load_yaml

#: PyYAML reads about 50 kB a second.
MAX_RECIPE_BYTES = 100_000


def read_recipe(path: Path | None, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of a recipe file with `a.b=c` overrides, not yet checked.

    Raises:
        ConfigError: the file is not a YAML mapping of at most 100 kB, or an override is not `key=value`.
    """
    settings = _read_file(path) if path is not None else {}
    if path is not None and path.name == "config.yaml":
        _drop_pad_id(settings)
    override_settings(settings, overrides)
    return settings


def override_settings(settings: dict[str, Any], overrides: Sequence[str]) -> None:
    """Apply `a.b=c` overrides to settings, in place.

    Raises:
        ConfigError: an override is not `key=value`, or its value is not YAML.
    """
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key or key.count(".") >= MAX_DEPTH:
            raise ConfigError(
                f"--set {override!r} is not of the form key=value", advice="write, for example, --set training.lr=0.002"
            )
        mapping = settings
        *sections, name = key.split(".")
        for section in sections:
            mapping = mapping.setdefault(section, {})
            if not isinstance(mapping, dict):
                raise ConfigError(f"--set {override!r}: {section!r} is not a section")
        try:
            mapping[name] = load_yaml(text)
        except UNREADABLE:
            raise ConfigError(f"--set {override!r}: the value is not readable", advice="quote it") from None


def parse_vary(vary: str, example: str) -> tuple[str, list[str]]:
    """Return a setting and its values, each once, from `key=value,value,...`; a value may be a list, `[0.9,0.98]`.

    Raises:
        ConfigError: it is not of that form; the advice is the example.
    """
    key, equals, text = vary.partition("=")
    values = re.split(r",(?![^\[]*\])", text)  # at commas outside brackets
    if not equals or not key or not all(values):
        raise ConfigError(
            f"--vary {vary!r} is not of the form key=value,value", advice=f"write, for example, {example}"
        )
    return key, list(dict.fromkeys(values))


def to_yaml(config: Section) -> str:
    """Return a configuration as YAML that `read_recipe` reads back."""
    text: str = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return text


def _drop_pad_id(settings: dict[str, Any]) -> None:
    """Drop `model.pad_id`, which runs of release 0.1.0 have saved; it is 0 in all of them."""
    model = settings.get("model")
    if isinstance(model, dict) and model.get("pad_id") == 0:
        del model["pad_id"]


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_RECIPE_BYTES + 1)  # a device never ends
    except OSError as error:
        raise ConfigError(f"cannot read the recipe ({error.strerror})", path, advice="check the path") from None
    if len(content) > MAX_RECIPE_BYTES:
        raise ConfigError(
            "the recipe is larger than 100 kB",
            path,
            advice="is it text to train on? Give it as --source and --target, or --pairs",
        )
    try:
        settings = load_yaml(content)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ConfigError(f"not readable as YAML ({error.problem})", path, line=line, byte=column) from None
    except UNREADABLE as error:
        raise ConfigError(f"not readable as YAML ({getattr(error, 'reason', error)})", path) from None
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        sections = ", ".join(Config.model_fields)
        advice = f"text goes after --source and --target; recipes have sections ({sections})"
        raise ConfigError("this is no recipe", path, advice=advice)
    return {
        section: values for section, values in settings.items() if values is not None
    }  # an empty section is as good as none
