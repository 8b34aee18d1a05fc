"""Beam search over a batch of sentences.

At every step a sentence keeps its N most probable continuations, N being the beam size less the hypotheses that have
ended. One that writes the end mark leaves the beam and is kept. So the beam narrows, ended rows cost nothing, and a
beam of one is greedy search. A sentence is done when none of its open hypotheses can still be one of its n best.
A finished hypothesis with a fault (`faults`) never ends the search for one without.

B sentences, N beam size, R open hypotheses of all sentences together, V vocabulary, t tokens written so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.protocol import Rows
from dragoman.decoding.faults import FaultFinder
from dragoman.decoding.guided_beam import best_tokens, shared_continuations
from dragoman.decoding.hypothesis import Hypothesis, best_first, length_penalty
from dragoman.decoding.scores import FORBIDDEN, refuse_nan
from dragoman.decoding.state import State
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.settings.search_config import SearchConfig


@dataclass(frozen=True)
class Beam:
    """R hypotheses, those of a sentence side by side, the most probable first."""

    sentence: Ints  # (R,): the sentence of the batch that each translates
    ids: Ints  # (R, t)
    token_log_probs: Floats  # (R, t)
    log_prob: Floats  # (R,): the sum of token_log_probs

    @classmethod
    def start(cls, sentence: Ints) -> Self:
        """Return hypotheses that have written nothing; they branch at the first step."""
        nothing = np.zeros((len(sentence), 0), dtype=np.float32)
        return cls(sentence, nothing.astype(np.int64), nothing, nothing.sum(axis=1))

    @property
    def rows(self) -> Rows:
        """Sentences and ids."""
        return Rows(self.sentence, self.ids)

    @property
    def last_ids(self) -> Ints:
        """(R,): the latest token of each hypothesis."""
        return self.ids[:, -1]

    def take(self, rows: Ints | Bools) -> Self:
        """Return the hypotheses that `rows` picks, a mask (R,) or numbers (R',)."""
        return type(self)(self.sentence[rows], self.ids[rows], self.token_log_probs[rows], self.log_prob[rows])

    def extend(self, token_ids: Ints, token_log_probs: Floats) -> Self:
        """Return each hypothesis with one more token: token_ids and token_log_probs (R,)."""
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
    max_length: int | None  # tokens to which the hypotheses are cut in the end
    alpha: float  # exponent of the length penalty
    end_id: int
    widths: Ints  # (B,): most open hypotheses of each sentence: the beam size less the hypotheses that have ended
    largest_penalty: Floats  # (B,): the length penalty at the sentence's natural limit; 0 for one that a rule leads
    worst_kept_score: Floats  # (B,): of the n best; -inf while they are fewer, or if the worst has a fault
    finders: Sequence[FaultFinder]  # (B,): of faults; none if faults do not count
    best: list[list[Hypothesis]] = field(default_factory=list)

    @classmethod
    def start(cls, constraints: ActiveConstraints, config: SearchConfig) -> Self:
        """Return a record that keeps nothing yet."""
        limits, alpha = constraints.limits.natural, config.length_penalty
        largest_penalty = np.array([length_penalty(n, alpha) for n in limits.tolist()], dtype=np.float32)
        if constraints.guide is not None:
            # Without its phrases a hypothesis cannot end. It would go on for long, and hardly ever become better.
            largest_penalty[constraints.guide.sentences] = 0
        return cls(
            n_best=config.n_best,
            max_length=config.max_length,
            alpha=alpha,
            end_id=constraints.special_ids.end,
            widths=np.full_like(limits, config.beam_size),
            largest_penalty=largest_penalty,
            worst_kept_score=np.full(len(limits), -np.inf, dtype=np.float32),
            # With repeated n-grams forbidden, faults do not count: the user has chosen a remedy for loops.
            finders=() if config.no_repeat_ngram else constraints.finders,
            best=[[] for _ in limits],
        )

    def add(self, beam: Beam, has_ended: Bools) -> None:
        """Keep those of the ended hypotheses, (R,) of a beam, that are among the n best of their sentence."""
        if not has_ended.any():
            return
        beam = beam.take(has_ended)
        np.subtract.at(self.widths, beam.sentence, 1)
        numbers = beam.sentence.tolist()
        for number, ids, values in zip(numbers, beam.ids.tolist(), beam.token_log_probs.tolist(), strict=True):
            hypothesis = Hypothesis.of(ids, values, self.alpha, finished=ids[-1:] == [self.end_id])
            if hypothesis.finished and self.finders:
                hypothesis = replace(hypothesis, faults=self.finders[number].find(hypothesis.ids))
            self.best[number] = best_first([*self.best[number], hypothesis])[: self.n_best]
        self.worst_kept_score[beam.sentence] = [self._worst_score(number) for number in numbers]

    def can_enter(self, beam: Beam) -> Bools:
        """Return True for each hypothesis (R,) that may still become one of its sentence's n best.

        Its log-probability can only fall and its length penalty only grow, up to that of the natural limit, so
        log_prob / largest_penalty is the best score that it can reach. Only a larger max_length leads beyond that
        limit. There it must be good enough with its next token, so a larger limit never changes the result of a
        smaller one. The same holds for a sentence that a rule leads, from its first token on.
        """
        next_penalty = np.float32(length_penalty(beam.ids.shape[1] + 1, self.alpha))
        penalty = np.maximum(self.largest_penalty[beam.sentence], next_penalty)
        can: Bools = beam.log_prob / penalty > self.worst_kept_score[beam.sentence]
        return can

    def settle(self, beam: Beam, going_on: Bools) -> Bools:
        """Keep the open hypotheses of sentences that are decided, and return the other open ones, (R,) as `going_on`.

        The best translation, cut to max_length, is decided when all hypotheses that can still be the best are longer
        and begin with the same tokens.
        """
        if self.max_length is None or self.n_best > 1 or beam.ids.shape[1] < self.max_length:
            return going_on
        n_tokens = self.max_length - 1
        starts: dict[int, set[tuple[int, ...] | None]] = {}
        for number, ids in zip(beam.sentence[going_on].tolist(), beam.ids[going_on, :n_tokens].tolist(), strict=True):
            starts.setdefault(number, set()).add(tuple(ids))
        for number in starts:
            starts[number].update(
                kept.ids[:n_tokens] if len(kept.ids) > n_tokens else None for kept in self.best[number]
            )
        decided = [number for number in starts if len(starts[number]) == 1]
        is_settled = going_on & np.isin(beam.sentence, decided)
        self.add(beam, is_settled)
        rest: Bools = going_on & ~is_settled
        return rest

    def _worst_score(self, number: int) -> float:
        best = self.best[number]
        is_full = len(best) == self.n_best and best[-1].finished and not best[-1].faults
        return best[-1].score if is_full else float("-inf")


def beam_search(state: State, constraints: ActiveConstraints, config: SearchConfig) -> list[list[Hypothesis]]:
    """Return the n best hypotheses of each sentence, best first, all different; fewer where fewer can be written.

    They are whole: a `max_length` below the natural limit does not change them.
    """
    beam, special_ids = Beam.start(constraints.sentence), constraints.special_ids
    last_ids = np.full_like(beam.sentence, special_ids.start)
    kept = Kept.start(constraints, config)
    while True:
        scores = state.step(last_ids)
        constraints.apply(scores, beam.rows)
        values, token_ids = best_tokens(
            constraints.guide, scores, config.beam_size
        )  # (R, K), falling; then wanted ones
        best = values[:, 0]
        if not (best > FORBIDDEN).all():
            refuse_nan(best)
            kept.add(beam, best == FORBIDDEN)  # every next token is forbidden: it ends as it is
        if constraints.guide is None:
            parents, choices = best_continuations(beam, values, kept.widths, config.beam_size)
        else:
            log_probs = values + beam.log_prob[:, None]
            parents, choices = shared_continuations(constraints.guide, beam.sentence, log_probs, token_ids, kept.widths)
        grown = beam.take(parents).extend(token_ids[parents, choices], values[parents, choices])
        has_ended = grown.last_ids == special_ids.end
        kept.add(grown, has_ended)
        is_last = constraints.limits.reached(beam.rows)
        going_on = kept.settle(grown, ~has_ended & ~is_last[parents] & kept.can_enter(grown))
        if is_last.any():
            is_last[parents[has_ended]] = False
            kept.add(beam, is_last & (best > FORBIDDEN))  # they have reached the limit: they end as they are
        if not going_on.any():
            return kept.best
        if not going_on.all():
            grown, parents = grown.take(going_on), parents[going_on]
        beam, last_ids = grown, grown.last_ids
        state.select(parents)
        constraints.advance(parents, last_ids)


def best_continuations(beam: Beam, values: Floats, widths: Ints, beam_size: int) -> tuple[Ints, Ints]:
    """Choose at most widths (B,) continuations from the K best next tokens of each hypothesis.

    Args:
        values: log-probabilities (R, K) of the next tokens, -inf where forbidden.

    Returns:
        parents, choices: rows of the beam and columns of values (R',), by sentence and by falling probability.
    """
    n_sentences, n_tokens = len(widths), values.shape[1]
    sentences = np.arange(n_sentences)
    # Hypotheses of a sentence are side by side from row first[sentence] on, so their number in it is a difference.
    first = beam.sentence.searchsorted(sentences)
    numbers = np.arange(len(values)) - first[beam.sentence]
    costs = np.full((n_sentences, beam_size, n_tokens), np.inf, dtype=np.float32)
    costs[beam.sentence, numbers] = -(values + beam.log_prob[:, None])
    flat = costs.reshape(n_sentences, -1)
    cells = flat.argsort(axis=1, kind="stable")[:, :beam_size]  # (B, N)
    taken = (flat[sentences[:, None], cells] < np.inf) & (np.arange(cells.shape[1]) < widths[:, None])
    parents, choices = np.divmod(cells[taken], n_tokens)
    return first[taken.nonzero()[0]] + parents, choices
