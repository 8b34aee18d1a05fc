"""Evaluation of a Translator on a test set, with the same calls that users make."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from dragoman.errors import ConfigError, DataError, counted
from dragoman.evaluation.metrics import Metric, corpus_bleu, corpus_chrf, exact_match, m30k_bleu, moses_lines
from dragoman.settings.search_config import SearchConfig
from dragoman.text.tags import SEVERAL
from dragoman.translator import SearchOptions, TranslateOptions, Translator
from dragoman.translator.checking import string_list
from dragoman.translator.options import LanguageOptions


@dataclass(frozen=True)
class Evaluation:
    """The scores of a translator on a test set."""

    n_sentences: int
    #: Settings of the search.
    search: SearchConfig
    metrics: tuple[Metric, ...]
    #: Share of sentences translated exactly as the reference, 0 to 1.
    exact_match: float
    #: exp of minus the mean log-probability of the references' tokens, the ends of sentences included. It depends on
    #: the tokenizer; None when every pair is longer than the model reads.
    perplexity: float | None
    #: Pairs longer than the model reads: translated in parts, and left out of the perplexity.
    n_too_long: int
    seconds: float
    sentences_per_second: float
    translations: tuple[str, ...]


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    *,
    language: str | None = None,
    m30k_references: Sequence[str] | None = None,
    **options: Unpack[TranslateOptions],
) -> Evaluation:
    """Translate the sources and compare with the references.

    Args:
        language: of the references, whose words BLEU counts; by default the target language of the options, or that of
            the translator.
        m30k_references: tokenised references (see `m30k_bleu`), which add M30k-BLEU to the metrics.
        options: as for `Translator.translate`.

    Raises:
        DataError: there are no sentences, or not as many references as sources.
        ConfigError: a search option is out of range.
    """
    sources, references = equal_lists(sources, references)
    language = _language(translator, sources, options, language)
    start = time.monotonic()
    translations = tuple(translation.text for translation in translator.translate(sources, **options))
    seconds = time.monotonic() - start
    metrics = score_all(translations, references, m30k_references, language)
    perplexity, n_too_long = _perplexity(translator, sources, references, options)
    return Evaluation(
        n_sentences=len(references),
        search=_search(translator, options),
        metrics=metrics,
        exact_match=exact_match(translations, references),
        perplexity=perplexity,
        n_too_long=n_too_long,
        seconds=seconds,
        sentences_per_second=len(references) / max(seconds, 1e-9),
        translations=translations,
    )


def vary_search(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    settings: Sequence[TranslateOptions],
    *,
    language: str | None = None,
    m30k_references: Sequence[str] | None = None,
) -> list[tuple[Metric, ...]]:
    """Return the metrics of several settings of the search, as `evaluate` computes them: to choose on validation text.

    Args:
        settings: options of `Translator.translate`; the others are the translator's.
        language, m30k_references: as for `evaluate`.

    Raises:
        DataError, ConfigError: as `evaluate`; ConfigError before anything is translated.
    """
    sources, references = equal_lists(sources, references)
    for options in settings:
        _search(translator, options)
    language = _language(translator, sources, settings[0] if settings else {}, language)
    scores = []
    for options in settings:
        texts = [translation.text for translation in translator.translate(sources, **options)]
        scores.append(score_all(texts, references, m30k_references, language))
    return scores


def equal_lists(sources: Sequence[str], references: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return both lists; refuse unequal ones before hours of translation."""
    sources, references = string_list(sources, "source"), string_list(references, "reference")
    if len(sources) != len(references):
        raise DataError(
            f"{counted(len(sources), 'source')} but {counted(len(references), 'reference')}", advice="give equal lists"
        )
    return sources, references


def _language(translator: Translator, sources: Sequence[str], options: TranslateOptions, language: str | None) -> str:
    """Return the language of the references; refuse sources without a direction before hours of translation."""
    for source in sources:
        translator.tagged(source, source_lang=options.get("source_lang"), target_lang=options.get("target_lang"))
    language = language or options.get("target_lang") or translator.tokenizers.target_lang
    if language == SEVERAL:
        raise ConfigError("the references are in no language that is named", advice="give target_lang, or language")
    return language


def _search(translator: Translator, options: TranslateOptions) -> SearchConfig:
    """Return the search that `translate` makes with these options."""
    search: Any = {name: value for name, value in options.items() if name in SearchOptions.__annotations__}
    return translator.search_config(**search)


def score_all(
    translations: Sequence[str], references: Sequence[str], m30k_references: Sequence[str] | None, language: str
) -> tuple[Metric, ...]:
    """Return BLEU, chrF2 and chrF++, with M30k-BLEU before them where there are tokenised references for it.

    Raises:
        DataError: there are no sentences, or not as many references as translations.
    """
    metrics = [
        corpus_bleu(translations, references, language),
        corpus_chrf(translations, references),
        corpus_chrf(translations, references, word_order=2),
    ]
    if m30k_references is not None:
        metrics.insert(0, m30k_bleu(translations, m30k_references, language))
    return tuple(metrics)


def m30k_references(references: Sequence[str], language: str, own: Sequence[str] | None = None) -> Sequence[str]:
    """Return the tokenised references for M30k-BLEU.

    Args:
        own: those of the corpus itself. Computed from the raw references, they differ in at most one line (see
            `moses_lines`).
    """
    return own if own is not None and len(own) == len(references) else moses_lines(references, language)


def _perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str], options: TranslateOptions
) -> tuple[float | None, int]:
    """Return the perplexity of the references, and the number of pairs that were left out of it."""
    languages = LanguageOptions(source_lang=options.get("source_lang"), target_lang=options.get("target_lang"))
    pairs = [pair for pair in zip(sources, references, strict=True) if translator.fits(*pair, **languages)]
    n_too_long = len(references) - len(pairs)
    if not pairs:
        return None, n_too_long
    read, wanted = map(list, zip(*pairs, strict=True))
    scores = translator.score(read, wanted, batch_size=options.get("batch_size"), **languages)
    total = math.fsum(score.log_prob for score in scores)
    return math.exp(-total / sum(len(score.tokens) for score in scores)), n_too_long
