"""What a decoder need not compute twice: the keys and values of the memory, and of the positions already read.

N rows (sentences, or hypotheses of a beam), H heads, S source positions, T target positions so far, K head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """One decoder layer's keys and values."""

    memory_keys: Tensor  # (N, H, S, K)
    memory_values: Tensor  # (N, H, S, K)
    keys: Tensor | None = None  # (N, H, T, K)
    values: Tensor | None = None  # (N, H, T, K)

    @property
    def length(self) -> int:
        """T, the number of target positions already read."""
        return 0 if self.keys is None else self.keys.size(2)

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new positions, (N, H, t, K), and return those of all positions."""
        if self.keys is None or self.values is None:
            self.keys, self.values = keys, values
        else:
            self.keys = torch.cat((self.keys, keys), dim=2)
            self.values = torch.cat((self.values, values), dim=2)
        return self.keys, self.values


@dataclass
class Cache:
    """The whole decoder's keys and values, with the masks that belong to them. Its owner creates and reorders it."""

    layers: list[LayerCache]
    source_mask: Tensor  # (N, 1, 1, S)
    target_mask: Tensor  # (N, 1, 1, T)
    sources: Tensor  # (N,): which of the sentences it was started with each row belongs to

    @property
    def length(self) -> int:
        """T, the number of target positions already read."""
        return self.target_mask.size(-1)

    def select(self, rows: Tensor) -> None:
        """Keep the given rows (N',) in the given order; rows may be repeated or left out."""
        sources = self.sources[rows]
        # Reordering the hypotheses of a beam leaves each row with its sentence: the memory need not move.
        moved = not torch.equal(sources, self.sources)
        self.sources = sources
        self.target_mask = self.target_mask.index_select(0, rows)
        if moved:
            self.source_mask = self.source_mask.index_select(0, rows)
        for layer in self.layers:
            if moved:
                layer.memory_keys = layer.memory_keys.index_select(0, rows)
                layer.memory_values = layer.memory_values.index_select(0, rows)
            if layer.keys is not None and layer.values is not None:
                layer.keys, layer.values = layer.keys.index_select(0, rows), layer.values.index_select(0, rows)
