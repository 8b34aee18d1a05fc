"""The log-probabilities of the next tokens, on any device, and the highest of them.

R rows (hypotheses now open), V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dragoman.errors import DragomanError
from dragoman.machine.arrays import Floats, Ints

FORBIDDEN = np.float32(-np.inf)
#: Scores in a group, a power of two. A search for the highest scores first compares the highest of each group.
GROUP = 64
#: Rows whose scores stay in a processor's cache together.
ROWS_AT_ONCE = 64


class Scores(Protocol):
    """Natural-log probabilities (R, V) of each row's next token. They are valid until the next step, and the search
    may change them."""

    def at(self, rows: Ints, ids: Ints) -> Floats:
        """Return the scores (n,) of some rows (n,) and tokens (n,)."""

    def forbid_everywhere(self, ids: Sequence[int]) -> None:
        """Set the scores of these tokens to -inf in all rows."""

    def forbid(self, rows: Ints, ids: Ints) -> None:
        """Set the scores of some rows (n,) and tokens (n,) to -inf."""

    def multiply(self, rows: Ints, ids: Ints, factor: float) -> None:
        """Multiply the scores of some rows (n,) and tokens (n,), each once, however often it is named."""

    def force(self, rows: Ints, ids: Ints, values: Floats) -> None:
        """Set the scores of some rows (n,) to -inf, except those of their tokens (n,): these become values (n,)."""

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        """Return the k highest scores of each row, falling, and their tokens: (R, k).

        NaN is higher than any number. Beside a score of -inf there may be any token.
        """

    def array(self) -> Floats:
        """Return all scores, (R, V)."""


@dataclass(frozen=True)
class ArrayScores:
    """Scores in RAM."""

    log_probs: Floats  # (R, V)

    def at(self, rows: Ints, ids: Ints) -> Floats:
        return self.log_probs[rows, ids]

    def forbid_everywhere(self, ids: Sequence[int]) -> None:
        self.log_probs[:, ids] = FORBIDDEN

    def forbid(self, rows: Ints, ids: Ints) -> None:
        self.log_probs[rows, ids] = FORBIDDEN

    def multiply(self, rows: Ints, ids: Ints, factor: float) -> None:
        with np.errstate(over="ignore"):  # -inf forbids a token that was all but impossible
            self.log_probs[rows, ids] *= np.float32(factor)

    def force(self, rows: Ints, ids: Ints, values: Floats) -> None:
        self.log_probs[rows] = FORBIDDEN
        self.log_probs[rows, ids] = values

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        if k == 1:
            best = self.log_probs.argmax(axis=1)[:, None]
            return np.take_along_axis(self.log_probs, best, axis=1), best
        parts = [
            _top_k(self.log_probs[first : first + ROWS_AT_ONCE], k)
            for first in range(0, len(self.log_probs), ROWS_AT_ONCE)
        ]
        values, ids = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(ids)

    def array(self) -> Floats:
        return self.log_probs


def _top_k(scores: Floats, k: int) -> tuple[Floats, Ints]:
    """Return `Scores.top_k` of few rows.

    The k highest scores lie in the k groups whose own highest scores are the k highest. So one pass over the scores
    finds the highest of each group, and only k groups need a second look.
    """
    n_groups = scores.shape[1] // GROUP
    if n_groups <= k:
        return _sorted(scores, np.argsort(scores, axis=1)[:, -k:])
    highest = scores[:, : n_groups * GROUP]
    while highest.shape[1] > n_groups:  # fold in halves: column c then stands for all columns c + i * n_groups
        half = highest.shape[1] // 2
        highest = np.maximum(highest[:, :half], highest[:, half:])
    groups = np.argpartition(highest, n_groups - k, axis=1)[:, -k:]
    inside = (groups[:, :, None] + n_groups * np.arange(GROUP)).reshape(len(scores), -1)
    rest = np.arange(n_groups * GROUP, scores.shape[1])
    outside = np.broadcast_to(rest, (len(scores), len(rest)))
    candidates = np.concatenate((inside, outside), axis=1)
    values = np.take_along_axis(scores, candidates, axis=1)
    columns = np.argpartition(values, values.shape[1] - k, axis=1)[:, -k:]
    return _sorted(scores, np.take_along_axis(candidates, columns, axis=1))


def _sorted(scores: Floats, ids: Ints) -> tuple[Floats, Ints]:
    """Return the scores (R, K) of ids (R, K), falling, and their ids; of equal scores the lower id comes first."""
    ids = np.sort(ids, axis=1)[:, ::-1]
    values = np.take_along_axis(scores, ids, axis=1)
    order = np.argsort(values, axis=1, kind="stable")[:, ::-1]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(ids, order, axis=1)


def refuse_nan(best: Floats) -> None:
    """Check the highest log-probabilities of each row, (R, ...). A row that has a NaN has it there.

    Raises:
        DragomanError: one is NaN.
    """
    if math.isnan(best.max(initial=-math.inf)):
        raise DragomanError(
            "the model gives probabilities that are not numbers (NaN)",
            advice="its weights are damaged or its arithmetic overflows; use another checkpoint, or float32",
        )
