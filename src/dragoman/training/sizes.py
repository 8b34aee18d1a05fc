"""The table of models and trainings that fit corpora of a size, each row with its reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Choices that learn clearly more than the paper's in few steps, or as much with fewer parameters.
QUICK_LEARNING: Mapping[str, Any] = {
    "model.norm": "pre",
    "model.positions": "rotary",
    "model.memory": "layerwise",
    "model.bias": False,
}
#: About how many pairs a training sees in all its passes, and the bounds of these.
PAIRS_SEEN, FEWEST_PASSES, MOST_PASSES = 1_000_000, 5, 60


@dataclass(frozen=True)
class Size:
    """A row of the table: the model of a corpus, and its training.

    Args:
        below: the row is for corpora of fewer pairs, and for those that the row above is not for.
        preset: the model's shape; None is that of the model to start from.
        reason: why; a line for people. `{n_pairs}` becomes the size of the corpus.
        training: settings of the section `training`.
        dropout: None is the default.
        search: settings of the section `search`.
        variants: other settings of the model by full names, for which `model.preset` says nothing.
        optimizer: "muon", or None for the default.
    """

    below: float
    preset: str | None
    reason: str
    training: Mapping[str, Any]
    dropout: float | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str | None = None

    def choices(self) -> dict[str, Any]:
        """Return the settings of model, search and training by their full names."""
        open_ones = {"model.preset": self.preset, "model.dropout": self.dropout}
        chosen = {key: value for key, value in open_ones.items() if value is not None}
        chosen |= {f"search.{key}": value for key, value in self.search.items()}
        return chosen | {f"training.{key}": value for key, value in self.training.items()}

    def passes(self, n_pairs: int) -> int:
        """Return how often a training goes over a corpus of so many pairs."""
        passes = min(MOST_PASSES, max(FEWEST_PASSES, PAIRS_SEEN // max(1, n_pairs)))
        return passes if self.preset is not None else max(1, passes // 4)


SIZES: tuple[Size, ...] = (
    Size(
        below=200_000,
        preset="tiny",
        reason="a shape known to work for small corpora such as {n_pairs} pairs (docs/quality.md), with quick steps; "
        "small batches make more steps of each pass",
        dropout=0.2,
        search={"length_penalty": 1.0},
        training={"batch_tokens": 1024, "lr": 0.002, "warmup_steps": 500, "schedule": "cosine", "ema": 0.999},
        variants=QUICK_LEARNING,
        optimizer="muon",
    ),
    Size(
        below=2_000_000,
        preset="small",
        reason="not measured by us; the shape lies between those for fewer and for more than {n_pairs} pairs",
        training={"batch_tokens": 8192, "lr": 0.002, "warmup_steps": 2000, "ema": 0.999},
        variants=QUICK_LEARNING,
    ),
    Size(
        below=math.inf,
        preset="base",
        reason="not measured by us; the paper's base model, made for millions of pairs, and {n_pairs} are that many",
        training={"batch_tokens": 25_000, "micro_batch_tokens": 4096, "warmup_steps": 4000, "ema": 0.999},
    ),
)
#: A training that starts from a trained model, which has a shape; the first row is for little time.
FINE_TUNINGS: tuple[Size, ...] = tuple(
    Size(
        below=math.inf,
        preset=None,
        reason="gentle, since the model is trained already",
        training={"batch_tokens": batch_tokens, "lr": 5e-4, "warmup_steps": 100},
    )
    for batch_tokens in (1024, 4096)
)


def sizes_for(n_pairs: int, *, fine_tuning: bool = False) -> tuple[Size, ...]:
    """Return the rows for a corpus of so many pairs: the usual one last, before it those that take less time."""
    if fine_tuning:
        return FINE_TUNINGS
    usual = next(index for index, size in enumerate(SIZES) if n_pairs < size.below)
    return SIZES[: usual + 1]
