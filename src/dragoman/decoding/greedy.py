"""Greedy search, and the walk it shares with sampling: every row writes one token a step until it ends.

B sentences, R rows still open, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dragoman.decoding.constraints import Constraints
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import Floats, Ints, Scores, refuse_nan
from dragoman.decoding.state import State
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID

#: scores (R, V), the numbers (R,) of the rows as they were at the start, the position -> log-probabilities and ids (R,)
#: of the tokens to write.
Choose = Callable[[Scores, Ints, int], tuple[Floats, Ints]]


def greedy_search(state: State, constraints: Constraints, length_penalty: float) -> list[Hypothesis]:
    """One hypothesis a sentence: always the most probable next token."""
    return walk(state, constraints, np.arange(len(constraints.limit)), _most_probable, length_penalty)


def walk(
    state: State, constraints: Constraints, sentence: Ints, choose: Choose, length_penalty: float
) -> list[Hypothesis]:
    """Write rows token by token, as `choose` says; sentence (rows,) is the sentence each translates.

    A row that has ended leaves the state.
    """
    n_rows = len(sentence)
    written = np.full((n_rows, constraints.longest), PAD_ID)
    log_probs = np.zeros((n_rows, constraints.longest), dtype=np.float32)
    lengths = np.zeros(n_rows, dtype=np.int64)
    rows = np.arange(n_rows)
    last_ids = np.full(n_rows, SOS_ID)
    for position in range(constraints.longest):
        scores = state.step(last_ids)
        constraints.apply(scores, written[rows, :position], sentence[rows])
        token_log_probs, last_ids = choose(scores, rows, position)
        refuse_nan(token_log_probs)
        written[rows, position], log_probs[rows, position] = last_ids, token_log_probs
        stuck = np.isneginf(token_log_probs)  # every token is forbidden: it ends before this one
        ended = (last_ids == EOS_ID) | (constraints.limit[sentence[rows]] <= position + 1) | stuck
        if ended.any():
            lengths[rows[ended]] = position + ~stuck[ended]
            open_rows = np.flatnonzero(~ended)
            if not len(open_rows):
                break
            state.select(open_rows)
            rows, last_ids = rows[open_rows], last_ids[open_rows]
    return [
        Hypothesis.of(ids[:length], values[:length], length_penalty)
        for ids, values, length in zip(written.tolist(), log_probs.tolist(), lengths.tolist(), strict=True)
    ]


def _most_probable(scores: Scores, rows: Ints, position: int) -> tuple[Floats, Ints]:
    values, ids = scores.top_k(1)
    return values[:, 0], ids[:, 0]
