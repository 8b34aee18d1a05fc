"""The interface between a search and a model: start, step, select. The model is a Transformer, an ensemble, or a table.

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
    """Rows that are being written. Each is one token longer after every step."""

    def step(self, last_ids: Ints) -> Scores:
        """Read the token that each row wrote last, (R,), and return the scores of its next token, (R, V)."""

    def select(self, rows: Ints) -> None:
        """Keep the given rows (R',), in that order; a row may be repeated or left out."""


class Scorer(Protocol):
    """A source of probabilities for a search."""

    @property
    def vocab_size(self) -> int:
        """The number of target tokens, V."""

    @property
    def max_length(self) -> int:
        """The number of steps that a state can take."""

    @property
    def special_ids(self) -> SpecialIdPair:
        """The special ids of its vocabularies."""

    def start(self, source_ids: Ints) -> State:
        """Read source_ids (B, S), which end in eos and then padding, and return a state with one row a sentence."""


class Steps(Protocol):
    """A model's memory of the sources, and its keys and values of the tokens read so far."""

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
        """Drop all sentences except these (B',)."""


class Model(Protocol):
    """A Transformer in any engine."""

    @property
    def config(self) -> ModelConfig:
        """Its architecture and sizes."""

    @property
    def special_ids(self) -> SpecialIdPair:
        """The special ids of its vocabularies."""

    def start(self, source_ids: Ints) -> Steps:
        """Read the sources (B, S)."""


class TransformerScorer:
    """One Transformer, or an ensemble, which averages the probabilities of several.

    Raises:
        ConfigError: no model, vocabularies of different sizes, or different special ids.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ConfigError("an ensemble of no models")
        #: The models, whose probabilities are averaged.
        self.models = tuple(models)
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
        """Begin a search.

        Raises:
            ValueError: a source is padding alone, so that there is nothing to attend to.
        """
        if not (source_ids != self.special_ids.source.pad).any(axis=1).all():
            raise ValueError("a source without tokens")
        pad_id = self.special_ids.target.pad
        states = [TransformerState(model.start(source_ids), len(source_ids), pad_id) for model in self.models]
        return states[0] if len(states) == 1 else EnsembleState(states)


class TransformerState:
    """The rows of one Transformer, in the slots of a grid."""

    def __init__(self, steps: Steps, n_sentences: int, pad_id: int) -> None:
        self._steps = steps
        self._grid = Grid(n_sentences)
        self._pad_id = pad_id

    def step(self, last_ids: Ints) -> Scores:
        grid = self._grid
        ids = grid.place(last_ids, self._pad_id)
        return self._steps.step(ids, grid.n_steps - 1, grid.ancestry, grid.slots)

    def select(self, rows: Ints) -> None:
        kept = self._grid.select(rows)
        if kept is not None:
            self._steps.keep(kept)


class EnsembleState:
    """Several states as one, with the mean of their probabilities."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states

    def step(self, last_ids: Ints) -> Scores:
        total, *others = (state.step(last_ids).array() for state in self._states)
        for log_probs in others:
            for first in range(0, len(total), ROWS_AT_ONCE):
                add_probabilities(total[first : first + ROWS_AT_ONCE], log_probs[first : first + ROWS_AT_ONCE])
        total -= np.float32(math.log(len(self._states)))
        return ArrayScores(total)

    def select(self, rows: Ints) -> None:
        for state in self._states:
            state.select(rows)


class StoppableState:
    """Another state that can be stopped before every step."""

    def __init__(self, state: State, should_stop: Callable[[], bool]) -> None:
        self._state, self._should_stop = state, should_stop

    def step(self, last_ids: Ints) -> Scores:
        """Take a step of the other state.

        Raises:
            StoppedError: should_stop returned True.
        """
        if self._should_stop():
            raise StoppedError("the search was stopped before it was done")
        return self._state.step(last_ids)

    def select(self, rows: Ints) -> None:
        self._state.select(rows)


def add_probabilities(log_probs: Floats, others: Floats) -> None:
    """Set log_probs (R, V) to log(exp(log_probs) + exp(others)), faster than `np.logaddexp`."""
    higher, lower = np.maximum(log_probs, others), np.minimum(log_probs, others)
    np.maximum(higher, np.finfo(np.float32).min, out=log_probs)  # -inf - -inf would be NaN
    lower -= log_probs
    np.exp(lower, out=lower)
    lower += 1
    np.log(lower, out=lower)
    np.add(higher, lower, out=log_probs)
