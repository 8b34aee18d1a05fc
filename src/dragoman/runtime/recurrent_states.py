"""The states of the recurrent units of a compiled model, from step to step of a search.

L decoder layers, B sentences at the start, B' of them left, N slots of each, R rows (open slots), D model width.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dragoman.decoding.grid import parent_slots
from dragoman.machine.arrays import Bools, Ints
from dragoman.native.kernels import address
from dragoman.settings.model_config import ModelConfig

#: The fields of the structure `Step` for a model that has no states.
NO_STATES: Mapping[str, int | None] = {"states": None, "parents": None, "n_parents": 0, "next_states": None}


class RecurrentStates:
    """The states of the rows of the latest step: each step reads them, and writes those of its own rows."""

    def __init__(self, config: ModelConfig, n_sentences: int) -> None:
        self._n_layers, self._width = config.n_decoder_layers, config.d_model
        self._states = np.empty((self._n_layers, 0, self._width), dtype=np.float32)  # (L, R, D)
        self._row_of = np.zeros((n_sentences, 1), dtype=np.int64)  # (B, N): the row of each slot that is open

    def next_step(self, sentences: Ints, ancestry: Bools | None, slots: Ints, n_slots: int) -> Mapping[str, int | None]:
        """Return the fields of the structure `Step` for the states, which are kept until the next call.

        Args:
            sentences: those that are left, by their numbers among the B, (B',).
            ancestry, slots: see `dragoman.decoding.state.Steps`.
            n_slots: N.
        """
        shape = len(sentences), n_slots
        slots_before = np.zeros(shape, np.int64) if ancestry is None else parent_slots(ancestry, self._row_of.shape[1])
        self._parents = self._row_of[sentences[:, None], slots_before].reshape(-1)[slots]
        rows = np.zeros(shape, dtype=np.int64)
        rows.reshape(-1)[slots] = np.arange(len(slots))
        self._row_of = np.zeros((len(self._row_of), n_slots), dtype=np.int64)
        self._row_of[sentences] = rows
        self._before = self._states
        self._states = np.empty((self._n_layers, len(slots), self._width), dtype=np.float32)
        return {
            "states": address(self._before) if self._before.size else None,
            "parents": address(self._parents),
            "n_parents": self._before.shape[1],
            "next_states": address(self._states),
        }
