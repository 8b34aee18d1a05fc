"""Checks of the model and of the texts of an inspection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.errors import ConfigError, DataError
from dragoman.text.cleaning import sanitize
from dragoman.translator import Request, Translator
from dragoman.translator.cutting import encode_if_short
from dragoman.translator.options import LanguageOptions
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


class SourceText(NamedTuple):
    """A text as a model reads it."""

    #: With its tags.
    text: str
    #: Without special ones.
    ids: list[int]
    #: The ids that each translation begins with: the tag of its language, or none.
    start_ids: tuple[int, ...]


def read_source(translator: Translator, text: str, languages: LanguageOptions) -> SourceText:
    """Return a source text as a model reads it.

    Raises:
        DataError: the text is empty, or longer than the model reads.
        ConfigError: the model has several languages, and the text begins with the tag of none, or one is not named.
    """
    if not text.strip():
        _readable([], "source", translator)
    tagged = translator.pipeline.planner.tagged(Request(sanitize(text), **languages))
    ids = encode_if_short(tagged.source, translator.tokenizers.source.encode, translator.max_length)
    start_ids = translator.tokenizers.start_ids(tagged.target_lang)
    return SourceText(tagged.source, _readable(ids, "source", translator), start_ids)


def target_ids(translator: Translator, text: str, source: SourceText) -> list[int]:
    """Return the ids of a target text; see `read_source`."""
    most = translator.max_length - len(source.start_ids)
    ids = encode_if_short(sanitize(text), translator.tokenizers.target.encode, most)
    return [*source.start_ids, *_readable(ids, "target", translator)]


def _readable(ids: list[int] | None, side: str, translator: Translator) -> list[int]:
    if ids is None:
        problem = f"the {side} text is longer than the {translator.max_length} tokens that the model reads"
        raise DataError(problem, advice="give one sentence of it")
    if not ids:
        raise DataError(f"the {side} text is empty", advice="give a sentence")
    return ids


def best_translation(translator: Translator, source: SourceText) -> Hypothesis:
    """Return the best translation that the translator's search finds."""
    sources = pad_sources([source.ids], translator.scorer.special_ids.source)
    return search(translator.scorer, sources, translator.search, prefixes=[source.start_ids])[0][0]
