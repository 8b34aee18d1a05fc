"""Forced decoding: models read given translations as if they wrote them. It gives probabilities and attention.

S source, T target tokens, L decoder layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import token_weights
from dragoman.decoding.state import Model
from dragoman.machine.arrays import Floats
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.runtime.forced_steps import forced_attention, forced_log_probs
from dragoman.translator.models import TrainedModels
from dragoman.translator.padding import IdPair, pad_pairs


class ForcedDecoder:
    """The models of a translator as readers of given translations.

    Compiled models of the search read them in its precision; else those in PyTorch do.

    Args:
        models: of the translator.
        search_models: the same in the form that searches.
    """

    def __init__(self, models: TrainedModels, search_models: Sequence[Model]) -> None:
        self._models = models
        self._search_models = search_models
        self._special_ids = search_models[0].special_ids

    def log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
        """Return the log-probabilities of each pair's target tokens and of the end of the sentence.

        Those of several models are the logarithm of their mean probability.
        """
        if not pairs:
            return []
        end = self._special_ids.target.end
        ids = pad_pairs([(source, [*target, end]) for source, target in pairs], self._special_ids)
        compiled = [model for model in self._search_models if isinstance(model, CompiledModel)]
        if len(compiled) == len(self._search_models):
            by_model = [forced_log_probs(model, *ids) for model in compiled]
        else:
            from dragoman.translator import forced_in_torch

            by_model = [forced_in_torch.forced_log_probs(model, *ids) for model in self._models.in_torch()]
        averaged = np.logaddexp.reduce(by_model, axis=0) - math.log(len(by_model))
        return [tuple(row[: len(target) + 1]) for row, (_, target) in zip(averaged.tolist(), pairs, strict=True)]

    def token_weights(self, pairs: Sequence[IdPair], heads: AlignmentHeads) -> list[Floats]:
        """Return each pair's mean attention of the first model's `heads` from target to source tokens: (T, S)."""
        return [token_weights(cross, heads) for cross in self.cross_attention(pairs)]

    def cross_attention(self, pairs: Sequence[IdPair]) -> list[Floats]:
        """Return the cross-attention of the first model for each pair, without the end marks: (L, H, T + 1, S).

        Row 0 reads the start mark and writes the first token, row t reads the t-th and writes the next.
        """
        ids, first = pad_pairs(pairs, self._special_ids), self._search_models[0]
        if isinstance(first, CompiledModel):
            cross = forced_attention(first, *ids)
        else:
            from dragoman.translator import forced_in_torch

            cross = forced_in_torch.forced_attention(self._models.transformer(0), *ids)
        return [cross[:, row, :, : len(target) + 1, : len(source)] for row, (source, target) in enumerate(pairs)]
