"""The results of variants, read from the logs of their runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.experiments.variants import Variant
from dragoman.inspection.curves import read_metrics
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import read_recipe
from dragoman.training.validation import Validation


@dataclass(frozen=True)
class Outcome:
    """The results of one variant over all its seeds; each figure is a mean."""

    name: str
    n_seeds: int
    n_parameters: int
    bleu: float  # greedy, of the best validation, as the training chose it
    bleu_spread: float | None  # standard deviation over seeds
    loss: float  # of the best validation, nats a token
    target_tokens: int
    tokens_per_second: float
    seconds: float
    peak_memory: float | None  # MiB


def gather_outcomes(variants: Sequence[Variant]) -> list[Outcome]:
    """Return one outcome for each name, best BLEU first."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for variant in variants:
        by_name.setdefault(variant.name, []).append(_figures(variant.folder))
    outcomes = [_outcome(name, runs) for name, runs in by_name.items()]
    return sorted(outcomes, key=lambda outcome: -outcome.bleu)


def _outcome(name: str, runs: Sequence[Mapping[str, Any]]) -> Outcome:
    def mean(key: str) -> float:
        return statistics.fmean(run[key] for run in runs)

    memory = [run["peak_memory"] for run in runs]
    return Outcome(
        name=name,
        n_seeds=len(runs),
        n_parameters=runs[0]["n_parameters"],
        bleu=mean("bleu"),
        bleu_spread=statistics.stdev(run["bleu"] for run in runs) if len(runs) > 1 else None,
        loss=mean("loss"),
        target_tokens=round(mean("target_tokens")),
        tokens_per_second=mean("tokens_per_second"),
        seconds=mean("seconds"),
        peak_memory=None if None in memory else statistics.fmean(memory),
    )


def _figures(run: Path) -> dict[str, Any]:
    """Return the figures in the log of one run."""
    records = read_metrics(run)
    steps = [record for record in records if "target_tokens" in record]
    validations = [record for record in records if "validation_bleu" in record]
    best_by = parse_config(read_recipe(run / "config.yaml")).training.best_by
    best = max(validations, key=lambda record: _validation(record).score(best_by))
    return {
        "n_parameters": validations[-1]["n_parameters"],
        "bleu": best["validation_bleu"],
        "loss": best["validation_loss"],
        "target_tokens": steps[-1]["target_tokens"],
        "tokens_per_second": statistics.median(record["target_tokens_per_second"] for record in steps),
        "seconds": steps[-1]["seconds"],
        "peak_memory": validations[-1].get("peak_memory_mib"),
    }


def _validation(record: Mapping[str, Any]) -> Validation:
    return Validation(float(record["validation_loss"]), float(record["validation_bleu"]))
