"""Scores as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table

from dragoman.errors import counted

if TYPE_CHECKING:
    from dragoman.evaluation.evaluation import Evaluation
    from dragoman.evaluation.metrics import Comparison, Metric
    from dragoman.evaluation.perturbed import PerturbedScores

#: Columns of the narrowest terminal that is thought of.
_MAX_WIDTH = 80


def evaluation_table(evaluation: Evaluation) -> Table:
    """Return the scores of a model on a test set."""
    table = metrics_table(evaluation.metrics)
    table.title = title = f"{counted(evaluation.n_sentences, 'sentence')}, {evaluation.search.describe()}"
    table.min_width = min(_MAX_WIDTH, len(title) + 4)  # a title is wrapped at the width of its table
    table.add_row("exact match", f"{evaluation.exact_match:.4f}")
    perplexity = "-" if evaluation.perplexity is None else f"{evaluation.perplexity:.3f}"
    if evaluation.n_too_long:
        perplexity += f" (without {counted(evaluation.n_too_long, 'pair that is', 'pairs that are')} too long)"
    table.add_row("perplexity", perplexity)
    table.add_row("sentences/s", f"{evaluation.sentences_per_second:.1f}")
    return table


def metrics_table(metrics: Sequence[Metric]) -> Table:
    """Return scores, a row each."""
    table = Table("metric", "value")
    for metric in metrics:
        table.add_row(metric.name, f"{metric.score:.2f}")
    return table


def directions_table(evaluations: Mapping[str, Evaluation]) -> Table:
    """Return the scores of a model in each direction, a row each, and their means."""
    names = [metric.name for metric in next(iter(evaluations.values())).metrics]
    columns = ("sentences", *names, "exact match", "perplexity")
    table = Table("direction", *(Column(name, justify="right") for name in columns))
    rows = []
    for direction, results in evaluations.items():
        scores = [*(metric.score for metric in results.metrics), results.exact_match]
        rows.append(scores)
        perplexity = "-" if results.perplexity is None else f"{results.perplexity:.3f}"
        table.add_row(direction, f"{results.n_sentences:,}", *_scores(scores), perplexity)
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    table.add_section()
    table.add_row("mean", "", *_scores(means), "")
    return table


def _scores(scores: Sequence[float]) -> list[str]:
    """Return scores as text; the last is a share."""
    return [*(f"{score:.2f}" for score in scores[:-1]), f"{scores[-1]:.4f}"]


def perturbation_table(scores: Sequence[PerturbedScores], direction: str = "") -> Table:
    """Return the scores of a test set as it is and under each change, a row each."""
    table = Table("sources", Column("changed", justify="right"))
    table.title = f"{direction}{': ' if direction else ''}compared lower-cased and without final marks"
    for metric in scores[0].metrics:
        table.add_column(metric.name, justify="right")
        table.add_column("difference", justify="right")
    for row in scores:
        cells = [f"{metric.score:.2f} {diff:+.2f}" for metric, diff in zip(row.metrics, row.differences, strict=True)]
        table.add_row(row.name, f"{row.changed:.0%}", *(part for cell in cells for part in cell.split()))
    return table


def signature_lines(metrics: Sequence[Metric] | Sequence[Comparison]) -> str:
    """Return the signature of each metric on a line of its own, whole, so that it can be copied."""
    width = max(len(metric.name) for metric in metrics)
    lines = [f"{metric.name:<{width}}  {metric.signature}" for metric in metrics]
    if max(map(len, lines)) > _MAX_WIDTH:
        lines = [f"{metric.name}\n{metric.signature}" for metric in metrics]
    return "\n".join(lines)


def tuning_table(setting: str, values: Sequence[Any], scores: Sequence[Sequence[Metric]]) -> Table:
    """Return the scores of each value of a setting, a row each."""
    table = Table(setting, *(Column(metric.name, justify="right") for metric in scores[0]))
    for value, metrics in zip(values, scores, strict=True):
        table.add_row(str(value), *(f"{metric.score:.2f}" for metric in metrics))
    return table


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Return a paired test, a row for each metric."""
    table = Table("metric", "baseline", "system", "p")
    for comparison in comparisons:
        scores = f"{comparison.baseline:.2f}", f"{comparison.system:.2f}", f"{comparison.p_value:.4f}"
        table.add_row(comparison.name, *scores)
    return table
