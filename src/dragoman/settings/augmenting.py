"""The changes of the training text by which a model learns to read what people type."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.settings.open_settings import fill_open

#: The share of the pairs that each change is made to. docs/results.md has what all do together.
DOSES: Mapping[str, float] = {
    "spans": 0.2,
    "reserved": 0.1,
    "case": 0.1,
    "punctuation": 0.1,
    "typos": 0.1,
}
#: What a vocabulary needs for them.
VOCABULARY: Mapping[str, Any] = {"tokenizer.reserved": 64, "tokenizer.split_digits": True}


def augment(settings: Mapping[str, Any], location: str | Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return settings (a recipe, not yet checked) with all changes of the training text, and those that were chosen.

    Raises:
        ConfigError: the vocabulary is one of words or characters.
    """
    tokenizer = settings.get("tokenizer")
    kind = tokenizer.get("kind") if isinstance(tokenizer, Mapping) else None
    if kind in ("words", "characters"):
        problem = f"--augment needs a vocabulary of pieces, and tokenizer.kind is {kind}"
        raise ConfigError(problem, location, advice="leave one of them out")
    return fill_open(settings, {**{f"augmentation.{name}": dose for name, dose in DOSES.items()}, **VOCABULARY})
