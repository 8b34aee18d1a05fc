"""Given translations, which models read as if they had written them: how probable they are, and what they attend to.

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
from dragoman.text.vocabulary import EOS_ID, SOS_ID
from dragoman.translator.batching import pad

#: The ids of a source and of a target, without special ones.
IdPair = tuple[Sequence[int], Sequence[int]]


def pad_on(rows: Sequence[Sequence[int]], device: str | torch.device) -> Tensor:
    """Rows of ids -> (B, S) on a device, padded."""
    return torch.from_numpy(pad(rows)).to(device)


@torch.inference_mode()
def forced_log_probs(models: Sequence[Transformer], pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
    """The log-probability of each target token, and of the end of the sentence, for each pair; that of the mean of the
    models' probabilities."""
    device = _device(models[0])
    source_ids = pad_on([[*source, EOS_ID] for source, _ in pairs], device)
    target_ids = pad_on([[SOS_ID, *target, EOS_ID] for _, target in pairs], device)
    of_models = []
    for model in models:
        log_probs = model(source_ids, target_ids[:, :-1]).log_softmax(dim=-1, dtype=torch.float32)
        of_models.append(log_probs.gather(-1, target_ids[:, 1:, None]).squeeze(-1))
    averaged = torch.stack(of_models).logsumexp(dim=0) - math.log(len(models))
    return [tuple(row[: len(target) + 1]) for row, (_, target) in zip(averaged.tolist(), pairs, strict=True)]


@torch.inference_mode()
def forced_attention(model: Transformer, pairs: Sequence[IdPair], heads: AlignmentHeads) -> list[Tensor]:
    """What each target token of each pair attends to, by the mean of `heads`: (T, S), without special tokens."""
    device = _device(model)
    source_ids = pad_on([[*source, EOS_ID] for source, _ in pairs], device)
    target_ids = pad_on([[SOS_ID, *target] for _, target in pairs], device)
    with capture_attention(model, ["cross"]) as maps:
        model.decode(target_ids, model.encode(source_ids), padding_mask(source_ids, model.config.pad_id))
    weights = token_weights(maps["cross"], heads).cpu()
    return [each[: len(target), : len(source)] for each, (source, target) in zip(weights, pairs, strict=True)]


def _device(model: Transformer) -> torch.device:
    return next(model.parameters()).device
