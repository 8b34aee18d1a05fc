"""Checks of the model and of the texts of an inspection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.decoding.state import Scorer
from dragoman.errors import ConfigError, DataError
from dragoman.text.cleaning import sanitize
from dragoman.translator import Translator
from dragoman.translator.cutting import encode_if_short
from dragoman.translator.padding import pad_sources

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer


def require_single_model(translator: Translator) -> None:
    """Check that a translator has one model.

    Raises:
        ConfigError: it is an ensemble, whose models each attend in their own way.
    """
    n_models = len(translator.scorer.models)
    if n_models > 1:
        raise ConfigError(f"an ensemble of {n_models} models", advice="look into one of them at a time")


def single_model(translator: Translator) -> Transformer:
    """Return the only model of a translator, in PyTorch; see `require_single_model`."""
    require_single_model(translator)
    return translator.models[0]


def source_ids(translator: Translator, text: str) -> list[int]:
    """Return the ids of a source text, without special ones.

    Raises:
        DataError: the text is empty, or longer than the model reads.
        ConfigError: the model translates into several languages, and the text begins with the tag of none.
    """
    tagged = translator.tagged(text) if text.strip() else ""
    ids = encode_if_short(tagged, translator.tokenizers.source.encode, translator.max_length)
    return _readable(ids, "source", translator)


def target_ids(translator: Translator, text: str) -> list[int]:
    """Return the ids of a target text; see `source_ids`."""
    ids = encode_if_short(sanitize(text), translator.tokenizers.target.encode, translator.max_length)
    return _readable(ids, "target", translator)


def _readable(ids: list[int] | None, side: str, translator: Translator) -> list[int]:
    if ids is None:
        problem = f"the {side} text is longer than the {translator.max_length} tokens that the model reads"
        raise DataError(problem, advice="give one sentence of it")
    if not ids:
        raise DataError(f"the {side} text is empty", advice="give a sentence")
    return ids


def best_translation(translator: Translator, ids: list[int], scorer: Scorer | None = None) -> Hypothesis:
    """Return the best translation that the translator's search finds."""
    sources = pad_sources([ids], translator.scorer.special_ids.source)
    return search(scorer or translator.scorer, sources, translator.search)[0][0]
