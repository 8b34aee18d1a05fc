"""One step of a beam search (`dragoman.decoding.beam`) as operations on tensors of fixed shapes.

Nothing is read from the device, so the step can be captured and replayed. Hypotheses are in N slots a sentence, the
more probable in the lower; a slot whose log_prob is -inf is closed. What they write is a tree, as in
`dragoman.decoding.grid`: a token stays where it was written, and `path` and `parents` say which tokens came before.
A beam of one is greedy search.

B sentences, N slots, C steps that there is room for, K next tokens of each hypothesis, V target vocabulary, F forbidden
ids, P periods of repetitions, t steps before this rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import torch
from torch import Tensor

from dragoman.decoding.faults import PERIODS
from dragoman.decoding.hypothesis import length_penalty
from dragoman.settings.search_config import SearchConfig

#: Events of a slot in a step: its new hypothesis has written the end mark, also with a fault; its new hypothesis is
#: kept, because the sentence is decided; its old hypothesis is kept, because no token may follow, or at its limit.
ENDED, FAULTY, SETTLED, STUCK, LIMIT = 1, 2, 4, 8, 16
#: Values of `chosen_start`: no hypothesis is kept yet; the best one is shorter than the cut, or has a fault.
NO_START, OTHER_START = -1, -2
#: In place of tokens that cannot be repeated: those before the first, and those of a prefix.
NO_TOKEN = -1
#: Greater than any length: the cut of a search that has none.
NEVER = 2**30


@dataclass
class SentenceTensors:
    """Knowledge about each of B sentences. The first dimension is the sentence, so that rows can be copied."""

    written: Tensor  # (B,): most tokens that are written, the end mark included
    usual_lengths: Tensor  # (B, 2): a hypothesis with fewer tokens than the first, or more than the second, has a fault
    fewest_repeats: Tensor  # (B, P): repetitions that are a fault
    largest_penalty: Tensor  # (B,): the length penalty at the natural limit
    forbidden: Tensor  # (B, F): ids that are never written; padding is one of them, and fills the rows
    forced: Tensor  # (B, C): the ids of the prefix, and then -1
    last_ids: Tensor  # (B, N)
    log_prob: Tensor  # (B, N), float32 as in the search in Python, so that both rank alike; -inf in closed slots
    total: Tensor  # (B, N): the same in float64, for scores
    path: Tensor  # (B, N, C): the slots whose tokens each hypothesis has read, and then -1
    recent: Tensor  # (B, N, P): its own latest tokens, the last one first; NO_TOKEN before the first
    runs: Tensor  # (B, N, P): its latest tokens in a row that equal those one period earlier
    is_repetitive: Tensor  # (B, N)
    width: Tensor  # (B,): most open hypotheses
    best_scores: Tensor  # (B, n_best): of the hypotheses that ended without a fault, falling; -inf for none
    chosen_start: Tensor  # (B,): the slot with the last token before the cut, of the best hypothesis; or NO_START, ...
    tokens: Tensor  # (B, C, N): the token that each slot wrote in each step
    parents: Tensor  # (B, C, N): the slot of the hypothesis that it continues
    log_probs: Tensor  # (B, C, N): of the token
    events: Tensor  # (B, C, N)

    def tensors(self) -> Iterator[Tensor]:
        """Yield all tensors, in the order of their names."""
        return (getattr(self, field.name) for field in fields(self))

    @property
    def is_open(self) -> Tensor:
        """(B,): True for sentences that have an open hypothesis."""
        return (self.log_prob > -torch.inf).any(dim=1)

    def close_all(self) -> None:
        """Make of old contents those of sentences that are done; others can then be copied over a part of them."""
        self.log_prob.fill_(-torch.inf)
        self.path.fill_(-1)
        self.forced.fill_(-1)


@dataclass
class SearchTensors:
    """Tensors that all sentences of a search share."""

    n_written: Tensor  # (1,): t
    penalties: Tensor  # (longest + 2,), float64: length penalties by length
    min_length: Tensor  # (1,)
    cut: Tensor  # (1,): the tokens to which the best hypothesis is cut in the end, its end mark included; or NEVER
    has_nan: Tensor  # (1,): a score was not a number
    end_id: int

    @classmethod
    def on(cls, device: torch.device, max_length: int, end_id: int) -> Self:
        """Return the tensors for searches on a device that write at most max_length tokens."""
        ints = torch.zeros(1, dtype=torch.int64, device=device)
        penalties = torch.ones(max_length + 2, dtype=torch.float64, device=device)
        return cls(ints, penalties, ints.clone(), ints.clone(), ints.bool(), end_id)

    def begin(self, config: SearchConfig) -> None:
        """Set them for a search that has written nothing."""
        penalties = [length_penalty(n, config.length_penalty) for n in range(len(self.penalties))]
        self.n_written.zero_()
        self.penalties.copy_(torch.tensor(penalties, dtype=torch.float64))
        self.min_length.fill_(config.min_length)
        self.cut.fill_(NEVER if config.max_length is None or config.n_best > 1 else config.max_length)
        self.has_nan.zero_()


class Grown(NamedTuple):
    """The hypotheses after a step, (B, N), also those that have ended; closed slots continue whatever is there."""

    parents: Tensor  # the slot that each continues
    tokens: Tensor
    token_log_probs: Tensor
    log_prob: Tensor
    total: Tensor
    is_taken: Tensor  # there is such a hypothesis
    has_ended: Tensor
    slots: Tensor  # (N,): their numbers

    def from_parents(self, of_slots: Tensor) -> Tensor:
        """Return what is known of each one's parent: (B, N, ...) -> the same shape."""
        if of_slots.size(1) == 1:
            return of_slots
        index = self.parents.view(*self.parents.shape, *[1] * (of_slots.dim() - 2))
        return of_slots.gather(1, index.expand(of_slots.shape))


def advance(search: SearchTensors, rows: SentenceTensors, scores: Tensor) -> None:
    """Continue all hypotheses by one token, or end them: scores (B, N, V) are the log-probabilities of the next ones.

    The scores are overwritten.
    """
    t = search.n_written
    values, ids, is_own = _next_tokens(search, rows, scores)
    is_open = rows.log_prob > -torch.inf
    best = values[..., 0]
    search.has_nan.logical_or_((is_open & best.isnan()).any())
    is_stuck = is_open & (best == -torch.inf)
    rows.width.sub_(is_stuck.sum(dim=1))
    grown = _grown(search, rows, values, ids)
    is_last = (rows.written == t + 1)[:, None]
    going_on = grown.is_taken & ~grown.has_ended & ~is_last
    events = grown.has_ended * ENDED + is_stuck * STUCK
    if rows.log_prob.size(1) == 1:
        is_continued = grown.has_ended
    else:
        going_on, more_events = _still_wanted(search, rows, grown, is_stuck, going_on)
        events += more_events
        _follow_repetitions(rows, grown, is_own)
        is_continued = ((grown.parents[:, None] == grown.slots[:, None]) & grown.has_ended[:, None]).any(dim=2)
    events += (is_last & is_open & ~is_stuck & ~is_continued) * LIMIT
    news = (grown.tokens, grown.parents, grown.token_log_probs, events)
    for record, new in zip((rows.tokens, rows.parents, rows.log_probs, rows.events), news, strict=True):
        record.index_copy_(1, t, new[:, None].to(record.dtype))
    if rows.log_prob.size(1) > 1:
        rows.path.copy_(grown.from_parents(rows.path))
    rows.total.copy_(grown.total)
    rows.last_ids.copy_(grown.tokens)
    rows.log_prob.copy_(grown.log_prob.masked_fill(~going_on, -torch.inf))
    t.add_(1)


def _grown(search: SearchTensors, rows: SentenceTensors, values: Tensor, ids: Tensor) -> Grown:
    """Return the most probable continuations of each sentence: as many as it may have open hypotheses.

    Of equal ones, the first in the order of slots and tokens comes first.

    Args:
        values: log-probabilities of the next tokens `ids`, (B, N, K), falling.
    """
    n_slots, n_tokens = values.shape[1:]
    # A closed slot has -inf, also if its score is not a number.
    sums = (values + rows.log_prob[..., None]).masked_fill_((rows.log_prob == -torch.inf)[..., None], -torch.inf)
    if n_slots == 1:
        parents, log_prob, tokens, token_log_probs = ids[..., 0] * 0, sums[..., 0], ids[..., 0], values[..., 0]
        total = rows.total + token_log_probs
    else:
        log_prob, cells = (part[:, :n_slots] for part in sums.flatten(1).sort(dim=1, descending=True, stable=True))
        parents = cells // n_tokens
        tokens, token_log_probs = ids.flatten(1).gather(1, cells), values.flatten(1).gather(1, cells)
        total = rows.total.gather(1, parents) + token_log_probs
    slots = torch.arange(n_slots, device=values.device)
    is_taken = (log_prob > -torch.inf) & (slots < rows.width[:, None])
    has_ended = is_taken & (tokens == search.end_id)
    rows.width.sub_(has_ended.sum(dim=1))
    return Grown(parents, tokens, token_log_probs, log_prob, total, is_taken, has_ended, slots)


def _still_wanted(
    search: SearchTensors, rows: SentenceTensors, grown: Grown, is_stuck: Tensor, going_on: Tensor
) -> tuple[Tensor, Tensor]:
    """Return which hypotheses (B, N) of those that may go on can become one of the n best, and the events of others.

    See `dragoman.decoding.beam.Kept`, `can_enter` and `settle`.
    """
    t, path = search.n_written, grown.from_parents(rows.path)
    is_odd = (t < rows.usual_lengths[:, 0]) | (t > rows.usual_lengths[:, 1])
    is_faulty = grown.has_ended & (grown.from_parents(rows.is_repetitive) | is_odd[:, None])
    _keep_scores(search, rows, grown, path, is_faulty, is_stuck)
    penalty = torch.maximum(rows.largest_penalty, search.penalties.index_select(0, t + 2).float())[:, None]
    going_on = going_on & (grown.log_prob / penalty > rows.best_scores[:, -1:].float())
    is_settled = going_on & _is_decided(search, rows, path, going_on)
    return going_on & ~is_settled, is_faulty * FAULTY + is_settled * SETTLED


def _next_tokens(search: SearchTensors, rows: SentenceTensors, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the most probable tokens that may follow each hypothesis, falling: log-probabilities and ids (B, N, K).

    Also return if the sentence's next token is its own, not one of a prefix: (B, 1).
    """
    n_sentences, n_slots, n_tokens = scores.shape
    forced = rows.forced.index_select(1, search.n_written)  # (B, 1)
    is_own = forced < 0
    shape = n_sentences, n_slots, 1
    forced_ids = forced.clamp(min=0)[:, None].expand(shape)
    forced_log_probs = scores.gather(2, forced_ids)  # a token of a prefix keeps its probability
    scores.scatter_(2, rows.forbidden[:, None].expand(n_sentences, n_slots, rows.forbidden.size(1)), -torch.inf)
    scores[..., search.end_id].masked_fill_(search.n_written < search.min_length, -torch.inf)
    if n_slots == 1:
        values, ids = scores.max(dim=2, keepdim=True)
    else:
        values, ids = scores.topk(min(n_slots, n_tokens), dim=2)
    is_own = is_own[..., None]  # (B, 1, 1)
    values = torch.cat(
        (torch.where(is_own, values[..., :1], forced_log_probs), values[..., 1:].masked_fill(~is_own, -torch.inf)), 2
    )
    ids = torch.where(is_own, ids, forced_ids)
    return values, ids, is_own[..., 0]


def _keep_scores(
    search: SearchTensors, rows: SentenceTensors, grown: Grown, path: Tensor, is_faulty: Tensor, is_stuck: Tensor
) -> None:
    """Enter the hypotheses that end in this step, (B, N), into `best_scores` and `chosen_start`."""
    t, before = search.n_written, rows.best_scores[:, 0]
    scores = grown.total / search.penalties.index_select(0, t + 1)
    scores = scores.masked_fill_(~grown.has_ended | is_faulty, -torch.inf)
    best, slot = scores.max(dim=1)
    start = _starts(search, path).gather(1, slot[:, None])[:, 0].masked_fill(t < search.cut, OTHER_START)
    is_bad_best = (is_stuck | is_faulty).any(dim=1) & (before == -torch.inf)
    start = torch.where(best > before, start, rows.chosen_start.masked_fill(is_bad_best, OTHER_START))
    rows.chosen_start.copy_(start)
    rows.best_scores.copy_(torch.cat((rows.best_scores, scores), dim=1).topk(rows.best_scores.size(1), dim=1).values)


def _is_decided(search: SearchTensors, rows: SentenceTensors, path: Tensor, going_on: Tensor) -> Tensor:
    """Return True for the sentences, (B, 1), whose best translation is known up to the cut.

    All hypotheses that can still be the best then begin with the same tokens: those of one slot and its parents.
    """
    starts = _starts(search, path)
    lowest = starts.masked_fill(~going_on, path.size(1)).amin(dim=1)
    highest = starts.masked_fill(~going_on, NO_START).amax(dim=1)
    is_like_best = (rows.chosen_start == NO_START) | (rows.chosen_start == lowest)
    is_one = (lowest == highest) & is_like_best & (search.n_written + 1 >= search.cut)
    return is_one[:, None]


def _starts(search: SearchTensors, path: Tensor) -> Tensor:
    """Return the slots, (B, N), that have the last token before the cut."""
    return path.index_select(2, (search.cut - 1).clamp(max=path.size(2) - 1))[..., 0]


def _follow_repetitions(rows: SentenceTensors, grown: Grown, is_own: Tensor) -> None:
    """Notice the repetitions that end with the new tokens, if these are no prefix, (B, 1); see `FaultFinder`."""
    periods = torch.arange(PERIODS.start, PERIODS.stop, device=is_own.device)
    recent, own = grown.from_parents(rows.recent), grown.tokens.masked_fill(~is_own, NO_TOKEN)[..., None]
    runs = (grown.from_parents(rows.runs) + 1) * ((recent == own) & (own != NO_TOKEN))
    # A row of equal tokens is no repetition of longer sequences.
    is_varied = (periods == 1) | (runs[..., :1] < periods - 1)
    is_new = (((runs + periods) // periods >= rows.fewest_repeats[:, None]) & is_varied).any(dim=2)
    rows.is_repetitive.copy_(grown.from_parents(rows.is_repetitive) | is_new)
    rows.runs.copy_(runs)
    rows.recent.copy_(torch.cat((own, recent[..., :-1]), dim=2))
