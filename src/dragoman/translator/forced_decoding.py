"""Forced decoding: models read given translations as if they wrote them. It gives probabilities and attention.

B pairs, S source, T target tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.alignment.capture import capture_attention
from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import token_weights
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.text.special_ids import SpecialIdPair
from dragoman.translator.padding import pad, pad_sources

#: The ids of a source and of a target, without special ones.
IdPair = tuple[Sequence[int], Sequence[int]]


def pad_pairs(pairs: Sequence[IdPair], special_ids: SpecialIdPair, device: str | torch.device) -> tuple[Tensor, Tensor]:
    """Add the end mark to each source and the start to each target, and pad: (B, S) and (B, T) on a device."""
    source_ids = pad_sources([source for source, _ in pairs], special_ids.source)
    target_ids = pad([[special_ids.target.start, *target] for _, target in pairs], special_ids.target.pad)
    return torch.from_numpy(source_ids).to(device), torch.from_numpy(target_ids).to(device)


@torch.inference_mode()
def forced_log_probs(models: Sequence[Transformer], pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
    """Return the log-probabilities of each pair's target tokens and of the end of the sentence.

    Those of several models are the logarithm of their mean probability.
    """
    special_ids = models[0].special_ids
    with_end = [(source, [*target, special_ids.target.end]) for source, target in pairs]
    source_ids, target_ids = pad_pairs(with_end, special_ids, _device(models[0]))
    by_model = []
    for model in models:
        log_probs = model(source_ids, target_ids[:, :-1]).log_softmax(dim=-1, dtype=torch.float32)
        by_model.append(log_probs.gather(-1, target_ids[:, 1:, None]).squeeze(-1))
    averaged = torch.stack(by_model).logsumexp(dim=0) - math.log(len(models))
    return [tuple(row[: len(target) + 1]) for row, (_, target) in zip(averaged.tolist(), pairs, strict=True)]


@torch.inference_mode()
def forced_attention(model: Transformer, pairs: Sequence[IdPair], heads: AlignmentHeads) -> list[Tensor]:
    """Return each pair's mean attention of `heads` from target to source tokens: (T, S), without special tokens."""
    source_ids, target_ids = pad_pairs(pairs, model.special_ids, _device(model))
    with capture_attention(model, ["cross"]) as maps:
        model.decode(target_ids, model.encode(source_ids), padding_mask(source_ids, model.special_ids.source.pad))
    weights = token_weights(maps["cross"], heads).cpu()
    return [rows[: len(target), : len(source)] for rows, (source, target) in zip(weights, pairs, strict=True)]


def _device(model: Transformer) -> torch.device:
    return next(model.parameters()).device
