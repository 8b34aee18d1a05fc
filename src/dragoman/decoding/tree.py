"""What the hypotheses of a batch have written, as one tree a sentence, and a cache of its keys and values.

B sentences, N places for hypotheses of each, C tokens that the hypotheses of a sentence have written in all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.cache import Placed, SequenceCache


class TreeCache:
    """A cache in which the N hypotheses of a sentence are N queries over one memory and over all they have written.

    The keys and values of every token stay where they were first put; a mask says which tokens lie on the path of each
    hypothesis. So hypotheses branch, end and change places without any of them being copied, and the memory of a
    sentence, too, is there once.
    """

    def __init__(self, empty: SequenceCache) -> None:
        self.layers = empty.layers
        self.source_mask = empty.source_mask
        self._n_steps = 0
        self._paths: Tensor | None = None  # (B, N, C): which tokens each has written; None while all have all

    def place(self, target_ids: Tensor) -> Placed:
        """target_ids (B, N) all stand at the next position; each sees itself and the path that led to it."""
        positions = range(self._n_steps, self._n_steps + 1)
        self._n_steps += 1
        if self._paths is None:
            return Placed(positions, None)
        n_sentences, n_places = target_ids.shape
        itself = torch.eye(n_places, dtype=torch.bool, device=target_ids.device).expand(n_sentences, -1, -1)
        self._paths = torch.cat((self._paths, itself), dim=2)
        return Placed(positions, self._paths[:, None])

    def select(self, sentences: Tensor, parents: Tensor) -> None:
        """Keep the given sentences (B',), and let their N' places go on from the places parents (B', N')."""
        if self._paths is None and parents.size(1) > 1:
            self._paths = torch.ones(len(self._memory), 1, self._n_steps, dtype=torch.bool, device=parents.device)
        if self._paths is not None:
            self._paths = self._paths[sentences[:, None], parents]
        if len(sentences) < len(self._memory):
            for layer in self.layers:
                layer.select(sentences)
            if self.source_mask is not None:
                self.source_mask = self.source_mask.index_select(0, sentences)

    @property
    def _memory(self) -> Tensor:
        return self.layers[0].memory_keys
