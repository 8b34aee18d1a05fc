"""The decoder's cache: keys and values of the memory and of the tokens already read, each computed once.

B batch, H heads, S source positions, T target tokens, P those of the step before, C target tokens read so far, K head
width, D model width.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from dragoman.model.masks import decoder_mask, padding_mask


class Placed(NamedTuple):
    """Positions of new tokens, and the mask of the tokens that they may attend to."""

    positions: range | Tensor  # of the T tokens, or one position for all; see `Positions`
    mask: Tensor | None  # (B, 1, T, C), the new tokens included; None hides nothing
    parents: Tensor | None = None  # (B, T): the one of the P tokens that each follows; None for a sequence


class Heads:
    """Keys or values of the tokens read so far, in a tensor with room for more: a step writes only the new ones."""

    def __init__(self) -> None:
        self._room: Tensor | None = None  # (B, H, at least C, K)
        self._length = 0  # C

    def append(self, new: Tensor) -> Tensor:
        """Add those of T tokens, (B, H, T, K), and return all, (B, H, C, K).

        The first tensor is not copied: training reads all tokens at once, and differentiates through it.
        """
        first, self._length = self._length, self._length + new.size(2)
        if self._room is None:
            self._room = new
            return new
        if self._length > self._room.size(2):
            room = new.new_empty(*new.shape[:2], 2 * self._length, new.size(3))
            room[:, :, :first] = self._room[:, :, :first]
            self._room = room
        self._room[:, :, first : self._length] = new
        return self._room[:, :, : self._length]

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, int64 (B',), of the batch."""
        if self._room is not None:
            self._room = self._room[:, :, : self._length].index_select(0, rows)


class LayerCache:
    """One decoder layer's keys and values of the memory, and of the target tokens, or of these the states."""

    def __init__(self, memory_keys: Tensor, memory_values: Tensor, states: Tensor) -> None:
        self.memory_keys = memory_keys  # (B, H, S, K)
        self.memory_values = memory_values  # (B, H, S, W)
        self.states = states  # (B, P, D), of the recurrent unit
        self._keys, self._values = Heads(), Heads()

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add keys (B, H, T, K) and values (B, H, T, W) of new tokens, and return those of all C tokens."""
        return self._keys.append(keys), self._values.append(values)

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, int64 (B',), of the batch."""
        self.memory_keys = self.memory_keys.index_select(0, rows)
        self.memory_values = self.memory_values.index_select(0, rows)
        self.states = self.states.index_select(0, rows)
        self._keys.select(rows)
        self._values.select(rows)


class Cache(Protocol):
    """Keys and values of all decoder layers, and the positions of the tokens that are read next."""

    layers: list[LayerCache]
    source_mask: Tensor | None  # (B, 1, 1, S)

    def place(self, target_ids: Tensor) -> Placed:
        """Return the positions of target_ids (B, T), which are read next, and their mask."""


class SequenceCache:
    """A cache with one sequence in each row, read token by token or all at once."""

    def __init__(self, layers: list[LayerCache], source_mask: Tensor | None, pad_id: int) -> None:
        self.layers = layers
        self.source_mask = source_mask
        self._pad_id = pad_id
        self._target_mask: Tensor | None = None  # (B, 1, 1, C)

    @property
    def length(self) -> int:
        """The number of tokens already read, C."""
        return 0 if self._target_mask is None else self._target_mask.size(-1)

    def place(self, target_ids: Tensor) -> Placed:
        """They follow those already read; each sees no padding, and no later token.

        The first position is the start of the sentence, which all see: its id may be that of padding.
        """
        mask = padding_mask(target_ids, self._pad_id)
        if not self.length:
            mask[..., 0] = True
        positions = range(self.length, self.length + target_ids.size(1))
        self._target_mask = mask if self._target_mask is None else torch.cat((self._target_mask, mask), dim=-1)
        return Placed(positions, decoder_mask(self._target_mask, target_ids.size(1)))
