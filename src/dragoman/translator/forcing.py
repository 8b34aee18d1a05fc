"""Given translations, which models read as if they had written them: how probable they are, and what they attend to.

B pairs, S source, T target tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from dragoman.alignment import AlignmentHeads, capture_attention, token_weights
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID

#: The ids of a source and of a target, without special ones.
IdPair = tuple[Sequence[int], Sequence[int]]


def pad(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Rows of ids -> (B, S), padded."""
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD_ID).to(device)


def batches(costs: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Indices in batches of similar cost, the longest first; rows times the highest cost stays within `batch_size`,
    except for a batch of one."""
    batch: list[int] = []
    for row in sorted(range(len(costs)), key=lambda row: -costs[row]):
        if batch and (len(batch) + 1) * costs[batch[0]] > batch_size:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def pair_batches(pairs: Sequence[IdPair], batch_size: int) -> Iterator[list[int]]:
    """Indices of pairs in batches, each pair at the cost of its longer side."""
    return batches([max(map(len, pair)) + 1 for pair in pairs], batch_size)


@torch.inference_mode()
def forced_log_probs(models: Sequence[Transformer], pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
    """The log-probability of each target token, and of the end of the sentence, for each pair; that of the mean of the
    models' probabilities."""
    device = _device(models[0])
    source_ids = pad([[*source, EOS_ID] for source, _ in pairs], device)
    target_ids = pad([[SOS_ID, *target, EOS_ID] for _, target in pairs], device)
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
    source_ids = pad([[*source, EOS_ID] for source, _ in pairs], device)
    # A target that was cut at the greatest length cannot be read with its last token.
    target_ids = pad([[SOS_ID, *target][: model.config.max_length] for _, target in pairs], device)
    with capture_attention(model, ["cross"]) as maps:
        model.decode(target_ids, model.encode(source_ids), padding_mask(source_ids, model.config.pad_id))
    n_unread = max(len(target) for _, target in pairs) + 1 - target_ids.size(1)
    weights = token_weights(F.pad(maps["cross"], (0, 0, 0, n_unread)), heads).cpu()
    return [each[: len(target), : len(source)] for each, (source, target) in zip(weights, pairs, strict=True)]


def _device(model: Transformer) -> torch.device:
    return next(model.parameters()).device
