"""A model under test with its vocabularies, and made-up sentences for it.

B batch, S source, T target, V target vocabulary.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.errors import ConfigError


@dataclass(frozen=True)
class Side:
    """The vocabulary of one side."""

    vocab_size: int
    pad_id: int
    special_ids: frozenset[int]

    @property
    def ids(self) -> list[int]:
        """All ids except padding, and except special ids if the vocabulary has more than a few others."""
        without = self.special_ids if self.vocab_size > 8 else {self.pad_id}
        return [id for id in range(self.vocab_size) if id not in without]

    def padded(self, ids: Tensor, n_pads: int) -> Tensor:
        """Return ids (B, T) with padding after each row, (B, T + n_pads)."""
        return F.pad(ids, (0, n_pads), value=self.pad_id)


def both_sides(
    model: nn.Module, source_vocab_size: int | None, target_vocab_size: int | None, pad_id: int | None
) -> tuple[Side, Side]:
    """Return both sides, as given, else from the model.

    Raises:
        ConfigError: a size or the padding is neither given nor named by the model.
    """
    config, special_ids = getattr(model, "config", None), getattr(model, "special_ids", None)
    pair = (None, None) if special_ids is None else (special_ids.source, special_ids.target)
    sizes = {"source_vocab_size": source_vocab_size, "target_vocab_size": target_vocab_size}
    sides = []
    for (name, value), ids in zip(sizes.items(), pair, strict=True):
        size = _known(name, value, getattr(config, name, None))
        pad = _known("pad_id", pad_id, None if ids is None else ids.pad)
        sides.append(Side(size, pad, frozenset((0, 1, 2, 3, pad) if ids is None else ids.names)))
    return sides[0], sides[1]


def _known(name: str, given: int | None, from_model: int | None) -> int:
    value = from_model if given is None else given
    if value is None:
        raise ConfigError(f"the model does not say its {name}", advice=f"give check(..., {name}=...)")
    return value


class ModelUnderTest:
    """A copy of the model without dropout, and made-up sentences for it."""

    def __init__(self, model: nn.Module, source: Side, target: Side, *, seed: int) -> None:
        self.model = copy.deepcopy(model).float().eval()
        self.device = next(self.model.parameters()).device
        self.source_side, self.target_side = source, target
        longest = getattr(getattr(model, "config", None), "max_length", 12)
        self.n_source, self.n_target = min(9, longest), min(7, longest)
        generator = torch.Generator().manual_seed(seed)
        # The start id does not occur in a sentence: with rotary positions, "a a" cannot be told from "a".
        self.start_id = min({0, 1} - {target.pad_id})
        self.source = self._sentences(self.n_source, source.ids, generator)
        self.target = self._sentences(self.n_target, [id for id in target.ids if id != self.start_id], generator)

    def _sentences(self, length: int, ids: list[int], generator: torch.Generator) -> Tensor:
        """Return random sentences (4, length), each different from the others."""
        allowed = torch.tensor(ids)
        drawn = torch.randint(len(allowed), (4, length), generator=generator)
        drawn[:, 0] = torch.randperm(max(4, len(allowed)), generator=generator)[:4] % len(allowed)
        return allowed[drawn].to(self.device)

    @torch.no_grad()
    def logits(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits (B, T, V) in float32."""
        logits: Tensor = self.model(source, target)
        return logits.float()

    def other(self, ids: Tensor, side: Side) -> Tensor:
        """Replace each id by the next one of a side."""
        allowed = torch.tensor(side.ids, device=ids.device)
        return allowed[(torch.searchsorted(allowed, ids.contiguous()) + 1) % len(allowed)]
