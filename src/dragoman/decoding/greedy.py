"""Greedy search, and the loop that it shares with sampling: each row writes one token a step until it ends.

R rows still open, V vocabulary, t tokens written so far.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.protocol import Rows
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import FORBIDDEN, Scores, refuse_nan
from dragoman.decoding.state import State
from dragoman.machine.arrays import Floats, Ints

#: scores (R, V), the numbers (R,) of the rows as they were at the start, the position -> log-probabilities and ids (R,)
#: of the tokens to write.
Choose = Callable[[Scores, Ints, int], tuple[Floats, Ints]]


def greedy_search(state: State, constraints: ActiveConstraints, alpha: float) -> list[Hypothesis]:
    """Return one hypothesis a sentence, of the most probable token at each step; alpha is for `length_penalty`."""
    return decode_rows(state, constraints, _most_probable, alpha)


def decode_rows(state: State, constraints: ActiveConstraints, choose: Choose, alpha: float) -> list[Hypothesis]:
    """Write the rows that the constraints begin with, by the tokens that `choose` returns. Ended rows leave the state.

    Raises:
        DragomanError: the model gave probabilities that are not numbers. A search chooses those before all others, so
            they are looked for only when a row ends.
    """
    sentence, longest, special_ids = constraints.sentence, constraints.limits.longest, constraints.special_ids
    hypotheses: dict[int, Hypothesis] = {}
    every_row = numbers = np.arange(len(sentence))
    last_ids = np.full(len(sentence), special_ids.start)
    ids = np.full((len(sentence), longest), special_ids.pad)
    log_probs = np.zeros((len(sentence), longest), dtype=np.float32)
    for position in range(longest):
        rows = Rows(sentence, ids[:, :position])
        scores = state.step(last_ids)
        constraints.apply(scores, rows)
        token_log_probs, last_ids = choose(scores, numbers, position)
        ids[:, position], log_probs[:, position] = last_ids, token_log_probs
        is_stuck = token_log_probs == FORBIDDEN  # every token is forbidden: the row ends before this one
        is_finished = (last_ids == special_ids.end) & ~is_stuck
        has_ended = is_finished | is_stuck | constraints.limits.reached(rows)
        going_on = every_row
        if has_ended.any():
            refuse_nan(log_probs[has_ended])
            for row in np.flatnonzero(has_ended).tolist():
                n = position + int(is_finished[row])
                hypotheses[int(numbers[row])] = Hypothesis.of(
                    ids[row, :n].tolist(), log_probs[row, :n].tolist(), alpha, finished=bool(is_finished[row])
                )
            going_on = np.flatnonzero(~has_ended)
            if not len(going_on):
                break
            state.select(going_on)
            numbers, sentence, last_ids = numbers[going_on], sentence[going_on], last_ids[going_on]
            ids, log_probs, every_row = ids[going_on], log_probs[going_on], np.arange(len(going_on))
        constraints.advance(going_on, last_ids)
    return [hypotheses[number] for number in range(len(hypotheses))]


def _most_probable(scores: Scores, numbers: Ints, position: int) -> tuple[Floats, Ints]:
    values, ids = scores.top_k(1)
    return values[:, 0], ids[:, 0]
