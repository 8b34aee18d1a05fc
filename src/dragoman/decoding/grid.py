"""Where hypotheses stand, and what each has written, as one tree a sentence.

B sentences, N places for hypotheses of each, R rows (hypotheses now open), C tokens that the hypotheses of a sentence
have written in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dragoman.machine.arrays import Ints

#: Sentences that are done leave the grid, and what a model keeps of them is dropped, when no more than this part of
#: them is still open: dropping copies what stays.
SENTENCES_KEPT = 0.75


class Grid:
    """The N hypotheses of a sentence are N queries over one memory and over all they have written.

    A model keeps the keys and values of every token where they were first put; `paths` says which tokens lie on the
    path of each hypothesis. So hypotheses branch, end and change places without any of them being copied. A place whose
    hypothesis has ended stays, unused, until a good part of the sentences is done.
    """

    def __init__(self, n_sentences: int) -> None:
        self.shape = (n_sentences, 1)  # B, N
        self.places = np.arange(n_sentences)  # (R,): of each row, in the flattened grid
        self.n_steps = 0
        self.paths: NDArray[np.bool_] | None = None  # (B, N, C): which tokens each has read; None while all have all

    def place(self, last_ids: Ints, pad_id: int) -> Ints:
        """One step: last_ids (R,) of the rows, in their places (B, N), where they are read at position n_steps - 1."""
        in_grid = np.full(self.shape, pad_id)
        in_grid.reshape(-1)[self.places] = last_ids
        self.n_steps += 1
        if self.paths is not None:
            (n_sentences, n_places), n_read = self.shape, self.paths.shape[2]
            paths = np.zeros((n_sentences, n_places, n_read + n_places), dtype=np.bool_)
            paths[:, :, :n_read] = self.paths
            numbers = np.arange(n_places)
            paths[:, numbers, n_read + numbers] = True  # each place has read its own token
            self.paths = paths
        return in_grid

    def select(self, rows: Ints) -> Ints | None:
        """Keep the given rows (R',), in that order; one may be repeated or left out.

        Returns:
            The sentences (B',) that stay, or None if all do.
        """
        places = self.places[rows]
        if len(places) == len(self.places) and (places == self.places).all():
            return None
        n_sentences, n_places = self.shape
        owner, parent = np.divmod(places, n_places)
        n_rows = np.bincount(owner, minlength=n_sentences)  # of each sentence
        sentences = n_rows.nonzero()[0]
        if len(sentences) > SENTENCES_KEPT * n_sentences:
            sentences = np.arange(n_sentences)
        self.shape = len(sentences), int(n_rows.max())
        self.places = sentences.searchsorted(owner) * self.shape[1] + _number_within(owner, n_rows)
        parents = np.zeros(self.shape, dtype=np.int64)
        parents.reshape(-1)[self.places] = parent
        if self.paths is None and self.shape[1] > 1:
            self.paths = np.ones((n_sentences, 1, self.n_steps), dtype=np.bool_)
        if self.paths is not None:
            self.paths = self.paths[sentences[:, None], parents]
        return sentences if len(sentences) < n_sentences else None


def _number_within(owner: Ints, n_rows: Ints) -> Ints:
    """For each row, how many rows of the same owner come before it: owner (R,), n_rows (B,) of each -> (R,)."""
    order = owner.argsort(kind="stable")
    first = n_rows.cumsum() - n_rows
    number = np.empty_like(owner)
    number[order] = np.arange(len(owner)) - first[owner[order]]
    return number
