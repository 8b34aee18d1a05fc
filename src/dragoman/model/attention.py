"""Attention: a weighted mean of values, with weights from how well each key fits a query.

B batch, H heads, T queries, S keys, K width of a query or key, W width of a value, D model width.
Masks are True where a query may attend, and broadcast to (B, H, T, S).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.model.dropout import Dropout
from dragoman.model.positions import RotaryPositions
from dragoman.native import fused

#: On a CPU, over up to so many keys, our fused function is faster than PyTorch's, forward and backward, and without it
#: plain products are.
OURS, PLAIN = 256, 64
#: Numbers that a processor's widest instructions take at once.
VECTOR = 16


def attention_weights(queries: Tensor, keys: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(Q K^T / sqrt(K)), equation 1 of the paper: (B, H, T, K), (B, H, S, K) -> (B, H, T, S).

    Each row sums to one; a row with nothing to attend to is zeros.
    """
    scores = (queries / math.sqrt(queries.size(-1))) @ keys.transpose(-2, -1)
    if mask is None:
        return _softmax(scores)
    # A very low number, not -inf, whose softmax over a whole row would be NaN.
    lowest = scores.new_zeros(mask.shape).masked_fill(~mask, torch.finfo(scores.dtype).min / 2)
    return _softmax(scores + lowest).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _softmax(scores: Tensor) -> Tensor:
    """(..., S) -> (..., S). On a CPU, PyTorch needs several times longer for rows too short for its vectors."""
    n_missing = VECTOR - scores.size(-1)
    if scores.device.type != "cpu" or n_missing <= 0:
        return scores.softmax(dim=-1)
    return F.pad(scores, (0, n_missing), value=-math.inf).softmax(dim=-1)[..., :-n_missing]


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
    """attention_weights(Q, K) V, values (B, H, S, W) -> (B, H, T, W), by a fused function where that is faster.

    A query with nothing to attend to gets zeros, on every backend.

    Raises:
        TypeError: the mask is of another type than bool.
    """
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"a mask is of type torch.bool, True where a query may attend, not {mask.dtype}")
    same_heads = queries.dim() == 4 and queries.shape[:2] == keys.shape[:2] == values.shape[:2]
    for_all_heads = mask is None or (mask.dim() == 4 and mask.size(1) == 1)
    if keys.size(-2) <= OURS and same_heads and for_all_heads and fused.is_worth_it(queries, keys, values):
        return fused.attend(queries, keys, values, mask)
    if keys.device.type == "cpu" and keys.size(-2) <= PLAIN:
        return attention_weights(queries, keys, mask) @ values
    attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    if mask is None:
        return attended
    return attended.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


class MultiHeadAttention(nn.Module):
    """Attention in H subspaces side by side (section 3.2.2), for queries, keys and values from any source.

    Args:
        d_model: width D of the queries and of the result.
        n_heads: H.
        d_k, d_v: widths K and W of a head; D / H unless given.
        key_width, value_width: widths of the sources of keys and values; D unless given.
        bias: whether the four projections add a learned vector.
        dropout: probability with which an attention weight is dropped in training.
        rotary: turns queries and keys by their positions.

    Raises:
        ValueError: H does not divide D, and a width of a head is not given.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        *,
        key_width: int | None = None,
        value_width: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        if d_model % n_heads and not (d_k and d_v):
            raise ValueError(f"{n_heads} heads do not divide a width of {d_model}; give d_k and d_v")
        d_k, d_v = d_k or d_model // n_heads, d_v or d_model // n_heads
        self.query_projection = nn.Linear(d_model, n_heads * d_k, bias)
        self.key_projection = nn.Linear(key_width or d_model, n_heads * d_k, bias)
        self.value_projection = nn.Linear(value_width or d_model, n_heads * d_v, bias)
        self.output_projection = nn.Linear(n_heads * d_v, d_model, bias)
        self.dropout = Dropout(dropout)
        self.rotary = rotary

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """queries (B, T, D), keys (B, S, key_width), values (B, S, value_width) -> (B, T, D)."""
        return self.attend(queries, *self.keys_values(keys, values), mask)

    def keys_values(self, keys: Tensor, values: Tensor, positions: range | None = None) -> tuple[Tensor, Tensor]:
        """What a cache keeps: projected keys (B, H, S, K), rotated by their positions, and values (B, H, S, W)."""
        heads = self._rotate(self._split(self.key_projection(keys)), positions)
        return heads, self._split(self.value_projection(values))

    def query_heads(self, queries: Tensor, positions: range | None = None) -> Tensor:
        """Projected queries (B, H, T, K) at `positions`, by default 0 to T, rotated by them."""
        return self._rotate(self._split(self.query_projection(queries)), positions)

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        positions: range | None = None,
    ) -> Tensor:
        """queries (B, T, D) at `positions`, by default 0 to T, over what `keys_values` made -> (B, T, D).

        Raises:
            ValueError: the mask has three dimensions; it could be meant for sentences, and would be taken for heads.
        """
        if mask is not None and mask.dim() == 3:
            raise ValueError("a mask of three dimensions; (B, T, S) is to be given as mask.unsqueeze(1)")
        heads = self.query_heads(queries, positions)
        if self.training and self.dropout.p:
            attended = self.dropout(attention_weights(heads, keys, mask)) @ values
        else:
            attended = attend(heads, keys, values, mask)
        merged: Tensor = self.output_projection(attended.transpose(1, 2).flatten(2))
        return merged

    def _split(self, x: Tensor) -> Tensor:
        """(B, T, H * K) -> (B, H, T, K): each head gets its own slice."""
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def _rotate(self, x: Tensor, positions: range | None) -> Tensor:
        return x if self.rotary is None else self.rotary(x, positions or range(x.size(2)))
