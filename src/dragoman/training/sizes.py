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
#: The most passes over a corpus.
MOST_PASSES = 60


@dataclass(frozen=True)
class Size:
    """A row of the table: the model of a corpus, and its training.

    Args:
        below: the row is for corpora of fewer pairs, and for those that the row above is not for.
        preset: the model's shape.
        reason: why; a line for people. `{n_pairs}` becomes the size of the corpus.
        pairs_seen: about how many pairs a training sees in all its passes.
        fewest_passes: passes over the corpus, at least.
        presets_by_time: shapes to choose from where a person says how long to train, from small to large.
        dropout: None is the default.
        vocab_size: None is the default.
        training: settings of the section `training`.
        search: settings of the section `search`.
        variants: other settings of the model by full names, for which `model.preset` says nothing.
        optimizer: "muon", or None for the default.
    """

    below: float
    preset: str
    reason: str
    pairs_seen: int
    fewest_passes: int
    presets_by_time: tuple[str, ...]
    training: Mapping[str, Any]
    dropout: float | None = None
    vocab_size: int | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str | None = None

    def choices(self) -> dict[str, Any]:
        """Return the settings of model, tokenizer, search and training by their full names."""
        open_ones = {"model.dropout": self.dropout, "tokenizer.vocab_size": self.vocab_size}
        chosen = {"model.preset": self.preset, **{key: value for key, value in open_ones.items() if value is not None}}
        chosen |= {f"search.{key}": value for key, value in self.search.items()}
        return chosen | {f"training.{key}": value for key, value in self.training.items()}

    def passes(self, n_pairs: int, *, fine_tuning: bool = False) -> int:
        """Return how often a training goes over a corpus of so many pairs."""
        passes = min(MOST_PASSES, max(self.fewest_passes, self.pairs_seen // max(1, n_pairs)))
        return max(1, passes // 4) if fine_tuning else passes


SIZES: tuple[Size, ...] = (
    Size(
        below=200_000,
        preset="tiny",
        reason="a shape known to work for small corpora such as {n_pairs} pairs (docs/quality.md), with quick steps; "
        "small batches make more steps of each pass",
        pairs_seen=1_000_000,
        fewest_passes=5,
        presets_by_time=("tiny",),
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
        pairs_seen=1_000_000,
        fewest_passes=5,
        presets_by_time=("tiny", "small"),
        training={"batch_tokens": 8192, "lr": 0.002, "warmup_steps": 2000, "ema": 0.999},
        variants=QUICK_LEARNING,
    ),
    Size(
        below=math.inf,
        preset="base",
        reason="not measured by us; the paper's base model, made for millions of pairs, and {n_pairs} are that many",
        pairs_seen=1_000_000,
        fewest_passes=5,
        presets_by_time=("small", "base"),
        training={"batch_tokens": 25_000, "micro_batch_tokens": 4096, "warmup_steps": 4000, "ema": 0.999},
    ),
)


def size_for(n_pairs: int) -> Size:
    """Return the row for a corpus of so many pairs."""
    return next(size for size in SIZES if n_pairs < size.below)
