"""All that search knows of a model: start, step, select. One Transformer, several as one, or a table in a test.

B sentences, R rows (hypotheses now open), S source, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from dragoman.errors import ConfigError, DragomanError
from dragoman.model.cache import Cache
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer

#: On a CPU, the scores of so many rows are normalised while they are still in its cache.
ROWS_AT_ONCE = 64


class State(Protocol):
    """Rows that are being written, each one token longer after every step."""

    def step(self, last_ids: Tensor) -> Tensor:
        """last_ids (R,), what each row wrote last -> natural-log probabilities of its next token, float32 (R, V).

        The result is the caller's to change.
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
    """One Transformer and the keys and values it has computed."""

    def __init__(self, model: Transformer, source_ids: Tensor) -> None:
        self._model = model
        source_mask = padding_mask(source_ids, model.config.pad_id)
        self._cache: Cache = model.start_cache(model.encode(source_ids), source_mask)

    @torch.inference_mode()
    def step(self, last_ids: Tensor) -> Tensor:
        """See `State`."""
        hidden = self._model.step(last_ids[:, None], self._cache)[:, -1]
        log_probs = hidden.new_empty(len(hidden), self._model.config.target_vocab_size, dtype=torch.float32)
        n_rows = ROWS_AT_ONCE if hidden.device.type == "cpu" else max(1, len(hidden))
        for rows, into in zip(hidden.split(n_rows), log_probs.split(n_rows), strict=True):
            into.copy_(torch.log_softmax(self._model.project(rows), dim=-1, dtype=torch.float32))
        return log_probs

    @torch.inference_mode()
    def select(self, rows: Tensor) -> None:
        """See `State`."""
        if not torch.equal(rows, torch.arange(self._cache.sources.size(0), device=rows.device)):
            self._cache.select(rows)


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
