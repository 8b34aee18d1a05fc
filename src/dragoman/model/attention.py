"""Attention: a weighted mean of values, weighted by the similarity of each key and the query.

B batch, H heads, T queries, S keys, K width of a query or key, W width of a value, D model width.
Masks are True where a query may attend, and broadcast to (B, H, T, S).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dragoman.model.dropout import Dropout
from dragoman.model.operations import fused_attention, softmax
from dragoman.model.positions import Positions, RotaryPositions


def attention_weights(queries: Tensor, keys: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(Q K^T / sqrt(K)), equation 1 of the paper: (B, H, T, K), (B, H, S, K) -> (B, H, T, S).

    Each row sums to one; a row with nothing to attend to is zeros.
    """
    scores = (queries / math.sqrt(queries.size(-1))) @ keys.transpose(-2, -1)
    if mask is None:
        return softmax(scores)
    # A very low number, not -inf: the softmax of a row of -inf would be NaN.
    lowest = scores.new_zeros(mask.shape).masked_fill(~mask, torch.finfo(scores.dtype).min / 2)
    return softmax(scores + lowest).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
    """attention_weights(Q, K) V, values (B, H, S, W) -> (B, H, T, W), by a fused function if that is faster.

    A query with nothing to attend to gets zeros, on every backend.

    Raises:
        TypeError: the mask is of another type than bool.
    """
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"a mask is of type torch.bool, True where a query may attend, not {mask.dtype}")
    attended = fused_attention(queries, keys, values, mask)
    return attention_weights(queries, keys, mask) @ values if attended is None else attended


class MultiHeadAttention(nn.Module):
    """Attention in H subspaces side by side (section 3.2.2), for queries, keys and values from any source.

    Args:
        d_model: width D of queries, keys, values and the result.
        n_heads: H.
        head_widths: K and W; both are D / H unless given.
        bias: True if the four projections add a learned vector.
        dropout: probability that an attention weight is dropped in training.
        rotary: turns queries and keys by their positions.

    Raises:
        ValueError: H does not divide D, and the widths of a head are not given.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        head_widths: tuple[int, int] | None = None,
        *,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        if d_model % n_heads and head_widths is None:
            raise ValueError(f"{n_heads} heads do not divide a width of {d_model}; give head_widths")
        d_k, d_v = head_widths or (d_model // n_heads, d_model // n_heads)
        self.query_projection = nn.Linear(d_model, n_heads * d_k, bias)
        self.key_projection = nn.Linear(d_model, n_heads * d_k, bias)
        self.value_projection = nn.Linear(d_model, n_heads * d_v, bias)
        self.output_projection = nn.Linear(n_heads * d_v, d_model, bias)
        self.dropout = Dropout(dropout)
        self.rotary = rotary

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """queries (B, T, D), keys and values (B, S, D) -> (B, T, D)."""
        return self.attend(queries, *self.keys_values(keys, values), mask)

    def keys_values(self, keys: Tensor, values: Tensor, positions: Positions | None = None) -> tuple[Tensor, Tensor]:
        """Project keys and values for a cache: keys (B, H, S, K), rotated by their positions, values (B, H, S, W)."""
        heads = self._rotate(self._split(self.key_projection(keys)), positions)
        return heads, self._split(self.value_projection(values))

    def query_heads(self, queries: Tensor, positions: Positions | None = None) -> Tensor:
        """Project queries at `positions`, by default 0 to T, and rotate them by these: (B, T, D) -> (B, H, T, K)."""
        return self._rotate(self._split(self.query_projection(queries)), positions)

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        positions: Positions | None = None,
    ) -> Tensor:
        """queries (B, T, D) at `positions`, by default 0 to T, over the results of `keys_values` -> (B, T, D).

        Raises:
            ValueError: the mask has three dimensions: its first would be taken for heads, and is probably the batch.
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

    def _rotate(self, x: Tensor, positions: Positions | None) -> Tensor:
        return x if self.rotary is None else self.rotary(x, range(x.size(2)) if positions is None else positions)
