"""All that search knows of a model: start, step, select. One Transformer, several as one, or a table in a test.

B sentences, R rows (hypotheses now open), S source, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from dragoman.decoding.tree import TreeCache
from dragoman.errors import ConfigError, DragomanError
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer

#: On a CPU, the scores of so many rows are normalised while they are still in its cache.
ROWS_AT_ONCE = 64
#: Sentences that are done leave the cache, which is copied then, when no more than this part of them is still open.
SENTENCES_KEPT = 0.75


class State(Protocol):
    """Rows that are being written, each one token longer after every step."""

    def step(self, last_ids: Tensor) -> Tensor:
        """last_ids (R,), what each row wrote last -> natural-log probabilities of its next token, float32 (R, V).

        The result is the caller's to change, until the next step.
        """

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, int64 (R',), in that order; a row may be repeated or left out."""


class Scorer(Protocol):
    """Where a search gets its probabilities from."""

    @property
    def vocab_size(self) -> int:
        """V."""

    @property
    def max_length(self) -> int:
        """The most steps a state can take."""

    def start(self, source_ids: Tensor) -> State:
        """source_ids (B, S), ending in eos and then padding -> a state of one row a sentence that has read nothing."""


class TransformerScorer:
    """One Transformer, or several as an ensemble: the mean of their probabilities.

    Raises:
        ConfigError: no model, vocabularies of different sizes, or (at `start`) a model in training mode.
    """

    def __init__(self, models: Sequence[Transformer]) -> None:
        if not models:
            raise ConfigError("an ensemble of no models")
        self.models = tuple(models)
        sizes = {(model.config.source_vocab_size, model.config.target_vocab_size) for model in models}
        if len(sizes) > 1:
            raise ConfigError(
                "the models of an ensemble have vocabularies of different sizes (source, target): "
                + ", ".join(str(pair) for pair in sorted(sizes)),
                advice="give models that were trained with the same tokenizers",
            )
        ((_, self.vocab_size),) = sizes
        self.max_length = min(model.config.max_length for model in models)

    @torch.inference_mode()
    def start(self, source_ids: Tensor) -> State:
        """See `Scorer`."""
        if any(model.training for model in self.models):
            raise ConfigError("search with a model in training mode", advice="call model.eval(), then model.train()")
        states = [TransformerState(model, source_ids) for model in self.models]
        return states[0] if len(states) == 1 else EnsembleState(states)


class TransformerState:
    """One Transformer, and a grid of places for hypotheses, N for each of B sentences, with the keys and values of all.

    A place whose hypothesis has ended stays, unused, until a good part of the sentences is done: then they leave.
    """

    def __init__(self, model: Transformer, source_ids: Tensor) -> None:
        self._model = model
        self._log_probs = torch.empty(0)  # memory that every step writes to again: fresh memory would cost more
        source_mask = padding_mask(source_ids, model.config.pad_id)
        memories = model.encode(source_ids)
        self._cache = TreeCache(model.start_cache(memories, None if bool(source_mask.all()) else source_mask))
        self._shape = (len(source_ids), 1)  # B, N
        self._places = torch.arange(len(source_ids), device=source_ids.device)  # (R,): of each row, in the grid

    @torch.inference_mode()
    def step(self, last_ids: Tensor) -> Tensor:
        """See `State`."""
        in_grid = last_ids.new_full(self._shape, self._model.config.pad_id)
        in_grid.view(-1)[self._places] = last_ids
        hidden = self._model.step(in_grid, self._cache).flatten(0, 1)[self._places]
        if hidden.device.type != "cpu":
            return self._model.project(hidden).log_softmax(dim=-1, dtype=torch.float32)
        if len(hidden) > len(self._log_probs):
            self._log_probs = torch.empty(len(hidden), self._model.config.target_vocab_size)
        log_probs = self._log_probs[: len(hidden)]
        for rows, into in zip(hidden.split(ROWS_AT_ONCE), log_probs.split(ROWS_AT_ONCE), strict=True):
            scores = self._model.project(rows)
            torch.sub(scores, log_sum_exp(scores), out=into)
        return log_probs

    @torch.inference_mode()
    def select(self, rows: Tensor) -> None:
        """See `State`."""
        places = self._places[rows]
        if torch.equal(places, self._places):
            return
        n_sentences, n_places = self._shape
        owner, parent = places // n_places, places % n_places
        n_rows = torch.bincount(owner, minlength=n_sentences)  # of each sentence
        sentences = n_rows.nonzero().squeeze(1)
        if len(sentences) > SENTENCES_KEPT * n_sentences:
            sentences = torch.arange(n_sentences, device=rows.device)
        self._shape = (len(sentences), int(n_rows.max()))
        self._places = torch.searchsorted(sentences, owner) * self._shape[1] + _number_within(owner, n_rows)
        parents = parent.new_zeros(self._shape)
        parents.view(-1)[self._places] = parent
        self._cache.select(sentences, parents)


def _number_within(owner: Tensor, n_rows: Tensor) -> Tensor:
    """For each row, how many rows of the same owner come before it: owner (R,), n_rows (B,) of each -> (R,)."""
    order = owner.argsort(stable=True)
    first = n_rows.cumsum(0) - n_rows
    number = torch.empty_like(owner)
    number[order] = torch.arange(len(owner), device=owner.device) - first[owner[order]]
    return number


class EnsembleState:
    """Several states as one whose probabilities are the mean of theirs."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states

    def step(self, last_ids: Tensor) -> Tensor:
        """See `State`."""
        log_probs = torch.stack([state.step(last_ids) for state in self._states])
        return log_probs.logsumexp(dim=0).sub_(math.log(len(self._states)))

    def select(self, rows: Tensor) -> None:
        """See `State`."""
        for state in self._states:
            state.select(rows)


def log_sum_exp(scores: Tensor) -> Tensor:
    """The logarithm of the sum of the exponentials of each row of scores (R, V) -> float32 (R, 1)."""
    total = scores.exp().sum(dim=-1, keepdim=True, dtype=torch.float32)
    # Scores of a trained model are small numbers. Only where that is not so must the highest be taken out first.
    if bool(((total > 1e-20) & (total < 1e30)).all()):
        return total.log()
    return scores.float().logsumexp(dim=-1, keepdim=True)


def refuse_nan(best: Tensor) -> None:
    """Check the highest log-probability of each row (R,): where a row has a NaN, PyTorch takes that for its highest.

    Raises:
        DragomanError: one is NaN, which would be chosen as if it were the best.
    """
    if bool(best.isnan().any()):
        raise DragomanError(
            "the model gives probabilities that are not numbers (NaN)",
            advice="its weights are damaged or its arithmetic overflows; use another checkpoint, or float32",
        )
