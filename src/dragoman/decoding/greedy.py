"""Greedy search, and the walk it shares with sampling: every row writes one token a step until it ends.

B sentences, R rows still open, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dragoman.decoding.constraints import Constraints
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import FORBIDDEN, Scores, refuse_nan
from dragoman.decoding.state import State
from dragoman.machine.arrays import Floats, Ints

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

    A row that has ended leaves the state. Only then is it refused if the model gave probabilities that are not numbers,
    which a search chooses before all others.
    """
    n_rows, special_ids = len(sentence), constraints.special_ids
    hypotheses: dict[int, Hypothesis] = {}
    rows, last_ids = np.arange(n_rows), np.full(n_rows, special_ids.start)
    ids = np.full((n_rows, constraints.longest), special_ids.pad)
    log_probs = np.zeros((n_rows, constraints.longest), dtype=np.float32)
    for position in range(constraints.longest):
        scores = state.step(last_ids)
        constraints.apply(scores, ids[:, :position], sentence)
        token_log_probs, last_ids = choose(scores, rows, position)
        ids[:, position], log_probs[:, position] = last_ids, token_log_probs
        stuck = token_log_probs == FORBIDDEN  # every token is forbidden: it ends before this one
        finished = (last_ids == special_ids.end) & ~stuck
        ended = finished | stuck | constraints.at_limit(position, sentence)
        if ended.any():
            refuse_nan(log_probs[ended])
            for row in np.flatnonzero(ended).tolist():
                length = position + bool(finished[row])
                written = ids[row, :length].tolist(), log_probs[row, :length].tolist()
                hypotheses[int(rows[row])] = Hypothesis.of(*written, length_penalty, finished=bool(finished[row]))
            going_on = np.flatnonzero(~ended)
            if not len(going_on):
                break
            state.select(going_on)
            rows, sentence, last_ids = rows[going_on], sentence[going_on], last_ids[going_on]
            ids, log_probs = ids[going_on], log_probs[going_on]
    return [hypotheses[row] for row in range(n_rows)]


def _most_probable(scores: Scores, rows: Ints, position: int) -> tuple[Floats, Ints]:
    values, ids = scores.top_k(1)
    return values[:, 0], ids[:, 0]
