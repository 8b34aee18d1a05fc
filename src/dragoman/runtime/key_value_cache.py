"""Keys and values of the tokens that a compiled model has read, where the kernels find them."""

from __future__ import annotations

import numpy as np

from dragoman.machine.arrays import Ints
from dragoman.native.kernels import Kernels, address, header
from dragoman.settings.model_config import ModelConfig


class KeyValueCache:
    """Keys and values of all decoder layers, in the shapes that attention.h draws: a struct for each layer."""

    def __init__(self, config: ModelConfig, kernels: Kernels, n_sentences: int, n_tokens: int) -> None:
        n_layers, (d_k, d_v), lanes = config.n_decoder_layers, config.head_widths, kernels.lanes
        shape = n_sentences, config.n_heads, rounded_up(n_tokens, lanes) // lanes
        shapes = (*shape, rounded_up(d_k, kernels.pack) * lanes), (*shape, lanes * rounded_up(d_v, lanes))
        self._lanes = lanes
        # Zeros, because the kernels multiply what lies behind the last token of a block, too.
        self._arrays = [[np.zeros(shape, dtype=kernels.operand) for shape in shapes] for _ in range(n_layers)]
        self.structs = (header().type("KeyValueCache") * n_layers)()
        self._set_addresses()

    def reserve(self, n_tokens: int, expected: int, rows: Ints) -> None:
        """Make room for `n_tokens` of each sentence in `rows`.

        If there is not enough, make room for twice as many or for the expected number, whichever is more.
        """
        n_blocks = self._arrays[0][0].shape[2]
        if n_tokens > n_blocks * self._lanes:
            more = rounded_up(max(2 * n_tokens, expected), self._lanes) // self._lanes
            for arrays in self._arrays:
                for number, array in enumerate(arrays):
                    # Zeros take no RAM until they are written over.
                    arrays[number] = np.zeros((*array.shape[:2], more, array.shape[3]), dtype=array.dtype)
                    arrays[number][rows, :, :n_blocks] = array[rows]
            self._set_addresses()

    def _set_addresses(self) -> None:
        for struct, (keys, values) in zip(self.structs, self._arrays, strict=True):
            struct.keys, struct.values, struct.blocks = address(keys), address(values), keys.shape[2]


def rounded_up(number: int, unit: int) -> int:
    """Return the least multiple of `unit` that is not below `number`."""
    return -(-number // unit) * unit
