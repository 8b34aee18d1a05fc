"""Two rules against repetition: no n-gram twice, and a penalty for tokens that were written before.

R rows, t tokens that each row has written.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dragoman.decoding.constraints.protocol import Rows, Stateless
from dragoman.decoding.scores import Scores


@dataclass(frozen=True)
class NoRepeatedNgrams(Stateless):
    """No sequence of `n` tokens is written twice."""

    n: int

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Forbid each token that would complete such a sequence."""
        if rows.ids.shape[1] < self.n:
            return
        ngrams = sliding_window_view(rows.ids, self.n, axis=1)  # (R, t - n + 1, n)
        latest = rows.ids[:, rows.ids.shape[1] - (self.n - 1) :]  # (R, n - 1)
        repeating, positions = np.nonzero((ngrams[:, :, :-1] == latest[:, None]).all(axis=2))
        scores.forbid(repeating, ngrams[repeating, positions, -1])


@dataclass(frozen=True)
class RepetitionPenalty(Stateless):
    """The log-probability of a token that the row has written before is multiplied by `penalty`, 1 or more.

    Keskar et al. 2019 (CTRL, section 4.1) divide the token's score, a logit, by the penalty. Log-probabilities are
    never positive, so they are multiplied, as in the beam search of Hugging Face Transformers, and not normalised
    again. A token counts once, however often it was written; the tokens of a prefix count too.
    """

    penalty: float

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Lower the log-probabilities of the tokens that each row has written."""
        n_rows, n_written = rows.ids.shape
        scores.multiply(np.arange(n_rows).repeat(n_written), rows.ids.reshape(-1), self.penalty)
