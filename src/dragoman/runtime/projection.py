"""Scores of the next tokens, computed for a few rows at a time when a search asks for the highest.

R rows (hypotheses now open), V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dragoman.decoding.scores import ROWS_AT_ONCE, ArrayScores
from dragoman.machine.arrays import Floats, Ints


class ProjectedScores:
    """Scores (`dragoman.decoding.scores.Scores`) whose matrix (R, V) exists only if it is needed.

    To find the highest of each row it is not: the scores of a few rows are computed, searched while they are in the
    processor's cache, and overwritten by the next.

    Args:
        n_rows: R.
        project: at most `ROWS_AT_ONCE` of the rows -> their log-probabilities (R', V), valid until the next call.
        vocab_size: V.
    """

    def __init__(self, n_rows: int, project: Callable[[slice], Floats], vocab_size: int) -> None:
        self._n_rows, self._project, self._vocab_size = n_rows, project, vocab_size
        self._forbidden: list[int] = []  # in every row
        self._matrix: ArrayScores | None = None

    def at(self, rows: Ints, ids: Ints) -> Floats:
        """See `Scores`."""
        return self._whole().at(rows, ids)

    def forbid_everywhere(self, ids: Sequence[int]) -> None:
        """See `Scores`."""
        self._forbidden += ids
        if self._matrix is not None:
            self._matrix.forbid_everywhere(ids)

    def forbid(self, rows: Ints, ids: Ints) -> None:
        """See `Scores`."""
        self._whole().forbid(rows, ids)

    def multiply(self, rows: Ints, ids: Ints, factor: float) -> None:
        """See `Scores`."""
        self._whole().multiply(rows, ids, factor)

    def force(self, rows: Ints, ids: Ints, values: Floats) -> None:
        """See `Scores`."""
        self._whole().force(rows, ids, values)

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        """See `Scores`."""
        parts = self._parts() if self._matrix is None else [self._matrix]
        values, ids = zip(*(part.top_k(k) for part in parts), strict=True)
        return np.concatenate(values), np.concatenate(ids)

    def array(self) -> Floats:
        """See `Scores`."""
        return self._whole().array()

    def _whole(self) -> ArrayScores:
        if self._matrix is None:
            log_probs = np.empty((self._n_rows, self._vocab_size), dtype=np.float32)
            for number, part in enumerate(self._parts()):
                first = number * ROWS_AT_ONCE
                log_probs[first : first + ROWS_AT_ONCE] = part.log_probs
            self._matrix = ArrayScores(log_probs)
        return self._matrix

    def _parts(self) -> Iterator[ArrayScores]:
        """Yield the scores of a few rows at a time, each valid until the next."""
        for first in range(0, self._n_rows, ROWS_AT_ONCE):
            part = ArrayScores(self._project(slice(first, min(first + ROWS_AT_ONCE, self._n_rows))))
            part.forbid_everywhere(self._forbidden)
            yield part
