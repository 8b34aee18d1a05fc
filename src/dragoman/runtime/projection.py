"""Scores of the next tokens, computed for a few rows at a time when a search asks for the highest.

R rows (hypotheses now open), V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dragoman.decoding.scores import FORBIDDEN, ROWS_AT_ONCE, ArrayScores
from dragoman.machine.arrays import Floats, Ints

#: The most scores that are computed at once: 16 MiB.
_MOST_SCORES = 1 << 22
#: The most tokens of a row that are looked for beside the highest, because they may be forbidden in it.
_FEW = 32


class ProjectedScores:
    """Scores (`dragoman.decoding.scores.Scores`) whose matrix (R, V) exists only if it is needed.

    To find the highest of each row it is not: the scores of a few rows are computed, searched while they are in the
    processor's cache, and overwritten by the next. Where a few tokens are forbidden in single rows, as many more of
    the highest are found.

    Args:
        n_rows: R.
        project: at most `ROWS_AT_ONCE` of the rows -> their log-probabilities (R', V), valid until the next call.
        vocab_size: V.
    """

    def __init__(self, n_rows: int, project: Callable[[slice], Floats], vocab_size: int) -> None:
        self._n_rows, self._project, self._vocab_size = n_rows, project, vocab_size
        self._at_once = max(min(_MOST_SCORES // vocab_size, ROWS_AT_ONCE), 1)
        self._forbidden: list[int] = []  # in every row
        self._forbidden_in_rows: list[tuple[Ints, Ints]] = []  # rows (n,) and tokens (n,)
        self._n_more = 0  # tokens that are forbidden in one row, at most
        self._forced: tuple[Ints, Ints, Floats] | None = None
        self._matrix: ArrayScores | None = None

    def at(self, rows: Ints, ids: Ints) -> Floats:
        """See `Scores`."""
        if self._matrix is not None or self._forced is not None or self._forbidden_in_rows:
            return self._whole().at(rows, ids)
        values = np.empty(len(rows), dtype=np.float32)
        for first, part in self._parts(rows):
            own = (rows >= first) & (rows < first + len(part.log_probs))
            values[own] = part.at(rows[own] - first, ids[own])
        return values

    def forbid_everywhere(self, ids: Sequence[int]) -> None:
        """See `Scores`."""
        if self._matrix is not None or self._forced is not None:
            self._whole().forbid_everywhere(ids)
        self._forbidden += ids

    def forbid(self, rows: Ints, ids: Ints) -> None:
        """See `Scores`."""
        n_more = self._n_more + int(np.bincount(rows, minlength=1).max())
        if self._matrix is not None or self._forced is not None or n_more > _FEW:
            self._whole().forbid(rows, ids)
        else:
            self._forbidden_in_rows.append((rows, ids))
            self._n_more = n_more

    def multiply(self, rows: Ints, ids: Ints, factor: float) -> None:
        """See `Scores`."""
        self._whole().multiply(rows, ids, factor)

    def force(self, rows: Ints, ids: Ints, values: Floats) -> None:
        """See `Scores`."""
        if self._matrix is None and self._forced is None:
            self._forced = rows, ids, values
        else:
            self._whole().force(rows, ids, values)

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        """See `Scores`."""
        if self._matrix is not None:
            return self._matrix.top_k(k)
        if self._forced is None:
            return self._best_allowed(k)
        rows, ids, values = self._forced
        shape = self._n_rows, min(k, self._vocab_size)
        if len(rows) == self._n_rows:
            best, tokens = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int64)
        else:
            best, tokens = self._best_allowed(k)
        best[rows], tokens[rows] = FORBIDDEN, 0
        best[rows, 0], tokens[rows, 0] = values, ids
        return best, tokens

    def best_scores(self, k: int) -> tuple[Floats, Ints]:
        """Return the k highest scores of each row and their tokens, both (R, k), as if no row were forced and no token
        forbidden in single rows."""
        values, ids = zip(*(part.top_k(k) for _, part in self._parts()), strict=True)
        return np.concatenate(values), np.concatenate(ids)

    def array(self) -> Floats:
        """See `Scores`."""
        return self._whole().array()

    def _best_allowed(self, k: int) -> tuple[Floats, Ints]:
        """Return the k highest scores of each row and their tokens, both (R, k), as if no row were forced."""
        if not self._forbidden_in_rows:
            return self.best_scores(k)
        rows, ids = map(np.concatenate, zip(*self._forbidden_in_rows, strict=True))
        values, tokens = self.best_scores(min(k + self._n_more, self._vocab_size))
        places = np.arange(self._n_rows)[:, None] * self._vocab_size + tokens
        is_forbidden = np.isin(places, rows * self._vocab_size + ids)
        values[is_forbidden] = FORBIDDEN
        order = np.argsort(is_forbidden, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, order, axis=1), np.take_along_axis(tokens, order, axis=1)

    def _whole(self) -> ArrayScores:
        if self._matrix is None:
            log_probs = np.empty((self._n_rows, self._vocab_size), dtype=np.float32)
            for first, part in self._parts():
                log_probs[first : first + self._at_once] = part.log_probs
            self._matrix = ArrayScores(log_probs)
            for rows_and_ids in self._forbidden_in_rows:
                self._matrix.forbid(*rows_and_ids)
            if self._forced is not None:
                self._matrix.force(*self._forced)
        return self._matrix

    def _parts(self, rows: Ints | None = None) -> Iterator[tuple[int, ArrayScores]]:
        """Yield blocks of rows: the number of the first and the scores (R', V), which are valid until the next block.

        Args:
            rows: (n), to yield only the blocks that have one of these rows.
        """
        firsts = range(0, self._n_rows, self._at_once)
        for first in firsts if rows is None else np.unique(rows // self._at_once) * self._at_once:
            part = ArrayScores(self._project(slice(first, min(first + self._at_once, self._n_rows))))
            part.forbid_everywhere(self._forbidden)
            yield first, part
