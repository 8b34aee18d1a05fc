"""Turn the settings of a recipe into a `Config`: fill in the preset, and report every mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.presets import PRESETS, has_sizes
from dragoman.settings.sections import parse_section, problems_of
from dragoman.settings.tokenizer_config import TokenizerConfig


def parse_config(settings: Mapping[str, Any], location: str | Path | None = None) -> Config:
    """Check settings, as read by `read_recipe`, and return them typed.

    `model.preset` is filled in first. `data.max_length` is lowered if the model reads less than its default. A preset
    ties all embeddings, or only those of the decoder if each side has a vocabulary of its own.

    Raises:
        ConfigError: lists every unknown key, wrong type, value out of range and contradiction.
    """
    settings = dict(settings)
    model = settings.get("model")
    if isinstance(model, dict) and "preset" in model:
        settings["model"] = model = _fill_preset(settings, location)
    longest = model.get("max_length") if isinstance(model, dict) else None
    data = settings.get("data", {})
    if isinstance(longest, int) and longest <= DataConfig().max_length and isinstance(data, dict):
        settings["data"] = {"max_length": longest - 1, **data}
    return parse_section(Config, settings, location)


def check_settings(settings: Mapping[str, Any], location: str | Path | None = None) -> Config:
    """Check the settings of a run before `train` chooses the open ones.

    If only some sizes of the model are set, the others are those of the smallest preset, which divide the larger ones.

    Raises:
        ConfigError: as `parse_config`.
    """
    model = settings.get("model", {})
    if isinstance(model, dict) and not has_sizes(model):
        settings = {**settings, "model": {"preset": "tiny", **model}}
    return parse_config(settings, location)


def check_request(
    settings: Mapping[str, Any], location: str | Path | None = None, *, inherited: Mapping[str, Any] | None = None
) -> Config:
    """Check the settings of a new run as `check_settings` does, and refuse useless and harmful ones.

    Args:
        inherited: whole sections that come from the starting model of a fine-tuning. A useless setting in them is no
            error unless `settings` has it too.

    Raises:
        ConfigError: as `parse_config`, and for a useless or harmful setting.
    """
    config = parse_config({**settings, **inherited}, location) if inherited else check_settings(settings, location)
    if problems := [problem for name, problem in _useless_settings(config) if _is_set(settings, name)]:
        raise ConfigError(problems[0], location, details=problems[1:])
    return config


def _fill_preset(settings: Mapping[str, Any], location: str | Path | None) -> dict[str, Any]:
    """Return the section `model` with the sizes of its preset, which its other settings adjust."""
    model = dict(settings["model"])
    preset = model.pop("preset")
    if not isinstance(preset, str) or preset not in PRESETS:
        other_problems = problems_of(Config, {**settings, "model": model})
        advice = f"choose one of {', '.join(PRESETS)}"
        raise ConfigError(f"unknown preset {preset!r}", location, advice=advice, details=other_problems)
    tie = {} if _is_joint(settings.get("tokenizer")) else {"tie": "decoder"}
    return {**PRESETS[preset], **tie, **model}


def _is_joint(tokenizer: Any) -> bool:
    """Return True if a section `tokenizer`, not yet checked, asks for one vocabulary."""
    section = tokenizer if isinstance(tokenizer, dict) else {}
    return TokenizerConfig.model_construct(kind=section.get("kind", "bpe"), joint=section.get("joint")).is_joint


def _is_set(settings: Mapping[str, Any], name: str) -> bool:
    section, _, key = name.partition(".")
    return (settings.get(section) or {}).get(key) is not None


def _useless_settings(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the name of each setting that has no effect or does harm, with a message about it."""
    tokenizer, kind = config.tokenizer, config.tokenizer.kind
    if tokenizer.has_pieces:
        if tokenizer.min_count > 1:
            name = "tokenizer.min_count"
            yield name, f"{name} is for words and characters; with {kind}, vocab_size limits the size"
    else:
        if tokenizer.vocab_size is not None:
            name = "tokenizer.vocab_size"
            yield name, f"{name} is for bpe and unigram; with {kind}, min_count limits the size"
        if tokenizer.sampling:
            name = "tokenizer.sampling"
            yield name, f"{name} is for bpe and unigram; {kind} have only one way to be cut"
        if not tokenizer.byte_fallback:
            name = "tokenizer.byte_fallback"
            yield name, f"{name} is for bpe and unigram; {kind} never become bytes; leave it out"
        if tokenizer.split_digits or tokenizer.reserved:
            name = "tokenizer.split_digits" if tokenizer.split_digits else "tokenizer.reserved"
            yield name, f"{name} is for bpe and unigram, not for {kind}; leave it out"
    if config.model.tie == "all" and not tokenizer.is_joint:
        name = "model.tie"
        yield name, f"{name} 'all' needs one joint vocabulary; use tokenizer.joint=true or model.tie=decoder"
    if config.training.r_drop and not any(rate for name, rate in config.model if name.endswith("dropout")):
        name = "training.r_drop"
        yield name, f"{name} compares two passes with different dropout, and there is none; set model.dropout"
