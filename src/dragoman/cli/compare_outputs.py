"""`dragoman compare-outputs`: score translations that exist, and compare two systems by a paired test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.options import AsJson, TargetLang, option
from dragoman.cli.streams import input_lines, print_result
from dragoman.cli.test_set import M30k, warn_of_spaces
from dragoman.errors import DataError

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.evaluation.metrics import Comparison, Metric


def compare_outputs(
    hypotheses: Annotated[Path, option("Translations to score.", "--hypotheses", show_default=False)],
    target: Annotated[Path, option("Their references, line by line.", "--target", show_default=False)],
    baseline: Annotated[Path | None, option("Other translations to compare with.", "--baseline")] = None,
    target_lang: TargetLang = None,
    m30k: M30k = False,
    as_json: AsJson = False,
) -> None:
    """Score translations that exist, without a model.

    BLEU, chrF2 and chrF++. With a --baseline, p is the probability that chance gives such a difference (paired
    bootstrap resampling).

    \b
    dragoman compare-outputs --hypotheses new.de --target test.de
    dragoman compare-outputs --hypotheses new.de \\
        --baseline old.de --target test.de
    """
    if baseline is not None and m30k:
        raise typer.BadParameter("--m30k has no effect with --baseline; leave it out")
    from dragoman.cli.metric_tables import comparison_table, metrics_table
    from dragoman.data.formats.file_names import file_language
    from dragoman.evaluation.evaluation import m30k_references, score_all
    from dragoman.evaluation.metrics import paired_test

    language = target_lang or file_language(str(target))
    references = list(input_lines(target, "error"))
    outputs = _read_outputs(hypotheses, target, len(references))
    warn_of_spaces(language, references)
    if baseline is not None:
        comparisons = paired_test(_read_outputs(baseline, target, len(references)), outputs, references, language)
        _print(comparisons, comparison_table(comparisons), as_json=as_json)
        return
    tokenised = m30k_references(references, language) if m30k else None
    metrics = score_all(outputs, references, tokenised, language)
    _print(metrics, metrics_table(metrics), as_json=as_json)


def _read_outputs(path: Path, target: Path, n_references: int) -> list[str]:
    """Return the translations in a file, one for each reference."""
    outputs = list(input_lines(path, "error"))
    if len(outputs) != n_references:
        what = f"different numbers of lines, {len(outputs):,} and {n_references:,}"
        advice = "each line must belong to the same source as that line of the other file"
        raise DataError(what, f"{path} and {target}", advice=advice)
    return outputs


def _print(results: Sequence[Metric] | Sequence[Comparison], table: Table, *, as_json: bool) -> None:
    from dragoman.cli.metric_tables import signature_lines

    if as_json:
        print_result(json.dumps([asdict(result) for result in results], ensure_ascii=False))
    else:
        print_result(table)
        print_result(signature_lines(results))
