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
from dragoman.settings.yaml_loader import MAX_DEPTH, UNREADABLE, load_yaml, read_yaml


def read_recipe(path: Path | None, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of a recipe file with `a.b=c` overrides, not yet checked.

    Raises:
        ConfigError: the file is not a YAML mapping of at most 100 kB, or an override is not `key=value`.
    """
    advice = (
        f"recipes have sections ({', '.join(Config.model_fields)}); text goes after --source and --target, or --pairs"
    )
    settings = read_yaml(path, "recipe", advice) if path is not None else {}
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
