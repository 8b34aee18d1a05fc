"""Forced decoding in PyTorch: on a GPU, all tokens at once.

B pairs, S source, T target tokens, L decoder layers, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.alignment.capture import capture_attention
from dragoman.machine.arrays import Floats, Ints
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer


@torch.inference_mode()
def forced_log_probs(model: Transformer, source_ids: Ints, target_ids: Ints) -> Floats:
    """See `dragoman.runtime.forced_steps.forced_log_probs`."""
    sources, targets = on_device(model, source_ids), on_device(model, target_ids)
    log_probs = model(sources, targets[:, :-1]).log_softmax(dim=-1, dtype=torch.float32)
    chosen: Floats = log_probs.gather(-1, targets[:, 1:, None]).squeeze(-1).cpu().numpy()
    return chosen


@torch.inference_mode()
def forced_attention(model: Transformer, source_ids: Ints, target_ids: Ints) -> Floats:
    """See `dragoman.runtime.forced_steps.forced_attention`."""
    sources, targets = on_device(model, source_ids), on_device(model, target_ids)
    with capture_attention(model, ["cross"]) as maps:
        model.decode(targets, model.encode(sources), padding_mask(sources, model.special_ids.source.pad))
    cross: Floats = maps["cross"].float().cpu().numpy()
    return cross


def on_device(model: Transformer, ids: Ints) -> Tensor:
    """Return ids as a tensor beside the model's weights."""
    return torch.from_numpy(ids).to(next(model.parameters()).device)
