"""Logits of a bundle, compared with those of a model of transformers."""

from __future__ import annotations

from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.agreement import made_up_sources


def logits_difference(bundle: Bundle, model: Any) -> float:
    """Return the largest difference of a logit, for sentences of several lengths in one batch."""
    ids, tokenizers = bundle.tokenizers.special_ids, bundle.tokenizers
    sources = [[*source, ids.source.end] for source in list(made_up_sources(tokenizers.source, 20, ""))[:8]]
    targets = [[ids.target.start, *target] for target in list(made_up_sources(tokenizers.target, 20, ""))[-8:]]
    width, length = max(map(len, sources)), min(map(len, targets))
    source_ids = torch.tensor([source + [ids.source.pad] * (width - len(source)) for source in sources])
    target_ids = torch.tensor([target[:length] for target in targets])
    mask = torch.tensor([[1] * len(source) + [0] * (width - len(source)) for source in sources])
    with torch.no_grad():
        theirs = model(input_ids=source_ids, attention_mask=mask, decoder_input_ids=target_ids).logits
        return float((bundle.model(source_ids, target_ids) - theirs).abs().max())
