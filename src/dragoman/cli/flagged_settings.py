"""The flags of `train` that choose several settings at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError


def flagged_settings(
    settings: dict[str, Any], recipe: Path | None, init_from: str | None, *, portable: bool, augment: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of `--portable` and `--augment`, and lines about what these chose.

    Raises:
        ConfigError: the settings contradict them, or the model of `--init-from` does.
    """
    choices: list[str] = []
    if portable:
        settings, choices = portable_settings(settings, recipe, init_from)
    if augment:
        settings, changes = _augmented_settings(settings, recipe, init_from)
        choices += changes
    return settings, choices


def portable_settings(
    settings: dict[str, Any], recipe: Path | None = None, init_from: str | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of `--portable`, and a line about what it chose, if anything.

    Raises:
        ConfigError: the settings contradict it, or the shape is that of another model.
    """
    from dragoman.settings.portable import make_portable

    if init_from is not None:
        problem = "--portable chooses the shape of a model, and --init-from keeps the one that its model has"
        raise ConfigError(problem, advice="dragoman distill --portable trains another from that model")
    reason = "CTranslate2, Argos Translate, ONNX and transformers can hold such a model (--portable)"
    return _told(make_portable(settings, recipe), reason)


def _augmented_settings(
    settings: dict[str, Any], recipe: Path | None, init_from: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of `--augment`, and a line about what it chose, if anything.

    Raises:
        ConfigError: the vocabulary is one of words or characters, or that of another model.
    """
    from dragoman.settings.augmenting import augment

    if init_from is not None:
        problem = "--augment chooses a vocabulary, and --init-from keeps the one that its model has"
        raise ConfigError(problem, advice="set the changes one by one, as --set augmentation.typos=0.1")
    reason = "the training text is changed, so that the model reads what people type (--augment)"
    return _told(augment(settings, recipe), reason)


def _told(filled: tuple[dict[str, Any], list[str]], reason: str) -> tuple[dict[str, Any], list[str]]:
    """Return filled settings, and a line about the chosen ones, if there are any."""
    settings, chosen = filled
    return settings, [f"chose {', '.join(chosen)}: {reason}"] if chosen else []
