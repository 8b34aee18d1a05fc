"""Beam search over a batch of sentences, each with its own number of open hypotheses.

At every step each sentence keeps its N most probable continuations, N less those that have already ended. One that
writes the end mark leaves the beam and is kept; so the beam narrows, rows that are done cost nothing, and a beam of
one is greedy search. A sentence is done when none of its open hypotheses can still enter its n best.

B sentences, N beam size, R open hypotheses of all sentences together, V vocabulary, t tokens written so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.decoding.best import top_k
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.hypothesis import Hypothesis, best_first, length_penalty
from dragoman.decoding.state import State, refuse_nan
from dragoman.text.vocabulary import EOS_ID, SOS_ID


@dataclass(frozen=True)
class Beam:
    """R hypotheses, those of a sentence side by side, the most probable first."""

    sentence: Tensor  # (R,): which sentence of the batch it translates
    ids: Tensor  # (R, t)
    token_log_probs: Tensor  # (R, t)
    log_prob: Tensor  # (R,): the sum of token_log_probs

    @classmethod
    def start(cls, n_sentences: int, device: torch.device) -> Self:
        """One hypothesis a sentence, with nothing written; it branches at the first step."""
        sentence = torch.arange(n_sentences, device=device)
        nothing = torch.zeros(n_sentences, 0, device=device)
        return cls(sentence, nothing.long(), nothing, nothing.sum(dim=1))

    @property
    def last_ids(self) -> Tensor:
        """(R,): what each hypothesis wrote last."""
        return self.ids[:, -1] if self.ids.size(1) else torch.full_like(self.sentence, SOS_ID)

    def take(self, rows: Tensor) -> Self:
        """The hypotheses that `rows`, a mask (R,) or numbers (R',), says."""
        return type(self)(self.sentence[rows], self.ids[rows], self.token_log_probs[rows], self.log_prob[rows])

    def extend(self, token_ids: Tensor, token_log_probs: Tensor) -> Self:
        """Each hypothesis with one more token: token_ids and token_log_probs (R,)."""
        return type(self)(
            self.sentence,
            torch.cat((self.ids, token_ids[:, None]), dim=1),
            torch.cat((self.token_log_probs, token_log_probs[:, None]), dim=1),
            self.log_prob + token_log_probs,
        )


@dataclass
class Kept:
    """The best hypotheses of each sentence that have left the beam."""

    n_best: int
    alpha: float  # exponent of the length penalty
    places: Tensor  # (B,): how many open hypotheses each sentence may have; the beam size less those that ended
    largest_penalty: Tensor  # (B,): the length penalty at the sentence's maximum length
    bar: Tensor  # (B,): the score of the worst of the n best, -inf while there are fewer
    best: list[list[Hypothesis]] = field(default_factory=list)

    @classmethod
    def start(cls, constraints: Constraints, config: SearchConfig) -> Self:
        """Nothing kept yet."""
        limits, alpha = constraints.limit, config.length_penalty
        return cls(
            n_best=config.n_best,
            alpha=alpha,
            places=torch.full_like(limits, config.beam_size),
            largest_penalty=torch.tensor([length_penalty(n, alpha) for n in limits.tolist()], device=limits.device),
            bar=torch.full(limits.shape, float("-inf"), device=limits.device),
            best=[[] for _ in limits],
        )

    def add(self, beam: Beam) -> None:
        """Keep those hypotheses of a beam that are among the n best of their sentence."""
        if not len(beam.sentence):
            return
        self.places.index_add_(0, beam.sentence, torch.full_like(beam.sentence, -1))
        numbers = beam.sentence.tolist()
        for number, ids, values in zip(numbers, beam.ids.tolist(), beam.token_log_probs.tolist(), strict=True):
            hypotheses = [*self.best[number], Hypothesis.of(ids, values, self.alpha)]
            self.best[number] = best_first(hypotheses)[: self.n_best]
        self.bar[beam.sentence] = torch.tensor([self._bar(number) for number in numbers], device=self.bar.device)

    def can_enter(self, beam: Beam) -> Tensor:
        """(R,): whether a hypothesis that goes on may still become one of its sentence's n best.

        Its log-probability can only fall and its length penalty only grow, up to that of the maximum length, so
        log_prob / largest_penalty is the best score it can reach.
        """
        return beam.log_prob / self.largest_penalty[beam.sentence] > self.bar[beam.sentence]

    def _bar(self, number: int) -> float:
        best = self.best[number]
        return best[-1].score if len(best) == self.n_best and best[-1].finished else float("-inf")


def beam_search(state: State, constraints: Constraints, config: SearchConfig) -> list[list[Hypothesis]]:
    """The n best hypotheses of each sentence, best first, all different; fewer where fewer can be written."""
    beam = Beam.start(len(constraints.limit), constraints.limit.device)
    kept = Kept.start(constraints, config)
    while True:
        log_probs = constraints.apply(state.step(beam.last_ids), beam.ids, beam.sentence)
        values, token_ids = top_k(log_probs, min(config.beam_size, log_probs.size(1)))  # (R, K), falling
        refuse_nan(values[:, 0])
        kept.add(beam.take(values[:, 0].isneginf()))  # every next token is forbidden: it ends as it is
        parents, choices = best_continuations(beam, values, kept.places, config.beam_size)
        grown = beam.take(parents).extend(token_ids[parents, choices], values[parents, choices])
        ended = (grown.last_ids == EOS_ID) | (constraints.limit[grown.sentence] <= grown.ids.size(1))
        kept.add(grown.take(ended))
        rows = (~ended & kept.can_enter(grown)).nonzero().squeeze(1)
        if not len(rows):
            return kept.best
        beam = grown.take(rows)
        state.select(parents[rows])


def best_continuations(beam: Beam, values: Tensor, places: Tensor, beam_size: int) -> tuple[Tensor, Tensor]:
    """Of the K best next tokens of each hypothesis, those to go on with: places (B,) or fewer for each sentence.

    Args:
        values: log-probabilities (R, K) of the next tokens, -inf where forbidden.

    Returns:
        parents, choices: rows of the beam and columns of values (R',), by sentence and by falling probability.
    """
    n_sentences, n_tokens = len(places), values.size(1)
    # Hypotheses of a sentence are side by side from row first[sentence] on, so their number in it is a difference.
    first = torch.searchsorted(beam.sentence, torch.arange(n_sentences, device=places.device))
    numbers = torch.arange(len(values), device=places.device) - first[beam.sentence]
    totals = values.new_full((n_sentences, beam_size, n_tokens), float("-inf"))
    totals[beam.sentence, numbers] = values + beam.log_prob[:, None]
    best, cells = totals.flatten(1).topk(beam_size, dim=-1)  # (B, N), falling
    taken = (best > float("-inf")) & (torch.arange(beam_size, device=places.device) < places[:, None])
    sentence = taken.nonzero()[:, 0]
    cells = cells[taken]
    return first[sentence] + cells // n_tokens, cells % n_tokens
