"""All that search knows of a model: start, step, select. One Transformer, several as one, or a table in a test.

B sentences, R rows (hypotheses now open), S source, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from dragoman.decoding.grid import Grid
from dragoman.decoding.scores import ROWS_AT_ONCE, ArrayScores, Scores
from dragoman.errors import ConfigError, StoppedError
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair


class State(Protocol):
    """Rows that are being written, each one token longer after every step."""

    def step(self, last_ids: Ints) -> Scores:
        """last_ids (R,), what each row wrote last -> the log-probabilities of its next token, (R, V)."""

    def select(self, rows: Ints) -> None:
        """Keep the given rows (R',), in that order; a row may be repeated or left out."""


class Scorer(Protocol):
    """Where a search gets its probabilities from."""

    @property
    def vocab_size(self) -> int:
        """V."""

    @property
    def max_length(self) -> int:
        """The most steps a state can take."""

    @property
    def special_ids(self) -> SpecialIdPair:
        """Those of its vocabularies."""

    def start(self, source_ids: Ints) -> State:
        """source_ids (B, S), ending in eos and then padding -> a state of one row a sentence that has read nothing."""


class Steps(Protocol):
    """A model in the middle of some sentences: what it keeps of the source and of the tokens read so far."""

    def step(self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints) -> Scores:
        """Read one more token in each slot of a grid, and return the scores (R, V) of the rows' next tokens.

        Args:
            ids: the tokens, (B, N).
            position: of all these tokens.
            ancestry: (B, N, C), True for those of the C tokens read for a sentence, these included, that each slot
                attends to; None if it attends to all.
            slots: the slot (R,) of each row, in the flattened grid.
        """

    def keep(self, sentences: Ints) -> None:
        """Drop all sentences but these (B',)."""


class Model(Protocol):
    """A Transformer that can be searched with, whatever computes it."""

    @property
    def config(self) -> ModelConfig:
        """Its shape."""

    @property
    def special_ids(self) -> SpecialIdPair:
        """Those of its vocabularies."""

    def start(self, source_ids: Ints) -> Steps:
        """Read the sources (B, S)."""


class TransformerScorer:
    """One Transformer, or several as an ensemble: the mean of their probabilities.

    Raises:
        ConfigError: no model, vocabularies of different sizes, or different special ids.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ConfigError("an ensemble of no models")
        self._models = tuple(models)
        sizes = {(model.config.source_vocab_size, model.config.target_vocab_size) for model in models}
        if len(sizes) > 1:
            raise ConfigError(
                "the models of an ensemble have vocabularies of different sizes (source, target): "
                + ", ".join(str(pair) for pair in sorted(sizes)),
                advice="give models that were trained with the same tokenizers",
            )
        ((_, self.vocab_size),) = sizes
        self.special_ids = models[0].special_ids
        if any(model.special_ids != self.special_ids for model in models):
            raise ConfigError(
                "the models of an ensemble have different special ids",
                advice="give models that were trained with the same tokenizers",
            )
        self.max_length = min(model.config.max_length for model in models)

    def start(self, source_ids: Ints) -> State:
        """See `Scorer`; ValueError for a source of padding alone, which has nothing to attend to."""
        if not (source_ids != self.special_ids.source.pad).any(axis=1).all():
            raise ValueError("a source without tokens")
        pad_id = self.special_ids.target.pad
        states = [TransformerState(model.start(source_ids), len(source_ids), pad_id) for model in self._models]
        return states[0] if len(states) == 1 else EnsembleState(states)


class TransformerState:
    """The rows of one Transformer, in the slots of a grid."""

    def __init__(self, steps: Steps, n_sentences: int, pad_id: int) -> None:
        self._steps = steps
        self._grid = Grid(n_sentences)
        self._pad_id = pad_id

    def step(self, last_ids: Ints) -> Scores:
        """See `State`."""
        grid = self._grid
        ids = grid.place(last_ids, self._pad_id)
        return self._steps.step(ids, grid.n_steps - 1, grid.ancestry, grid.slots)

    def select(self, rows: Ints) -> None:
        """See `State`."""
        kept = self._grid.select(rows)
        if kept is not None:
            self._steps.keep(kept)


class EnsembleState:
    """Several states as one whose probabilities are the mean of theirs."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states

    def step(self, last_ids: Ints) -> Scores:
        """See `State`."""
        total, *others = (state.step(last_ids).array() for state in self._states)
        for log_probs in others:
            for first in range(0, len(total), ROWS_AT_ONCE):
                add_probabilities(total[first : first + ROWS_AT_ONCE], log_probs[first : first + ROWS_AT_ONCE])
        total -= np.float32(math.log(len(self._states)))
        return ArrayScores(total)

    def select(self, rows: Ints) -> None:
        """See `State`."""
        for state in self._states:
            state.select(rows)


class StoppableState:
    """Another state, which asks before every step if it should stop."""

    def __init__(self, state: State, should_stop: Callable[[], bool]) -> None:
        self._state, self._should_stop = state, should_stop

    def step(self, last_ids: Ints) -> Scores:
        """See `State`.

        Raises:
            StoppedError: the search should stop.
        """
        if self._should_stop():
            raise StoppedError("the search was stopped before it was done")
        return self._state.step(last_ids)

    def select(self, rows: Ints) -> None:
        """See `State`."""
        self._state.select(rows)


def add_probabilities(log_probs: Floats, others: Floats) -> None:
    """log(exp(log_probs) + exp(others)) (R, V), written to `log_probs`, as `np.logaddexp` does slowly."""
    higher, lower = np.maximum(log_probs, others), np.minimum(log_probs, others)
    np.maximum(higher, np.finfo(np.float32).min, out=log_probs)  # a number to take off, where both are -inf
    lower -= log_probs
    np.exp(lower, out=lower)
    lower += 1
    np.log(lower, out=lower)
    np.add(higher, lower, out=log_probs)
