"""Masks: the positions that a query may attend to. **True = may attend**, everywhere.

B batch, T queries, S keys. Every mask broadcasts against attention scores of shape (B, H, T, S).
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide padding from every query: ids (B, S) -> (B, 1, 1, S)."""
    return (ids != pad_id)[:, None, None, :]


def causal_mask(n_queries: int, n_keys: int, device: torch.device | None = None) -> Tensor:
    """Hide the future (section 3.2.3): (T, S), query t may attend to keys up to itself.

    The queries are the last T of the S positions, so one step with a cache asks for (1, S).
    """
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(n_keys - n_queries)


def decoder_mask(target_mask: Tensor, n_queries: int) -> Tensor:
    """Hide padding and the future at once: target_mask (B, 1, 1, S) -> (B, 1, T, S)."""
    return target_mask & causal_mask(n_queries, target_mask.size(-1), target_mask.device)
