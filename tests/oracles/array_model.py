"""The whole Transformer in NumPy, float32: `encode` once, then a step for each target token.

B sentences, S source, N slots for hypotheses of a sentence, R of them open, C tokens read for a sentence, D model
width, H heads, K and W widths of a key and a value, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dragoman.bundle.layout import AttentionLayout, DecoderLayerLayout, EncoderLayerLayout, Layout
from dragoman.decoding.grid import parent_slots
from dragoman.decoding.scores import ROWS_AT_ONCE
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.runtime.compiled_model import MASKED
from dragoman.runtime.projection import ProjectedScores
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair
from oracles.array_cache import LayerCache
from oracles.array_layers import (
    FeedForward,
    Linear,
    Norm,
    RecurrentUnit,
    Residual,
    Rotary,
    Weights,
    attend,
    attention_weights,
    exponentials,
    merge_heads,
    split_heads,
)
from oracles.embedding import Embedding
from oracles.folding import search_weights


class ArrayModel:
    """A Transformer in NumPy (`dragoman.decoding.state.Model`).

    Args:
        weights: float32, by their names in `dragoman.Transformer`; of tied ones the first name is enough.
    """

    # An overflow ends in a NaN, which the search refuses with an error of its own.
    @np.errstate(all="ignore")
    def __init__(self, config: ModelConfig, weights: Weights, special_ids: SpecialIdPair = SpecialIdPair()) -> None:
        self.config, self.special_ids = config, special_ids
        weights, layout = search_weights(config, weights), Layout(config)
        rotary = Rotary(config.max_length, config.head_widths[0]) if config.positions == "rotary" else None
        self._source_embedding = Embedding(weights, layout.source_embedding, config)
        self.target_embedding = Embedding(weights, layout.target_embedding, config)
        self._encoder_layers = [EncoderLayer(weights, layer, config, rotary) for layer in layout.encoder_layers]
        self.decoder_layers = [DecoderLayer(weights, layer, config, rotary) for layer in layout.decoder_layers]
        self._encoder_norm, self.decoder_norm = (
            None if norm is None else Norm(weights, norm, config) for norm in (layout.encoder_norm, layout.decoder_norm)
        )
        self.output_projection = Linear(weights, layout.output)

    @np.errstate(all="ignore")
    def start(self, source_ids: Ints) -> ArraySteps:
        """Read the sources (B, S), which end in eos and then padding."""
        is_real = source_ids != self.special_ids.source.pad
        mask_bias = None if is_real.all() else np.where(is_real, np.float32(0), MASKED)[:, None, None]
        return ArraySteps(self, self._encode(source_ids, mask_bias), len(source_ids), mask_bias)

    def _encode(self, source_ids: Ints, mask_bias: Floats | None) -> list[Floats]:
        """source_ids (B, S) -> for each decoder layer the memory (B * S, D) it attends to."""
        x = self._source_embedding(source_ids, slice(source_ids.shape[1]))
        memories = []
        for layer in self._encoder_layers:
            x = layer(x, len(source_ids), mask_bias)
            memories.append(x)
        if self.config.memory == "last":
            memories = memories[-1:]
        if self._encoder_norm is not None:
            memories = [self._encoder_norm(memory) for memory in memories]
        return memories * len(self.decoder_layers) if self.config.memory == "last" else memories


class ArraySteps:
    """Sentences that are being translated, with the keys and values of their memory and of the tokens read so far."""

    def __init__(self, model: ArrayModel, memories: list[Floats], n_sentences: int, mask_bias: Floats | None) -> None:
        self._model = model
        self._layers = [
            LayerCache(*layer.memory_keys_values(memory, n_sentences), model.config.d_model)
            for layer, memory in zip(model.decoder_layers, memories, strict=True)
        ]
        self._mask_bias = mask_bias  # of the memory
        vocab_size = model.config.target_vocab_size
        # Every step writes over these arrays: new ones would cost more.
        self._scores, self._exponentials = np.empty((2, ROWS_AT_ONCE, vocab_size), dtype=np.float32)

    @np.errstate(all="ignore")
    def step(
        self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints, attention: Floats | None = None
    ) -> ProjectedScores:
        """See `dragoman.decoding.state.Steps`.

        Args:
            attention: the rows' weights of the memory, (layers, R, H, S), are written here.
        """
        at = slice(position, position + 1)
        x = self._model.target_embedding(ids, at)
        path_bias = None if ancestry is None else np.where(ancestry, np.float32(0), MASKED)[:, None]
        parents = None if ancestry is None else parent_slots(ancestry, self._layers[0].states.shape[1])
        for number, (layer, cache) in enumerate(zip(self._model.decoder_layers, self._layers, strict=True)):
            x = layer(x, cache, at, path_bias, self._mask_bias, parents)
            if attention is not None:
                # (B, H, N, S) -> (R, H, S)
                attention[number] = cache.memory_weights.swapaxes(1, 2).reshape(-1, *attention.shape[2:])[slots]
        x = x[slots]
        hidden = x if self._model.decoder_norm is None else self._model.decoder_norm(x)
        return ProjectedScores(
            len(hidden), lambda rows: self._project(hidden[rows]), self._model.config.target_vocab_size
        )

    @np.errstate(all="ignore")
    def _project(self, hidden: Floats) -> Floats:
        """hidden (R, D) of at most `ROWS_AT_ONCE` rows -> log-probabilities (R, V), until the next call."""
        scores = self._model.output_projection(hidden, out=self._scores[: len(hidden)])
        _, total, shift = exponentials(scores, out=self._exponentials[: len(hidden)])
        scores -= np.log(total) + shift
        return scores

    def keep(self, sentences: Ints) -> None:
        """See `dragoman.decoding.state.Steps`."""
        for layer in self._layers:
            layer.keep(sentences)
        if self._mask_bias is not None:
            self._mask_bias = self._mask_bias[sentences]


class SelfAttention:
    """Self-attention: queries, keys and values of the same rows, by one product."""

    def __init__(self, weights: Weights, layout: AttentionLayout, config: ModelConfig, rotary: Rotary | None) -> None:
        d_k = config.head_widths[0]
        scale = 1 / math.sqrt(d_k)
        self._projection = Linear(weights, layout.query, layout.key, layout.value, first_scale=scale)
        width = config.n_heads * d_k
        self._parts = slice(width), slice(width, 2 * width), slice(2 * width, None)
        self._n_heads = config.n_heads
        self._rotary = rotary
        self.output = Linear(weights, layout.output)

    def project(self, x: Floats, n_sequences: int, positions: slice) -> tuple[Floats, Floats, Floats]:
        """x (B * T, D) -> queries, keys (B, H, T, K) and values (B, H, T, W)."""
        projected = self._projection(x)
        queries, keys, values = (split_heads(projected[:, part], n_sequences, self._n_heads) for part in self._parts)
        if self._rotary is not None:
            queries, keys = self._rotary(queries, positions), self._rotary(keys, positions)
        return queries, keys, values


class EncoderLayer:
    """Self-attention over the source, then feed-forward."""

    def __init__(
        self, weights: Weights, layout: EncoderLayerLayout, config: ModelConfig, rotary: Rotary | None
    ) -> None:
        self._attention = SelfAttention(weights, layout.self_attention, config, rotary)
        self._feed_forward = FeedForward(weights, layout.feed_forward, config)
        self._attention_residual = Residual(weights, layout.self_norm, config)
        self._feed_forward_residual = Residual(weights, layout.feed_forward_norm, config)

    def __call__(self, x: Floats, n_sentences: int, mask_bias: Floats | None) -> Floats:
        """x (B * S, D), mask_bias (B, 1, 1, S) -> (B * S, D)."""
        positions = slice(len(x) // n_sentences)

        def attention(x: Floats) -> Floats:
            heads = self._attention.project(x, n_sentences, positions)
            return self._attention.output(attend(*heads, mask_bias))

        x = self._attention_residual(x, attention)
        return self._feed_forward_residual(x, self._feed_forward)


class DecoderLayer:
    """Self-attention over the target so far, attention over the memory, then feed-forward."""

    def __init__(
        self, weights: Weights, layout: DecoderLayerLayout, config: ModelConfig, rotary: Rotary | None
    ) -> None:
        cross, d_k = layout.cross_attention, config.head_widths[0]
        self._n_heads, self._end = config.n_heads, config.n_heads * d_k
        if layout.self_attention is not None:
            self._self_attention = SelfAttention(weights, layout.self_attention, config, rotary)
        self._unit = None if layout.ssru is None else RecurrentUnit(weights, layout.ssru)
        self._cross_query = Linear(weights, cross.query, first_scale=1 / math.sqrt(d_k))
        self._cross_memory = Linear(weights, cross.key, cross.value)
        self._cross_output = Linear(weights, cross.output)
        self._feed_forward = FeedForward(weights, layout.feed_forward, config)
        self._self_residual = Residual(weights, layout.self_norm, config)
        self._cross_residual = Residual(weights, layout.cross_norm, config)
        self._feed_forward_residual = Residual(weights, layout.feed_forward_norm, config)

    def memory_keys_values(self, memory: Floats, n_sentences: int) -> Iterator[Floats]:
        """memory (B * S, D) -> keys (B, H, S, K) and values (B, H, S, W), laid out once for all products."""
        projected = self._cross_memory(memory)
        for part in (projected[:, : self._end], projected[:, self._end :]):
            yield np.ascontiguousarray(split_heads(part, n_sentences, self._n_heads))

    def __call__(
        self,
        x: Floats,
        cache: LayerCache,
        position: slice,
        path_bias: Floats | None,
        mask_bias: Floats | None,
        parents: Ints | None,
    ) -> Floats:
        """Read a token in each slot: x (B * N, D), path_bias (B, 1, N, C), mask_bias (B, 1, 1, S) -> (B * N, D).

        Args:
            parents: (B, N), the slot of the step before that each continues; None for the only one.
        """
        n_sentences = len(cache.memory_keys)

        def read_target(x: Floats) -> Floats:
            if self._unit is not None:
                before = cache.states
                if parents is not None:
                    before = np.take_along_axis(before, parents[:, :, None], axis=1)
                cache.states = self._unit(x, before)
                return np.maximum(cache.states, 0).reshape(x.shape)
            queries, keys, values = self._self_attention.project(x, n_sentences, position)
            return self._self_attention.output(attend(queries, *cache.append(keys, values), path_bias))

        def attend_to_memory(x: Floats) -> Floats:
            queries = split_heads(self._cross_query(x), n_sentences, self._n_heads)
            weights = cache.memory_weights = attention_weights(queries, cache.memory_keys, mask_bias)
            return self._cross_output(merge_heads(weights @ cache.memory_values))

        x = self._self_residual(x, read_target)
        x = self._cross_residual(x, attend_to_memory)
        return self._feed_forward_residual(x, self._feed_forward)
