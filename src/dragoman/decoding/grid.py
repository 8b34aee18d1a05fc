"""The slots of hypotheses, and the tree of all tokens that they have written.

In each step a model reads one token a slot. It keeps the keys and values of a token where it first put them, so that
hypotheses branch, end and change slots, and nothing is copied: `ancestry` says which of the tokens each slot attends
to. One sentence, a beam of three, and its first tokens in the order in which they were read:

    step 1      step 2      step 3           ancestry after step 3
                                                      0  1  2  3  4  5  6
              ┌ 1 the ──── 4 cat             slot 0   x  x  .  .  x  .  .     <s> the cat
    0 <s> ────┼ 2 a ──┬─── 5 dog             slot 1   x  .  x  .  .  x  .     <s> a dog
              │       └─── 6 cow             slot 2   x  .  x  .  .  .  x     <s> a cow
              └ 3 an

"an" has no continuation among the best three, so its slot went to another one. Its key and value stay, unused.

B sentences, N slots for the hypotheses of each, R rows (hypotheses now open), C tokens that were read for a sentence.
"""

from __future__ import annotations

import numpy as np

from dragoman.machine.arrays import Bools, Ints

#: The model drops the sentences that are done when no more than this share of the sentences is still open: dropping
#: copies what stays.
SENTENCES_KEPT = 0.75


class Grid:
    """B times N slots. The slot of an ended hypothesis stays, unused, until sentences are dropped."""

    def __init__(self, n_sentences: int) -> None:
        self.shape = (n_sentences, 1)  # B, N
        self.slots = np.arange(n_sentences)  # (R,): the slot of each row, in the flattened grid
        self.n_steps = 0
        self.ancestry: Bools | None = None  # (B, N, C): which tokens each slot has read; None while each has read all

    def place(self, last_ids: Ints, pad_id: int) -> Ints:
        """Begin a step: put the last ids (R,) of the rows into their slots (B, N), to be read at n_steps - 1."""
        in_slots = np.full(self.shape, pad_id)
        in_slots.reshape(-1)[self.slots] = last_ids
        self.n_steps += 1
        if self.ancestry is not None:
            (n_sentences, n_slots), n_read = self.shape, self.ancestry.shape[2]
            ancestry = np.zeros((n_sentences, n_slots, n_read + n_slots), dtype=np.bool_)
            ancestry[:, :, :n_read] = self.ancestry
            numbers = np.arange(n_slots)
            ancestry[:, numbers, n_read + numbers] = True  # each slot reads its own token
            self.ancestry = ancestry
        return in_slots

    def select(self, rows: Ints) -> Ints | None:
        """Keep the given rows (R',), in that order; one may be repeated or left out.

        Returns:
            The sentences (B',) that stay, or None if all do.
        """
        slots = self.slots[rows]
        if len(slots) == len(self.slots) and (slots == self.slots).all():
            return None
        n_sentences, n_slots = self.shape
        owner, parent = np.divmod(slots, n_slots)  # the sentence of each new row, and the slot there of its parent
        n_rows = np.bincount(owner, minlength=n_sentences)  # of each sentence
        sentences = n_rows.nonzero()[0]
        if len(sentences) > SENTENCES_KEPT * n_sentences:
            sentences = np.arange(n_sentences)
        self.shape = len(sentences), int(n_rows.max())
        self.slots = sentences.searchsorted(owner) * self.shape[1] + _number_within(owner, n_rows)
        parents = np.zeros(self.shape, dtype=np.int64)
        parents.reshape(-1)[self.slots] = parent
        if self.ancestry is None and self.shape[1] > 1:
            self.ancestry = np.ones((n_sentences, 1, self.n_steps), dtype=np.bool_)
        if self.ancestry is not None:
            self.ancestry = self.ancestry[sentences[:, None], parents]
        return sentences if len(sentences) < n_sentences else None


def parent_slots(ancestry: Bools, n_slots_before: int) -> Ints:
    """Return the slot of the step before whose hypothesis each slot continues: ancestry (B, N, C) -> (B, N).

    In the first step that is 0, the start of the sentence.
    """
    n_sentences, n_slots, n_read = ancestry.shape
    if n_read == n_slots:
        return np.zeros((n_sentences, n_slots), dtype=np.int64)
    parents: Ints = ancestry[:, :, -n_slots_before - n_slots : -n_slots].argmax(axis=2)
    return parents


def _number_within(owner: Ints, n_rows: Ints) -> Ints:
    """Count, for each row, the rows of its owner before it: owner (R,), n_rows (B,) of each -> (R,)."""
    order = owner.argsort(kind="stable")
    first = n_rows.cumsum() - n_rows
    number = np.empty_like(owner)
    number[order] = np.arange(len(owner)) - first[owner[order]]
    return number
