"""Results of a search, and their ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from dragoman.decoding.faults import Fault


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + length) / 6) ** alpha, which divides a log-probability (Wu et al. 2016, section 7).

    It makes up for the lower probability of long translations. The length counts the end mark, so that the empty
    translation has penalty 1.
    """
    return float(((5 + length) / 6) ** alpha)


@dataclass(frozen=True)
class Hypothesis:
    """A translation of one sentence."""

    ids: tuple[int, ...]  # without start and end marks
    score: float  # for ranking: log_prob over the length penalty
    log_prob: float  # natural logarithm, the end mark's included, after a repetition penalty
    token_log_probs: tuple[float, ...]  # one for each of ids, and one for the end mark if it was written
    finished: bool  # the end mark was written; if not, the limit was reached, or no token was allowed to follow
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, written: Sequence[int], token_log_probs: Sequence[float], alpha: float, *, finished: bool) -> Self:
        """Return the hypothesis of the tokens that a search wrote; the last is the end mark if it is finished."""
        log_prob = math.fsum(token_log_probs)
        return cls(
            ids=tuple(written[:-1] if finished else written),
            score=log_prob / length_penalty(len(written), alpha),
            log_prob=log_prob,
            token_log_probs=tuple(token_log_probs),
            finished=finished,
        )

    def cut(self, max_length: int, alpha: float) -> Self:
        """Return the first max_length tokens, the end mark included, with the score of the tokens that stay."""
        n_tokens = max_length - 1
        if len(self.ids) <= n_tokens:
            return self
        return type(self).of(self.ids[:n_tokens], self.token_log_probs[:n_tokens], alpha, finished=False)


def best_first(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Sort by falling score: the finished without faults, then the finished with faults, then the unfinished."""
    return sorted(hypotheses, key=lambda one: (rank_of(one), -one.score))


def rank_of(hypothesis: Hypothesis) -> int:
    """Return 0 for a finished hypothesis without faults, 1 for a finished one with faults, 2 for an unfinished one."""
    return 2 if not hypothesis.finished else int(bool(hypothesis.faults))
