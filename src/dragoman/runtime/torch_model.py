"""A `dragoman.Transformer` for the search: on a GPU, in doubles, or where no library of the engine runs.

B sentences, S source, N slots for hypotheses of a sentence, R of them open, C tokens read for a sentence, V target
vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from dragoman.decoding.grid import parent_slots
from dragoman.decoding.scores import FORBIDDEN
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.model.cache import Placed, SequenceCache
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair


class TorchModel:
    """A Transformer on any device (`dragoman.decoding.state.Model`)."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self._device = next(model.parameters()).device

    @property
    def config(self) -> ModelConfig:
        """The model's configuration."""
        return self.model.config

    @property
    def special_ids(self) -> SpecialIdPair:
        """The special ids of the model's vocabularies."""
        return self.model.special_ids

    @torch.no_grad()
    def start(self, source_ids: Ints) -> TorchSteps:
        """Read the sources (B, S), which end in eos and then padding.

        Raises:
            ConfigError: the model is in training mode.
        """
        if self.model.training:
            raise ConfigError("search with a model in training mode", advice="call model.eval(), then model.train()")
        ids = torch.from_numpy(source_ids).to(self._device)
        source_mask = padding_mask(ids, self.special_ids.source.pad)
        empty = self.model.start_cache(self.model.encode(ids), None if bool(source_mask.all()) else source_mask)
        return TorchSteps(self.model, GridCache(empty))


class GridCache:
    """A decoder's cache (`dragoman.model.cache.Cache`) which is told the positions of the next tokens."""

    def __init__(self, empty: SequenceCache) -> None:
        self.layers = empty.layers
        self.source_mask = empty.source_mask
        self.placed = Placed(range(0), None)

    def place(self, target_ids: Tensor) -> Placed:
        """Return the positions and the mask that were set for target_ids (B, N)."""
        return self.placed


class TorchSteps:
    """Sentences that are being translated, and their cache."""

    def __init__(self, model: Transformer, cache: GridCache) -> None:
        self._model, self._cache = model, cache

    @torch.no_grad()
    def step(self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints) -> TensorScores:
        """See `dragoman.decoding.state.Steps`."""
        tokens = self._tensor(ids)
        mask = parents = None
        if ancestry is not None:
            mask = self._tensor(ancestry)[:, None]
            if self._model.config.decoder_layer == "ssru":
                parents = self._tensor(parent_slots(ancestry, self._cache.layers[0].states.size(1)))
        self._cache.placed = Placed(range(position, position + 1), mask, parents)
        hidden = self._model.step(tokens, self._cache).flatten(0, 1)[self._tensor(slots)]
        return TensorScores(self._model.project(hidden).log_softmax(dim=-1, dtype=torch.float32))

    @torch.no_grad()
    def keep(self, sentences: Ints) -> None:
        """See `dragoman.decoding.state.Steps`."""
        rows = self._tensor(sentences)
        for layer in self._cache.layers:
            layer.select(rows)
        if self._cache.source_mask is not None:
            self._cache.source_mask = self._cache.source_mask.index_select(0, rows)

    def _tensor(self, array: Ints | Bools) -> Tensor:
        return torch.from_numpy(array).to(self._cache.layers[0].memory_keys.device)


@dataclass(frozen=True)
class TensorScores:
    """Scores that stay on their device: only the highest leave it."""

    log_probs: Tensor  # (R, V)

    def at(self, rows: Ints, ids: Ints) -> Floats:
        """See `dragoman.decoding.scores.Scores`."""
        return _array(self.log_probs[self._tensor(rows), self._tensor(ids)])

    def forbid_everywhere(self, ids: Sequence[int]) -> None:
        """See `dragoman.decoding.scores.Scores`."""
        self.log_probs[:, list(ids)] = float(FORBIDDEN)

    def forbid(self, rows: Ints, ids: Ints) -> None:
        """See `dragoman.decoding.scores.Scores`."""
        self.log_probs[self._tensor(rows), self._tensor(ids)] = float(FORBIDDEN)

    def multiply(self, rows: Ints, ids: Ints, factor: float) -> None:
        """See `dragoman.decoding.scores.Scores`."""
        self.log_probs[self._tensor(rows), self._tensor(ids)] *= factor

    def force(self, rows: Ints, ids: Ints, values: Floats) -> None:
        """See `dragoman.decoding.scores.Scores`."""
        self.log_probs[self._tensor(rows)] = float(FORBIDDEN)
        self.log_probs[self._tensor(rows), self._tensor(ids)] = torch.from_numpy(values).to(self.log_probs.device)

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        """See `dragoman.decoding.scores.Scores`."""
        if k == 1:  # several times as fast
            values, ids = self.log_probs.max(dim=-1, keepdim=True)
        else:
            values, ids = self.log_probs.topk(min(k, self.log_probs.size(1)), dim=-1)
        return _array(values), cast("Ints", ids.cpu().numpy())

    def array(self) -> Floats:
        """See `dragoman.decoding.scores.Scores`."""
        return _array(self.log_probs)

    def _tensor(self, array: Ints) -> Tensor:
        return torch.from_numpy(array).to(self.log_probs.device)


def _array(tensor: Tensor) -> Floats:
    return cast("Floats", tensor.cpu().numpy())
