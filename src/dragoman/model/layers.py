"""The layers of figure 1: attention and feed-forward, each wrapped in a residual connection.

B batch, S source, T target, D model width, F feed-forward width, H heads, K head width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention
from dragoman.model.cache import LayerCache, Placed
from dragoman.model.dropout import Dropout
from dragoman.model.norms import build_norm, norm_and_keep
from dragoman.model.positions import RotaryPositions
from dragoman.model.ssru import SSRU
from dragoman.settings.model_config import ModelShape

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "swiglu": F.silu,
}


class Residual(nn.Module):
    """x + sublayer(x), with dropout and layer norm; only this module knows their order.

    `post` is the paper's LayerNorm(x + Dropout(Sublayer(x))) (sections 3.1 and 5.4); `pre` is
    x + Dropout(Sublayer(LayerNorm(x))) (Xiong et al. 2020), which trains without warm-up.
    """

    def __init__(self, config: ModelShape) -> None:
        super().__init__()
        self.norm = build_norm(config)
        self.dropout = Dropout(config.dropout)
        self.pre_norm = config.norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        normed: Tensor
        if self.pre_norm:
            normed, x = norm_and_keep(self.norm, x)
            return self.dropout.add(x, sublayer(normed))
        normed = self.norm(self.dropout.add(x, sublayer(x)))
        return normed


class FeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, the same for every position (equation 2).

    GELU and SiLU (Hendrycks and Gimpel 2016) are smooth forms of max(0, .). SwiGLU (Shazeer 2020, equation 6)
    multiplies silu(x W1 + b1) by a third map, x W3 + b3, before W2.
    """

    def __init__(self, config: ModelShape) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff, config.bias)
        self.gate = nn.Linear(config.d_model, config.d_ff, config.bias) if config.activation == "swiglu" else None
        self.outer = nn.Linear(config.d_ff, config.d_model, config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = Dropout(config.activation_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D), through (B, T, F)."""
        inner = self.activation(self.inner(x))
        if self.gate is not None:
            inner = inner * self.gate(x)
        outer: Tensor = self.outer(self.dropout(inner))
        return outer


def build_attention(config: ModelShape, rotary: RotaryPositions | None = None) -> MultiHeadAttention:
    """Return attention of the widths that `config` names."""
    widths, p = config.head_widths, config.attention_dropout
    return MultiHeadAttention(config.d_model, config.n_heads, widths, bias=config.bias, dropout=p, rotary=rotary)


class EncoderLayer(nn.Module):
    """Self-attention over the source, then feed-forward."""

    def __init__(self, config: ModelShape, rotary: RotaryPositions | None = None) -> None:
        super().__init__()
        self.self_attention = build_attention(config, rotary)
        self.feed_forward = FeedForward(config)
        self.attention_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, source_mask: Tensor) -> Tensor:
        """x (B, S, D), source_mask (B, 1, 1, S) -> (B, S, D)."""
        x = self.attention_residual(x, lambda x: self.self_attention(x, x, x, source_mask))
        x = self.feed_forward_residual(x, self.feed_forward)
        return x


class DecoderLayer(nn.Module):
    """Self-attention over the target so far, or a recurrent unit, attention over the memory, then feed-forward."""

    def __init__(self, config: ModelShape, rotary: RotaryPositions | None = None) -> None:
        super().__init__()
        self.self_attention = build_attention(config, rotary) if config.decoder_layer == "attention" else None
        self.ssru = SSRU(config) if config.decoder_layer == "ssru" else None
        self.cross_attention = build_attention(config)  # positions of two sequences have no distance
        self.feed_forward = FeedForward(config)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def start_cache(self, memory: Tensor) -> LayerCache:
        """Compute the keys and values of the memory (B, S, D), once for all target positions."""
        keys, values = self.cross_attention.keys_values(memory, memory)
        if not torch.is_grad_enabled():
            keys, values = keys.contiguous(), values.contiguous()  # laid out once for all steps of a search
        return LayerCache(keys, values, memory.new_zeros(len(memory), 1, memory.size(2)))

    def forward(self, x: Tensor, cache: LayerCache, placed: Placed, source_mask: Tensor | None) -> Tensor:
        """Read T new tokens after those in the cache: x (B, T, D), source_mask (B, 1, 1, S) -> (B, T, D)."""

        def read_target(x: Tensor) -> Tensor:
            if self.ssru is not None:
                cache.states = self.ssru(x, cache.states, placed.parents)
                return cache.states.relu().to(x.dtype)
            assert self.self_attention is not None
            keys, values = cache.append(*self.self_attention.keys_values(x, x, placed.positions))
            return self.self_attention.attend(x, keys, values, placed.mask, placed.positions)

        def attend_to_memory(x: Tensor) -> Tensor:
            return self.cross_attention.attend(x, cache.memory_keys, cache.memory_values, source_mask)

        x = self.self_residual(x, read_target)
        x = self.cross_residual(x, attend_to_memory)
        x = self.feed_forward_residual(x, self.feed_forward)
        return x
