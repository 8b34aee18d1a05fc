"""Keys and values in NumPy, of the memory and of the target tokens read so far.

B sentences, S source, N slots of a sentence, C tokens read for it, H heads, K and W widths of a key and a value.
"""

from __future__ import annotations

import numpy as np

from dragoman.machine.arrays import Floats, Ints


class LayerCache:
    """One decoder layer's keys and values, in arrays with room for more: a step writes only the new ones."""

    def __init__(self, memory_keys: Floats, memory_values: Floats, d_model: int) -> None:
        self.memory_keys, self.memory_values = memory_keys, memory_values  # (B, H, S, K) and (B, H, S, W)
        n_sentences, n_heads, _, d_k = memory_keys.shape
        self._keys = np.empty((n_sentences, n_heads, 0, d_k), dtype=np.float32)
        self._values = np.empty((n_sentences, n_heads, 0, memory_values.shape[3]), dtype=np.float32)
        self._length = 0  # C
        self.states = np.zeros((n_sentences, 1, d_model), dtype=np.float32)  # (B, N, D), of a recurrent unit
        #: The attention to the memory of the last step, (B, H, N, S).
        self.memory_weights = np.empty((n_sentences, n_heads, 0, memory_keys.shape[2]), dtype=np.float32)

    def append(self, keys: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Add those of N tokens, (B, H, N, K) and (B, H, N, W), and return all, (B, H, C, K) and (B, H, C, W)."""
        first, self._length = self._length, self._length + keys.shape[2]
        if self._length > self._keys.shape[2]:
            self._keys, self._values = (_with_room(table, 2 * self._length) for table in (self._keys, self._values))
        self._keys[:, :, first : self._length] = keys
        self._values[:, :, first : self._length] = values
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def keep(self, sentences: Ints) -> None:
        """Keep the given sentences (B',)."""
        self.memory_keys, self.memory_values = self.memory_keys[sentences], self.memory_values[sentences]
        self._keys, self._values = self._keys[sentences], self._values[sentences]
        self.states = self.states[sentences]


def _with_room(array: Floats, length: int) -> Floats:
    """(B, H, C, K) -> the same with room for `length` tokens."""
    n_sentences, n_heads, used, width = array.shape
    roomy = np.empty((n_sentences, n_heads, length, width), dtype=np.float32)
    roomy[:, :, :used] = array
    return roomy
