"""The encoder-decoder Transformer (figure 1): embeddings, encoder, decoder, output projection.

B batch, S source, T target, D model width, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.model.cache import Cache, SequenceCache
from dragoman.model.dropout import Dropout
from dragoman.model.layers import DecoderLayer, EncoderLayer
from dragoman.model.masks import padding_mask
from dragoman.model.norms import build_norm
from dragoman.model.positions import Positions, RotaryPositions, build_positions
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair


class Embedding(nn.Module):
    """Ids to vectors: look up, scale by sqrt(D) (section 3.4), add positions, drop out.

    The row of padding begins as zeros. It stays so unless the table is tied to the output matrix.
    """

    def __init__(self, vocab_size: int, config: ModelConfig, pad_id: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model, padding_idx=pad_id)
        self.positions = build_positions(config)
        self.dropout = Dropout(config.dropout if config.embedding_dropout is None else config.embedding_dropout)
        self.scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0

    def forward(self, ids: Tensor, positions: Positions | None = None) -> Tensor:
        """ids (B, T) at `positions`, by default 0 to T -> (B, T, D)."""
        embedded = self.tokens(ids) * self.scale
        if self.positions is not None:
            embedded = self.positions(embedded, range(ids.size(1)) if positions is None else positions)
        dropped: Tensor = self.dropout(embedded)
        return dropped


class Transformer(nn.Module):
    """A Transformer: from source ids and the target so far to the scores of each next target token.

    Ids are int64 tensors, padded with the padding of `special_ids`; the masks are made from them. Sequences longer than
    `config.max_length` raise a ValueError.
    """

    def __init__(self, config: ModelConfig, special_ids: SpecialIdPair = SpecialIdPair()) -> None:
        super().__init__()
        special_ids.source.require_size(config.source_vocab_size)
        special_ids.target.require_size(config.target_vocab_size)
        self.config = config
        self.special_ids = special_ids
        self.source_embedding = Embedding(config.source_vocab_size, config, special_ids.source.pad)
        self.target_embedding = Embedding(config.target_vocab_size, config, special_ids.target.pad)
        sizes = config.max_length, config.head_widths[0]
        rotary = RotaryPositions(*sizes) if config.positions == "rotary" else None  # one table for all layers
        self.encoder_layers = nn.ModuleList(EncoderLayer(config, rotary) for _ in range(config.n_encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config, rotary) for _ in range(config.n_decoder_layers))
        self.encoder_norm = build_norm(config) if config.has_final_norm else nn.Identity()
        self.decoder_norm = build_norm(config) if config.has_final_norm else nn.Identity()
        self.output_projection = nn.Linear(config.d_model, config.target_vocab_size, config.bias)
        self._tie()
        self._initialise()

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """source_ids (B, S), target_ids (B, T) for the decoder -> logits (B, T, V) of the tokens that follow."""
        source_mask = padding_mask(source_ids, self.special_ids.source.pad)
        return self.project(self.decode(target_ids, self.encode(source_ids), source_mask))

    def encode(self, source_ids: Tensor) -> tuple[Tensor, ...]:
        """source_ids (B, S) -> for each decoder layer the memory (B, S, D) it attends to."""
        source_mask = padding_mask(source_ids, self.special_ids.source.pad)
        x = self.source_embedding(source_ids)
        memories = []
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
            memories.append(x)
        if self.config.memory == "last":
            return (self.encoder_norm(x),) * len(self.decoder_layers)
        return tuple(self.encoder_norm(memory) for memory in memories)

    def decode(self, target_ids: Tensor, memories: tuple[Tensor, ...], source_mask: Tensor) -> Tensor:
        """target_ids (B, T), memories from `encode`, source_mask (B, 1, 1, S) -> (B, T, D).

        All positions at once are one long step over an empty cache.
        """
        return self.step(target_ids, self.start_cache(memories, source_mask))

    def start_cache(self, memories: tuple[Tensor, ...], source_mask: Tensor | None) -> SequenceCache:
        """Return a cache with the keys and values of the memories, and no target token yet."""
        layers = cast("Iterable[DecoderLayer]", self.decoder_layers)
        layer_caches = [layer.start_cache(memory) for layer, memory in zip(layers, memories, strict=True)]
        return SequenceCache(layer_caches, source_mask, self.special_ids.target.pad)

    def step(self, target_ids: Tensor, cache: Cache) -> Tensor:
        """Read T more target ids (B, T), at the positions that `cache.place` gives them -> (B, T, D)."""
        placed = cache.place(target_ids)
        x = self.target_embedding(target_ids, placed.positions)
        for layer, layer_cache in zip(self.decoder_layers, cache.layers, strict=True):
            x = layer(x, layer_cache, placed, cache.source_mask)
        normed: Tensor = self.decoder_norm(x)
        return normed

    def project(self, hidden: Tensor) -> Tensor:
        """hidden (..., D) -> logits (..., V)."""
        logits: Tensor = self.output_projection(hidden)
        return logits

    def _tie(self) -> None:
        """Make one tensor of the matrices that `config.tie` names (section 3.4)."""
        if self.config.tie != "none":
            self.output_projection.weight = self.target_embedding.tokens.weight
        if self.config.tie == "all":
            self.source_embedding.tokens.weight = self.target_embedding.tokens.weight

    def _initialise(self) -> None:
        """Xavier for matrices (Glorot and Bengio 2010), D^-1/2 for embeddings and matrices tied to them, zero biases.

        Scaled by sqrt(D), embeddings then have unit variance, and as output weights they give logits of unit variance.
        With `init` "pytorch", every layer keeps the random weights that PyTorch gave it.
        """
        embeddings = (self.source_embedding, self.target_embedding)
        if self.config.init == "xavier":
            for module in self.modules():
                if isinstance(module, nn.Linear):
                    nn.init.xavier_uniform_(module.weight)
                    if module.bias is not None:
                        nn.init.zeros_(module.bias)
            for embedding in embeddings:
                nn.init.normal_(embedding.tokens.weight, std=self.config.d_model**-0.5)
        for embedding in embeddings:
            with torch.no_grad():
                embedding.tokens.weight[embedding.tokens.padding_idx].zero_()
