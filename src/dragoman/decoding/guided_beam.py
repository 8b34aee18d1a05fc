"""The continuations of a beam search that a rule leads (`constraints.protocol.Guide`).

Beside the most probable tokens of each hypothesis there are those that its rule wants. A sentence's beam is then shared
among its banks, the continuations that are equally far: each bank gives its best, then each its second, until the beam
is full (dynamic beam allocation, Post & Vilar 2018; by sorting, as Hu et al. 2019). So what satisfies the rule is never
pushed out by what is only more probable, and the beam does not grow.

B sentences, R rows, K tokens of each, W more that are wanted, n continuations.
"""

from __future__ import annotations

import numpy as np

from dragoman.decoding.constraints.protocol import Guide
from dragoman.decoding.scores import FORBIDDEN, Scores
from dragoman.machine.arrays import Floats, Ints


def best_tokens(guide: Guide | None, scores: Scores, k: int) -> tuple[Floats, Ints]:
    """Return the k most probable tokens of each row, falling, and those that a guide wants: values, ids (R, K + W).

    A token that a row has already, or that is forbidden, has the value -inf.
    """
    if guide is None:
        return scores.top_k(k)
    rows, tokens = guide.wanted()
    # First, because it computes all scores, of which the highest are then found.
    wanted = scores.array()[rows, tokens] if len(rows) else np.zeros(0, dtype=np.float32)
    values, token_ids = scores.top_k(k)
    is_new = ~(token_ids[rows] == tokens[:, None]).any(axis=1)
    rows, tokens, wanted = rows[is_new], tokens[is_new], wanted[is_new]
    if not len(rows):
        return values, token_ids
    counts = np.bincount(rows, minlength=len(values))
    columns = np.arange(len(rows)) - (counts.cumsum() - counts)[rows]  # rows are in order
    shape = len(values), int(counts.max())
    more_values, more_ids = np.full(shape, FORBIDDEN), np.zeros(shape, dtype=np.int64)
    more_values[rows, columns], more_ids[rows, columns] = wanted, tokens
    return np.concatenate((values, more_values), axis=1), np.concatenate((token_ids, more_ids), axis=1)


def shared_continuations(
    guide: Guide, sentence: Ints, log_probs: Floats, token_ids: Ints, widths: Ints
) -> tuple[Ints, Ints]:
    """Choose at most widths (B,) continuations of each sentence.

    Args:
        sentence: of each hypothesis, (R,).
        log_probs: of the continuations, (R, K + W); -inf where forbidden.
        token_ids: of the continuations, (R, K + W).

    Returns:
        parents, columns: rows and columns of log_probs (n,), by sentence and by falling probability.
    """
    parents, columns = np.nonzero(log_probs > FORBIDDEN)
    owners, costs = sentence[parents], -log_probs[parents, columns]
    banks = guide.progress(parents, token_ids[parents, columns])
    order = np.lexsort((costs, banks, owners))
    rank_in_bank = np.empty_like(order)
    rank_in_bank[order] = _numbers(owners[order], banks[order])
    order = np.lexsort((costs, -banks, rank_in_bank, owners))
    chosen = order[_numbers(owners[order]) < widths[owners[order]]]
    chosen = chosen[np.lexsort((costs[chosen], owners[chosen]))]
    return parents[chosen], columns[chosen]


def _numbers(*keys: Ints) -> Ints:
    """Count, in sorted rows, those before each that have the same keys: (n,) each -> (n,)."""
    places = np.arange(len(keys[0]))
    begins = np.ones(len(places), dtype=np.bool_)
    begins[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return places - np.maximum.accumulate(np.where(begins, places, 0))
