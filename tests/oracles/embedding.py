"""Ids to vectors, and tables of positions, in NumPy.

B sentences, T tokens, D model width, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dragoman.bundle.layout import EmbeddingLayout
from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig
from oracles.folding import needs_centring


class Embedding:
    """Vectors of tokens, plus those of positions where the model adds them."""

    def __init__(self, weights: Mapping[str, Floats], layout: EmbeddingLayout, config: ModelConfig) -> None:
        self.tokens = weights[layout.tokens.name]  # (V, D)
        self.scale = np.float32(math.sqrt(config.d_model) if config.scale_embeddings else 1.0)
        self.is_centring = needs_centring(config)
        self._learned = None if layout.positions is None else weights[layout.positions.name]
        halves = config.positions == "halves"
        has_table = halves or config.positions == "sinusoidal"
        self._table = PositionTable(config.max_length, config.d_model, halves=halves) if has_table else None

    def __call__(self, ids: Ints, positions: slice) -> Floats:
        """Return the vectors of ids (B, T) at `positions`, one for each or one for all: (B * T, D).

        Raises:
            IndexError: an id or a position that the model does not have.
        """
        if ids.min(initial=0) < 0:
            raise IndexError("an id that is not in the vocabulary")
        x = self.tokens[ids] * self.scale
        added = self.position_vectors(positions)
        if added is not None:
            x += added
        x = x.reshape(-1, x.shape[2])
        return centred(x) if self.is_centring else x

    def position_vectors(self, positions: slice) -> Floats | None:
        """Return what is added to embeddings at `positions`, (T, D), or None where nothing is."""
        if self._table is not None:
            return self._table.rows(positions)
        return None if self._learned is None else self._learned[positions]


class PositionTable:
    """Rows of sines and cosines, computed as far as the longest sequence so far: `max_length` may be a million.

    Threads may share one. Nobody changes a table whose rows were returned; a longer one takes its place.
    """

    def __init__(self, max_length: int, width: int, *, halves: bool) -> None:
        self._max_length, self._width, self._halves = max_length, width, halves
        self._table = np.empty((0, width), dtype=np.float32)

    def rows(self, positions: slice) -> Floats:
        """Return the rows of `positions`, (T, width). Keep them as long as their address is used.

        Raises:
            IndexError: the model has no such positions.
        """
        table = self._table
        if positions.stop > len(table):
            if positions.stop > self._max_length:
                raise IndexError(f"position {positions.stop - 1} of a model that has {self._max_length}")
            n_rows = min(max(2 * len(table), positions.stop), self._max_length)
            more = sinusoidal_table(range(len(table), n_rows), self._width, halves=self._halves)
            self._table = table = np.concatenate((table, more))
        return table[positions]


def centred(x: Floats) -> Floats:
    """Return rows minus their means: x (X, D) -> (X, D)."""
    total: Floats = np.add.reduce(x, axis=1, keepdims=True)
    return x - total * np.float32(1 / x.shape[1])
