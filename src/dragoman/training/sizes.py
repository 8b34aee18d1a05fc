"""The table of models and trainings that fit corpora of a size, each row with its reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
#: With a batch of other size than its row's, the learning rate changes by the root of the ratio (Malladi et al. 2022),
#: by this factor at most.
MOST_RATE_CHANGE = 2.0


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
        pairs_seen: about how many pairs all passes show.
        critical_tokens: target of `best_batch_tokens`, for a GPU; 0 is a batch that stays as it is.
    """

    below: float
    preset: str | None
    reason: str
    training: Mapping[str, Any]
    dropout: float | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str | None = None
    pairs_seen: int = PAIRS_SEEN
    critical_tokens: int = 0

    def choices(self) -> dict[str, Any]:
        """Return the settings of model, search and training by their full names."""
        open_ones = {"model.preset": self.preset, "model.dropout": self.dropout}
        chosen = {key: value for key, value in open_ones.items() if value is not None}
        chosen |= {f"search.{key}": value for key, value in self.search.items()}
        return chosen | {f"training.{key}": value for key, value in self.training.items()}

    def passes(self, n_pairs: int) -> int:
        """Return how often a training goes over a corpus of so many pairs."""
        passes = min(MOST_PASSES, max(FEWEST_PASSES, self.pairs_seen // max(1, n_pairs)))
        return passes if self.preset is not None else max(1, passes // 4)

    def with_batch(self, n_tokens: int) -> Size:
        """Return the row with batches of so many tokens, and the learning rate that fits them."""
        factor = math.sqrt(n_tokens / self.training["batch_tokens"])
        rate = self.training["lr"] * min(MOST_RATE_CHANGE, max(1 / MOST_RATE_CHANGE, factor))
        return replace(self, training={**self.training, "batch_tokens": n_tokens, "lr": float(f"{rate:.2g}")})


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
#: The same for a GPU, which makes steps of larger batches in the same time. None of it was measured by us on a GPU.
GPU_SIZES: tuple[Size, ...] = tuple(
    Size(
        below=below,
        preset=preset,
        reason=f"on a GPU, the model of {{n_pairs}} pairs is {preset} (not measured by us)",
        training={"batch_tokens": n_tokens, "lr": rate, "warmup_steps": n_warmup, "schedule": "cosine", "ema": 0.999},
        dropout=dropout,
        search={"length_penalty": 1.0} if preset == "tiny" else {},
        variants=QUICK_LEARNING,
        optimizer="muon",
        pairs_seen=pairs_seen,
        critical_tokens=critical_tokens,
    )
    for below, preset, n_tokens, rate, n_warmup, dropout, pairs_seen, critical_tokens in (
        (200_000, "tiny", 4096, 0.003, 500, 0.2, 1_000_000, 8192),
        (2_000_000, "small", 8192, 0.002, 1000, None, 3_000_000, 16_384),
        (10_000_000, "base", 16_384, 0.001, 2000, None, 6_000_000, 32_768),
        (math.inf, "big", 32_768, 0.0007, 4000, None, 20_000_000, 65_536),
    )
)
#: A model that is larger than the usual one of a corpus has this dropout. Some are never tried for small corpora.
DROPOUT_OF_LARGER, FEWEST_PAIRS_OF_LARGER = 0.3, {"big": 1_000_000}
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


def sizes_for(n_pairs: int, *, fine_tuning: bool = False, on_gpu: bool = False) -> tuple[Size, ...]:
    """Return the rows for a corpus of so many pairs: the usual one last, before it those that take less time."""
    if fine_tuning:
        return FINE_TUNINGS
    sizes = GPU_SIZES if on_gpu else SIZES
    usual = next(index for index, size in enumerate(sizes) if n_pairs < size.below)
    return sizes[: usual + 1]


def gpu_sizes_for_time(n_pairs: int) -> tuple[Size, ...]:
    """Return the rows from which a GPU chooses by its speed: after the usual ones, larger models with more dropout."""
    usual = sizes_for(n_pairs, on_gpu=True)
    larger = (
        replace(size, dropout=DROPOUT_OF_LARGER)
        for size in GPU_SIZES[len(usual) :]
        if n_pairs >= FEWEST_PAIRS_OF_LARGER.get(size.preset or "", 0)
    )
    return (*usual, *larger)


def best_batch_tokens(seconds: Mapping[int, float], critical_tokens: int) -> int:
    """Return the tokens of a batch with which a device learns most in a given time, a power of two.

    A step of B tokens teaches in proportion to 1 / (1 + C / B), where C is the critical size (McCandlish et al. 2018,
    equation 2.7), and takes a + b B seconds. What it teaches a second is highest at B = sqrt(C a / b): on a CPU, whose
    time is all products, small batches are best, and larger ones on a device that waits for its steps to be launched.

    Args:
        seconds: of a step, by the tokens of its batch: the smallest and the largest that may be chosen.
        critical_tokens: C.
    """
    (small, quick), (large, slow) = sorted(seconds.items())
    each = max(slow - quick, 1e-9) / (large - small)
    start = max(0.0, quick - each * small)
    best = min(large, max(small, math.sqrt(critical_tokens * start / each)))
    return int(2 ** round(math.log2(best)))
