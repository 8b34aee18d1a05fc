"""Settings and tokenizers that a fine-tuning inherits from its starting model."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.data.corpus import languages, languages_differ
from dragoman.data.mixture import directions
from dragoman.errors import ConfigError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.settings.presets import PRESETS
from dragoman.settings.search_config import SearchConfig
from dragoman.text.tags import Direction
from dragoman.text.tokenizer import Tokenizers

_log = logging.getLogger(__name__)


def load_starting_model(name: str | Path) -> Bundle:
    """Load a bundle to start from.

    Raises:
        BundleError: it cannot be loaded, or names heads to align words with that it lacks.
    """
    start = load_bundle(name)
    AlignmentHeads.of_bundle(start.facts, start.config, name)  # told before hours of training
    return start


def fingerprint(start: Bundle) -> str:
    """Return the SHA-256 of a bundle's weights."""
    digest = hashlib.sha256()
    for name, weight in sorted(start.weights.items()):
        digest.update(name.encode() + weight.tobytes())
    return digest.hexdigest()


def inherit_settings(start: Bundle, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections `model` and `tokenizer` as the starting bundle has them, with the settings that may be new.

    Those are rates of dropout, the size of a vocabulary, and `lowercase_source`.

    Raises:
        ConfigError: the settings ask for something else.
    """
    inherited = {
        "model": start.config.model_dump(exclude={"source_vocab_size", "target_vocab_size"}),
        "tokenizer": start.tokenizers.config.model_dump(),
    }
    asked = {
        section: {key: value for key, value in (settings.get(section) or {}).items() if value is not None}
        for section in inherited
    }
    asked["model"] = {**PRESETS.get(asked["model"].pop("preset", ""), {}), **asked["model"]}
    may_differ = {"vocab_size"} if start.tokenizers.config.has_pieces else set()
    for section, values in inherited.items():
        for key, value in asked[section].items():
            is_free = key.endswith("dropout") or key in may_differ or (key == "lowercase_source" and value)
            if key in values and values[key] != value and not is_free:
                raise ConfigError(
                    f"{section}.{key} is {values[key]} in the model of --init-from, not {value}",
                    advice="leave it out; dropout, the size of a subword vocabulary, lowercase_source=true may be new",
                )
    filled = {section: {**inherited[section], **asked[section]} for section in inherited}
    parse_config({**settings, **filled})
    return filled


def inherit_search(start: Bundle, filled: dict[str, Any]) -> list[str]:
    """Fill open settings of the search with the starting bundle's; return lines for the log."""
    usual, asked = SearchConfig().model_dump(), filled.get("search") or {}
    kept = {key: value for key, value in start.search.model_dump().items() if asked.get(key) is None}
    filled["search"] = {**asked, **kept}
    told = ", ".join(f"search.{key}={value}" for key, value in kept.items() if value != usual[key])
    return [f"chose {told}: as the model of --init-from has it"] if told else []


def inherit_tokenizers(start: Bundle, config: Config) -> Tokenizers | None:
    """Return the starting bundle's tokenizers for this training; None if it wants a vocabulary of another size."""
    tokenizers = start.tokenizers
    is_new = config.tokenizer.vocab_size not in (tokenizers.config.vocab_size, tokenizers.source.vocab_size)
    if not is_new or not config.data.corpora:
        tokenizers = _for_languages(tokenizers, config.data)
    if is_new:
        _log.info("a new vocabulary; what the model of --init-from has no token for begins as the mean of its parts")
        return None
    is_as_before = config.tokenizer.lowercases_source == tokenizers.config.lowercases_source
    return tokenizers if is_as_before else tokenizers.lowercasing_source()


def _for_languages(tokenizers: Tokenizers, data: DataConfig) -> Tokenizers:
    """Return the tokenizers for the languages of the text; rules for words stay those of the old languages.

    Raises:
        ConfigError: they cannot ask for a target language of the text.
    """
    if data.corpora or len(tokenizers.directions) > 1:
        return _for_directions(tokenizers, directions(data))
    before, now = tokenizers.languages, languages(data)
    if not languages_differ(now, before):
        return tokenizers
    _log.warning(f"the model of --init-from translates {'-'.join(before)}, and this text is {'-'.join(now)}")
    if tokenizers.config.kind == "words":
        return tokenizers
    return replace(tokenizers, directions=(now,))


def _for_directions(tokenizers: Tokenizers, now: Sequence[Direction]) -> Tokenizers:
    """Return the tokenizers of a model, with those directions of the text that are new.

    Raises:
        ConfigError: they have no tag for a target language of the text.
    """
    if missing := [target for _, target in now if target not in tokenizers.targets]:
        problem = f"the model of --init-from translates into {', '.join(tokenizers.targets)}, not into {missing[0]}"
        raise ConfigError(problem, advice="name the languages of the text, or train a model of its own for it")
    if new := [direction for direction in now if direction not in tokenizers.directions]:
        _log.warning(f"the model of --init-from has not learned {', '.join(map('-'.join, new))} yet")
    return replace(tokenizers, directions=(*tokenizers.directions, *new))
