"""Greedy search, and the walk it shares with sampling: every row writes one token a step until it ends.

B sentences, R rows still open, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from dragoman.decoding.best import top_k
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.state import State, refuse_nan
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID

#: log_probs (R, V), the numbers (R,) of the rows as they were at the start, the position -> log_probs and ids (R,)
#: of the tokens to write.
Choose = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


def greedy_search(state: State, constraints: Constraints, length_penalty: float) -> list[Hypothesis]:
    """One hypothesis a sentence: always the most probable next token."""
    sentence = torch.arange(len(constraints.limit), device=constraints.limit.device)
    return walk(state, constraints, sentence, _most_probable, length_penalty)


def walk(
    state: State, constraints: Constraints, sentence: Tensor, choose: Choose, length_penalty: float
) -> list[Hypothesis]:
    """Write rows token by token, as `choose` says; sentence (rows,) is the sentence each translates.

    A row that has ended leaves the state.
    """
    n_rows = len(sentence)
    written = sentence.new_full((n_rows, constraints.longest), PAD_ID)
    log_probs = torch.zeros(n_rows, constraints.longest, device=sentence.device)
    lengths = sentence.new_zeros(n_rows)
    rows = torch.arange(n_rows, device=sentence.device)
    last_ids = torch.full_like(rows, SOS_ID)
    for position in range(constraints.longest):
        scores = constraints.apply(state.step(last_ids), written[rows, :position], sentence[rows])
        token_log_probs, last_ids = choose(scores, rows, position)
        refuse_nan(token_log_probs)
        written[rows, position], log_probs[rows, position] = last_ids, token_log_probs
        stuck = token_log_probs.isneginf()  # every token is forbidden: it ends before this one
        ended = (last_ids == EOS_ID) | (constraints.limit[sentence[rows]] <= position + 1) | stuck
        if bool(ended.any()):
            lengths[rows[ended]] = position + (~stuck[ended]).long()
            open_rows = (~ended).nonzero().squeeze(1)
            if len(open_rows) == 0:
                break
            state.select(open_rows)
            rows, last_ids = rows[open_rows], last_ids[open_rows]
    return [
        Hypothesis.of(ids[:length], values[:length], length_penalty)
        for ids, values, length in zip(written.tolist(), log_probs.tolist(), lengths.tolist(), strict=True)
    ]


def _most_probable(log_probs: Tensor, rows: Tensor, position: int) -> tuple[Tensor, Tensor]:
    values, ids = top_k(log_probs, 1)
    return values[:, 0], ids[:, 0]
