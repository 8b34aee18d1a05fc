"""Evaluation through a Translator: what is scored is what users get."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from rich.table import Column, Table

from dragoman.data.named import multi30k_tokenised
from dragoman.evaluation.metrics import (
    Comparison,
    Metric,
    corpus_bleu,
    corpus_chrf,
    exact_match,
    m30k_bleu,
    moses_lines,
)
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import SearchOptions, Translator
from dragoman.translator.checking import string_list


@dataclass(frozen=True)
class Evaluation:
    """What a translator reached on a test set."""

    n_sentences: int
    #: How it searched.
    search: SearchConfig
    metrics: tuple[Metric, ...]
    #: Share of sentences translated exactly as the reference, 0 to 1.
    exact_match: float
    #: exp of minus the mean log-probability of the references' tokens, the ends of sentences included. It depends on
    #: the tokenizer; None when every pair is longer than the model reads.
    perplexity: float | None
    #: Pairs longer than the model reads: translated in parts, but without a share in the perplexity.
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
    sentences: bool | None = None,
    batch_size: int | None = None,
    **options: Unpack[SearchOptions],
) -> Evaluation:
    """Translate the sources and compare with the references.

    Args:
        language: of the references, whose words BLEU counts; by default what the translator writes.
        m30k_references: tokenised references (see `m30k_bleu`), which add M30k-BLEU to the metrics.
        sentences, batch_size, options: as for `Translator.translate`.

    Raises:
        DataError: there are no sentences, or not as many references as sources.
        ConfigError: a search option is out of range.
    """
    sources, references = string_list(sources, "source"), string_list(references, "reference")
    start = time.monotonic()
    found = translator.translate(sources, sentences=sentences, batch_size=batch_size, **options)
    seconds = time.monotonic() - start
    translations = tuple(translation.text for translation in found)
    language = language or translator.tokenizers.target_lang
    metrics = score_all(translations, references, m30k_references, language)
    perplexity, n_too_long = _perplexity(translator, sources, references, batch_size)
    return Evaluation(
        n_sentences=len(references),
        search=translator.search_with(**options),
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
    settings: Sequence[Mapping[str, Any]],
    *,
    language: str | None = None,
    m30k_references: Sequence[str] | None = None,
    sentences: bool | None = None,
    batch_size: int | None = None,
) -> list[tuple[Metric, ...]]:
    """The metrics of each of several settings of the search, as `evaluate` has them: for choosing, on validation text.

    Args:
        settings: fields of `SearchConfig` with their values; the others are the translator's.
        language: as for `evaluate`.

    Raises:
        DataError, ConfigError: as `evaluate`; ConfigError before anything is translated.
    """
    sources = string_list(sources, "source")
    for each in settings:
        translator.search_with(**each)
    language = language or translator.tokenizers.target_lang
    outputs = (translator.translate(sources, sentences=sentences, batch_size=batch_size, **each) for each in settings)
    return [score_all([each.text for each in found], references, m30k_references, language) for found in outputs]


def score_all(
    translations: Sequence[str], references: Sequence[str], m30k_references: Sequence[str] | None, language: str
) -> tuple[Metric, ...]:
    """BLEU and chrF2; and first M30k-BLEU, where there are tokenised references for it.

    Raises:
        DataError: there are no sentences, or not as many references as translations.
    """
    metrics = [corpus_bleu(translations, references, language), corpus_chrf(translations, references)]
    if m30k_references is not None:
        metrics.insert(0, m30k_bleu(translations, m30k_references, language))
    return tuple(metrics)


def m30k_references(references: Sequence[str], language: str, split: str | None = None) -> Sequence[str]:
    """The tokenised references for M30k-BLEU.

    For a split of Multi30k they are the corpus's own where the folder DRAGOMAN_DATA has them; else they are made from
    the raw references, which gives the same but for at most one line (see `moses_lines`).
    """
    path = multi30k_tokenised(split, language) if split is not None else None
    if path is not None:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        if len(lines) == len(references):
            return lines
    return moses_lines(references, language)


def to_json(evaluation: Evaluation) -> str:
    """The results as one JSON object, without the translations."""
    results = {**asdict(evaluation), "search": evaluation.search.model_dump()}
    del results["translations"]
    return json.dumps(results, ensure_ascii=False)


def to_table(evaluation: Evaluation) -> Table:
    """The results for people."""
    table = metrics_table(evaluation.metrics)
    table.title = f"{evaluation.n_sentences:,} sentences, {evaluation.search.describe()}"
    table.add_row("exact match", f"{evaluation.exact_match:.4f}", "")
    perplexity = "-" if evaluation.perplexity is None else f"{evaluation.perplexity:.3f}"
    note = f"without {evaluation.n_too_long} pairs that are too long" if evaluation.n_too_long else ""
    table.add_row("perplexity", perplexity, note)
    table.add_row("sentences/s", f"{evaluation.sentences_per_second:.1f}", "")
    return table


def vary_table(setting: str, values: Sequence[Any], found: Sequence[Sequence[Metric]]) -> Table:
    """The metrics of each value for people."""
    table = Table(setting, *(Column(metric.name, justify="right") for metric in found[0]))
    for value, metrics in zip(values, found, strict=True):
        table.add_row(str(value), *(f"{metric.score:.2f}" for metric in metrics))
    return table


def metrics_table(metrics: Sequence[Metric]) -> Table:
    """Scores for people."""
    table = Table("metric", "value", Column("signature", overflow="fold"))
    for metric in metrics:
        table.add_row(metric.name, f"{metric.score:.2f}", metric.signature)
    return table


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """A paired test for people."""
    table = Table("metric", "baseline", "system", "p", Column("signature", overflow="fold"))
    for each in comparisons:
        table.add_row(each.name, f"{each.baseline:.2f}", f"{each.system:.2f}", f"{each.p_value:.4f}", each.signature)
    return table


def _perplexity(
    translator: Translator, sources: Sequence[str], references: Sequence[str], batch_size: int | None
) -> tuple[float | None, int]:
    """The perplexity of the references, and how many pairs had to be left out of it."""
    pairs = [pair for pair in zip(sources, references, strict=True) if translator.fits(*pair)]
    n_too_long = len(references) - len(pairs)
    if not pairs:
        return None, n_too_long
    scores = translator.score(*map(list, zip(*pairs, strict=True)), batch_size=batch_size)
    total = math.fsum(score.log_prob for score in scores)
    return math.exp(-total / sum(len(score.tokens) for score in scores)), n_too_long
