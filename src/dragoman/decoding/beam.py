"""Beam search over a batch of sentences, each with its own number of open hypotheses.

At every step each sentence keeps its N most probable continuations, N less those that have already ended. One that
writes the end mark leaves the beam and is kept; so the beam narrows, rows that are done cost nothing, and a beam of
one is greedy search. A sentence is done when none of its open hypotheses can still enter its n best. A finished one
with a fault (`faults`) keeps no other out, so that the search goes on for one without.

B sentences, N beam size, R open hypotheses of all sentences together, V vocabulary, t tokens written so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dragoman.decoding.constraints import Constraints
from dragoman.decoding.faults import FaultFinder
from dragoman.decoding.hypothesis import Hypothesis, best_first, length_penalty
from dragoman.decoding.scores import FORBIDDEN, refuse_nan
from dragoman.decoding.state import State
from dragoman.machine.arrays import Floats, Ints
from dragoman.settings.search_config import SearchConfig


@dataclass(frozen=True)
class Beam:
    """R hypotheses, those of a sentence side by side, the most probable first."""

    sentence: Ints  # (R,): which sentence of the batch it translates
    ids: Ints  # (R, t)
    token_log_probs: Floats  # (R, t)
    log_prob: Floats  # (R,): the sum of token_log_probs

    @classmethod
    def start(cls, n_sentences: int) -> Self:
        """One hypothesis a sentence, with nothing written; it branches at the first step."""
        nothing = np.zeros((n_sentences, 0), dtype=np.float32)
        return cls(np.arange(n_sentences), nothing.astype(np.int64), nothing, nothing.sum(axis=1))

    @property
    def last_ids(self) -> Ints:
        """(R,): what each hypothesis wrote last."""
        return self.ids[:, -1]

    def take(self, rows: Ints | NDArray[np.bool_]) -> Self:
        """The hypotheses that `rows`, a mask (R,) or numbers (R',), says."""
        return type(self)(self.sentence[rows], self.ids[rows], self.token_log_probs[rows], self.log_prob[rows])

    def extend(self, token_ids: Ints, token_log_probs: Floats) -> Self:
        """Each hypothesis with one more token: token_ids and token_log_probs (R,)."""
        return type(self)(
            self.sentence,
            np.concatenate((self.ids, token_ids[:, None]), axis=1),
            np.concatenate((self.token_log_probs, token_log_probs[:, None]), axis=1),
            self.log_prob + token_log_probs,
        )


@dataclass
class Kept:
    """The best hypotheses of each sentence that have left the beam."""

    n_best: int
    max_length: int | None  # what the hypotheses are cut to in the end
    alpha: float  # exponent of the length penalty
    end_id: int
    places: Ints  # (B,): how many open hypotheses each sentence may have; the beam size less those that ended
    largest_penalty: Floats  # (B,): the length penalty at the sentence's natural limit
    bar: Floats  # (B,): the score of the worst of the n best, -inf while there are fewer or that one has a fault
    finders: Sequence[FaultFinder]  # (B,): of faults; none if they do not count
    best: list[list[Hypothesis]] = field(default_factory=list)

    @classmethod
    def start(cls, constraints: Constraints, config: SearchConfig) -> Self:
        """Nothing kept yet."""
        limits, alpha = constraints.natural_limit, config.length_penalty
        return cls(
            n_best=config.n_best,
            max_length=config.max_length,
            alpha=alpha,
            end_id=constraints.special_ids.end,
            places=np.full_like(limits, config.beam_size),
            largest_penalty=np.array([length_penalty(n, alpha) for n in limits.tolist()], dtype=np.float32),
            bar=np.full(len(limits), -np.inf, dtype=np.float32),
            # Who forbids n-grams to repeat has chosen a way to deal with loops.
            finders=() if config.no_repeat_ngram else constraints.finders,
            best=[[] for _ in limits],
        )

    def add(self, beam: Beam, ended: NDArray[np.bool_]) -> None:
        """Of the hypotheses that have ended, (R,) of a beam, keep those that are among the n best of their sentence."""
        if not ended.any():
            return
        beam = beam.take(ended)
        np.subtract.at(self.places, beam.sentence, 1)
        numbers = beam.sentence.tolist()
        for number, ids, values in zip(numbers, beam.ids.tolist(), beam.token_log_probs.tolist(), strict=True):
            hypothesis = Hypothesis.of(ids, values, self.alpha, finished=ids[-1:] == [self.end_id])
            if hypothesis.finished and self.finders:
                hypothesis = replace(hypothesis, faults=self.finders[number].find(hypothesis.ids))
            self.best[number] = best_first([*self.best[number], hypothesis])[: self.n_best]
        self.bar[beam.sentence] = [self._bar(number) for number in numbers]

    def can_enter(self, beam: Beam) -> NDArray[np.bool_]:
        """(R,): whether a hypothesis that goes on may still become one of its sentence's n best.

        Its log-probability can only fall and its length penalty only grow, up to that of the natural limit, so
        log_prob / largest_penalty is the best score it can reach. Beyond that limit, where only a larger max_length
        leads, it has to be good enough with its next token: so more room never changes what was found with less.
        """
        next_penalty = np.float32(length_penalty(beam.ids.shape[1] + 1, self.alpha))
        penalty = np.maximum(self.largest_penalty[beam.sentence], next_penalty)
        can: NDArray[np.bool_] = beam.log_prob / penalty > self.bar[beam.sentence]
        return can

    def settle(self, beam: Beam, going_on: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Keep those whose sentence is decided, though they go on: return the others, (R,) as `going_on`.

        The best of a sentence, cut to max_length, is decided when all that can still be the best are longer and begin
        with the same tokens.
        """
        if self.max_length is None or self.n_best > 1 or beam.ids.shape[1] < self.max_length:
            return going_on
        n_tokens = self.max_length - 1
        starts: dict[int, set[tuple[int, ...] | None]] = {}
        for number, ids in zip(beam.sentence[going_on].tolist(), beam.ids[going_on, :n_tokens].tolist(), strict=True):
            starts.setdefault(number, set()).add(tuple(ids))
        for number in starts:
            starts[number].update(
                each.ids[:n_tokens] if len(each.ids) > n_tokens else None for each in self.best[number]
            )
        decided = [number for number in starts if len(starts[number]) == 1]
        settled = going_on & np.isin(beam.sentence, decided)
        self.add(beam, settled)
        rest: NDArray[np.bool_] = going_on & ~settled
        return rest

    def _bar(self, number: int) -> float:
        best = self.best[number]
        is_full = len(best) == self.n_best and best[-1].finished and not best[-1].faults
        return best[-1].score if is_full else float("-inf")


def beam_search(state: State, constraints: Constraints, config: SearchConfig) -> list[list[Hypothesis]]:
    """The n best hypotheses of each sentence, best first, all different; fewer where fewer can be written.

    They are whole: a `max_length` below the natural limit does not change them.
    """
    beam, special_ids = Beam.start(len(constraints.limit)), constraints.special_ids
    last_ids = np.full_like(beam.sentence, special_ids.start)
    kept = Kept.start(constraints, config)
    while True:
        scores = state.step(last_ids)
        constraints.apply(scores, beam.ids, beam.sentence)
        values, token_ids = scores.top_k(config.beam_size)  # (R, K), falling
        best = values[:, 0]
        if not (best > FORBIDDEN).all():
            refuse_nan(best)
            kept.add(beam, best == FORBIDDEN)  # every next token is forbidden: it ends as it is
        parents, choices = best_continuations(beam, values, kept.places, config.beam_size)
        grown = beam.take(parents).extend(token_ids[parents, choices], values[parents, choices])
        ended = grown.last_ids == special_ids.end
        kept.add(grown, ended)
        last = constraints.at_limit(beam.ids.shape[1], beam.sentence)
        going_on = kept.settle(grown, ~ended & ~last[parents] & kept.can_enter(grown))
        if last.any():
            last[parents[ended]] = False
            kept.add(beam, last & (best > FORBIDDEN))  # there is no room for their next token: they end as they are
        if not going_on.any():
            return kept.best
        if not going_on.all():
            grown, parents = grown.take(going_on), parents[going_on]
        beam, last_ids = grown, grown.last_ids
        state.select(parents)


def best_continuations(beam: Beam, values: Floats, places: Ints, beam_size: int) -> tuple[Ints, Ints]:
    """Of the K best next tokens of each hypothesis, those to go on with: places (B,) or fewer for each sentence.

    Args:
        values: log-probabilities (R, K) of the next tokens, -inf where forbidden.

    Returns:
        parents, choices: rows of the beam and columns of values (R',), by sentence and by falling probability.
    """
    n_sentences, n_tokens = len(places), values.shape[1]
    sentences = np.arange(n_sentences)
    # Hypotheses of a sentence are side by side from row first[sentence] on, so their number in it is a difference.
    first = beam.sentence.searchsorted(sentences)
    numbers = np.arange(len(values)) - first[beam.sentence]
    costs = np.full((n_sentences, beam_size, n_tokens), np.inf, dtype=np.float32)
    costs[beam.sentence, numbers] = -(values + beam.log_prob[:, None])
    flat = costs.reshape(n_sentences, -1)
    cells = flat.argsort(axis=1, kind="stable")[:, :beam_size]  # (B, N)
    taken = (flat[sentences[:, None], cells] < np.inf) & (np.arange(cells.shape[1]) < places[:, None])
    parents, choices = np.divmod(cells[taken], n_tokens)
    return first[taken.nonzero()[0]] + parents, choices
