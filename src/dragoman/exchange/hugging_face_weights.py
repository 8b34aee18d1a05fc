"""A model as one of Hugging Face's stock classes: Marian for post-norm models, Pegasus for pre-norm models.

Both have a table of positions. Marian's other programs make it themselves, with all sines first. A model with sines and
cosines in turn is the same model with its dimensions in another order: first those of the sines. So every map that
reads or writes D numbers is permuted. A bias that the model does not have is zeros. D model width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import (
    AttentionLayout,
    DecoderLayerLayout,
    EmbeddingLayout,
    EncoderLayerLayout,
    Layout,
    LinearLayout,
    NormLayout,
)
from dragoman.exchange.hugging_face_config import n_positions
from dragoman.exchange.obstacles import Obstacle, memory_obstacles
from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.embedding import sinusoidal_table
from dragoman.settings.model_config import ModelConfig
from dragoman.text.tokenizer import Tokenizers


def model_obstacles(config: ModelConfig) -> Iterator[Obstacle]:
    """Yield the settings of a model that no stock class has."""
    yield from memory_obstacles(config)
    if config.positions == "rotary":
        yield Obstacle("model.positions", "rotary", "positions are a table that is added to embeddings", "sinusoidal")
    if config.norm_kind != "layer":
        yield Obstacle("model.norm_kind", config.norm_kind, "all norms are layer norms", "layer")
    if config.activation == "swiglu":
        yield Obstacle("model.activation", "swiglu", "a feed-forward layer has two maps", "silu")
    if config.has_final_norm != (config.norm == "pre"):
        reason = "a norm follows the last layer of pre-norm models only"
        yield Obstacle("model.final_norm", config.final_norm, reason, "null")
    for name, width in zip(("model.d_k", "model.d_v"), config.head_widths, strict=True):
        if width * config.n_heads != config.d_model:
            yield Obstacle(name, width, "heads are d_model / n_heads wide", "null")
    if config.norm == "pre" and config.tie != "all":
        yield Obstacle("model.tie", config.tie, "a pre-norm model has one embedding", "all")


def id_obstacles(tokenizers: Tokenizers) -> Iterator[Obstacle]:
    """Yield differences between the special ids of both sides."""
    source, target = tokenizers.source.special_ids, tokenizers.target.special_ids
    if (source.pad, source.end) != (target.pad, target.end):
        yield Obstacle("special_ids", "different", "padding and end have the same ids on both sides")


def stock_weights(bundle: Bundle) -> dict[str, Floats]:
    """Return the weights of a model without obstacles, by their names in transformers."""
    config, layout = bundle.config, Layout(bundle.config)
    weights = layout.with_ties(bundle.weights)
    writer = _Writer(weights, _order(config))
    embeddings = {
        "model.encoder": writer.weights[layout.source_embedding.tokens.name][:, writer.order],
        "model.decoder": writer.weights[layout.target_embedding.tokens.name][:, writer.order],
    }
    sides = zip(embeddings, (layout.source_embedding, layout.target_embedding), strict=True)
    result = {f"{side}.embed_positions.weight": _table(config, embedding, weights) for side, embedding in sides}
    if config.tie == "all":
        result["model.shared.weight"] = embeddings["model.decoder"]
    else:
        result |= {f"{side}.embed_tokens.weight": embedding for side, embedding in embeddings.items()}
        result["lm_head.weight"] = weights[layout.output.weight.name][:, writer.order]
    bias = None if layout.output.bias is None else weights[layout.output.bias.name]
    result["final_logits_bias"] = (np.zeros(config.target_vocab_size, np.float32) if bias is None else bias)[None]
    for number, encoder_layer in enumerate(layout.encoder_layers):
        result |= writer.layer(f"model.encoder.layers.{number}", encoder_layer)
    for number, decoder_layer in enumerate(layout.decoder_layers):
        result |= writer.layer(f"model.decoder.layers.{number}", decoder_layer)
    for side, norm in (("model.encoder", layout.encoder_norm), ("model.decoder", layout.decoder_norm)):
        if norm is not None:
            result |= writer.norm(f"{side}.layer_norm", norm)
    return {name: np.ascontiguousarray(weight) for name, weight in result.items()}


def _order(config: ModelConfig) -> Ints:
    """Return the order of the dimensions: those of sines, then those of cosines."""
    numbers = np.arange(config.d_model)
    return np.concatenate((numbers[::2], numbers[1::2])) if config.positions == "sinusoidal" else numbers


def _table(config: ModelConfig, embedding: EmbeddingLayout, weights: Mapping[str, Floats]) -> Floats:
    if embedding.positions is not None:
        return weights[embedding.positions.name]
    return sinusoidal_table(range(n_positions(config)), config.d_model, halves=True)


class _Writer(NamedTuple):
    """Parts of a layout by transformers' names."""

    weights: Mapping[str, Floats]
    order: Ints

    def layer(self, name: str, layer: EncoderLayerLayout | DecoderLayerLayout) -> dict[str, Floats]:
        result = self._attention(f"{name}.self_attn", layer.self_attention)
        result |= self.norm(f"{name}.self_attn_layer_norm", layer.self_norm)
        if isinstance(layer, DecoderLayerLayout):
            result |= self._attention(f"{name}.encoder_attn", layer.cross_attention)
            result |= self.norm(f"{name}.encoder_attn_layer_norm", layer.cross_norm)
        result |= self._reading(f"{name}.fc1", layer.feed_forward.inner)
        result |= self._writing(f"{name}.fc2", layer.feed_forward.outer)
        return result | self.norm(f"{name}.final_layer_norm", layer.feed_forward_norm)

    def norm(self, name: str, norm: NormLayout) -> dict[str, Floats]:
        gain = self.weights[norm.weight.name]
        bias = np.zeros_like(gain) if norm.bias is None else self.weights[norm.bias.name]
        return {f"{name}.weight": gain[self.order], f"{name}.bias": bias[self.order]}

    def _attention(self, name: str, attention: AttentionLayout) -> dict[str, Floats]:
        maps = {"q_proj": attention.query, "k_proj": attention.key, "v_proj": attention.value}
        result: dict[str, Floats] = {}
        for part, linear in maps.items():
            result |= self._reading(f"{name}.{part}", linear)
        return result | self._writing(f"{name}.out_proj", attention.output)

    def _reading(self, name: str, linear: LinearLayout) -> dict[str, Floats]:
        """Return a map of the D numbers of a position."""
        return {f"{name}.weight": self.weights[linear.weight.name][:, self.order], f"{name}.bias": self._bias(linear)}

    def _writing(self, name: str, linear: LinearLayout) -> dict[str, Floats]:
        """Return a map to the D numbers of a position."""
        weight, bias = self.weights[linear.weight.name], self._bias(linear)
        return {f"{name}.weight": weight[self.order], f"{name}.bias": bias[self.order]}

    def _bias(self, linear: LinearLayout) -> Floats:
        if linear.bias is None:
            return np.zeros(linear.weight.shape[0], np.float32)
        return self.weights[linear.bias.name]
