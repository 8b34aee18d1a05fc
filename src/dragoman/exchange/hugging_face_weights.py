"""A model as one of Hugging Face's stock classes: Marian for post-norm models, Pegasus for pre-norm models.

Both have a table of positions. Marian's other programs make it themselves, with all sines first. A model with sines and
cosines in turn is the same model with its dimensions in another order: first those of the sines. So every map that
reads or writes D numbers is permuted. A bias that the model does not have is zeros. D model width.

`stock_tensors` is the table of names, for writing (`stock_weights`) and for reading (`imports.hugging_face`).
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
    Weight,
)
from dragoman.exchange.hugging_face_config import n_positions
from dragoman.exchange.obstacles import (
    Obstacle,
    decoder_obstacles,
    memory_obstacles,
    tag_obstacles,
    tokenizer_obstacles,
)
from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig


def stock_obstacles(bundle: Bundle) -> Iterator[Obstacle]:
    """Yield the settings of a model that no stock class has."""
    config = bundle.config
    yield from memory_obstacles(config)
    yield from decoder_obstacles(config)
    if config.positions == "rotary":
        yield Obstacle("model.positions", "rotary", "positions are a table that is added to embeddings", "sinusoidal")
    if config.norm_kind != "layer":
        yield Obstacle("model.norm_kind", config.norm_kind, "all norms are layer norms", "layer")
    if config.norm_epsilon > 1e-5:  # a smaller one is hardly noticed
        yield Obstacle("model.norm_epsilon", config.norm_epsilon, "layer norms add 0.00001 to the variance", 1e-5)
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
    yield from tokenizer_obstacles(bundle.tokenizers)
    yield from tag_obstacles(bundle.tokenizers)
    source, target = bundle.tokenizers.source.special_ids, bundle.tokenizers.target.special_ids
    if (source.pad, source.end) != (target.pad, target.end):
        yield Obstacle("special_ids", "different", "padding and end have the same ids on both sides")


class StockTensor(NamedTuple):
    """A tensor of a stock class, other than embeddings, positions and the output."""

    name: str
    #: None is a bias that our model does not have.
    weight: Weight | None
    shape: tuple[int, ...]
    #: The axes whose numbers are the D numbers of a position.
    permuted: tuple[int, ...] = ()


SHARED, OUTPUT, OUTPUT_BIAS = "model.shared.weight", "lm_head.weight", "final_logits_bias"


def token_embedding(side: str) -> str:
    """Return the name of the vectors of tokens of "encoder" or "decoder", where both have their own."""
    return f"model.{side}.embed_tokens.weight"


def position_table(side: str) -> str:
    """Return the name of the vectors of positions of "encoder" or "decoder"."""
    return f"model.{side}.embed_positions.weight"


def stock_tensors(layout: Layout) -> Iterator[StockTensor]:
    """Yield the tensors of all layers and of the norms after the last ones."""
    for number, encoder_layer in enumerate(layout.encoder_layers):
        yield from _layer(f"model.encoder.layers.{number}", encoder_layer)
    for number, decoder_layer in enumerate(layout.decoder_layers):
        yield from _layer(f"model.decoder.layers.{number}", decoder_layer)
    for side, norm in (("encoder", layout.encoder_norm), ("decoder", layout.decoder_norm)):
        if norm is not None:
            yield from _norm(f"model.{side}.layer_norm", norm)


def _layer(name: str, layer: EncoderLayerLayout | DecoderLayerLayout) -> Iterator[StockTensor]:
    assert layer.self_attention is not None
    yield from _attention(f"{name}.self_attn", layer.self_attention)
    yield from _norm(f"{name}.self_attn_layer_norm", layer.self_norm)
    if isinstance(layer, DecoderLayerLayout):
        yield from _attention(f"{name}.encoder_attn", layer.cross_attention)
        yield from _norm(f"{name}.encoder_attn_layer_norm", layer.cross_norm)
    yield from _reading(f"{name}.fc1", layer.feed_forward.inner)
    yield from _writing(f"{name}.fc2", layer.feed_forward.outer)
    yield from _norm(f"{name}.final_layer_norm", layer.feed_forward_norm)


def _attention(name: str, attention: AttentionLayout) -> Iterator[StockTensor]:
    yield from _reading(f"{name}.q_proj", attention.query)
    yield from _reading(f"{name}.k_proj", attention.key)
    yield from _reading(f"{name}.v_proj", attention.value)
    yield from _writing(f"{name}.out_proj", attention.output)


def _norm(name: str, norm: NormLayout) -> Iterator[StockTensor]:
    yield StockTensor(f"{name}.weight", norm.weight, norm.weight.shape, (0,))
    yield StockTensor(f"{name}.bias", norm.bias, norm.weight.shape, (0,))


def _reading(name: str, linear: LinearLayout) -> Iterator[StockTensor]:
    """Yield a map of the D numbers of a position."""
    yield StockTensor(f"{name}.weight", linear.weight, linear.weight.shape, (1,))
    yield StockTensor(f"{name}.bias", linear.bias, linear.weight.shape[:1])


def _writing(name: str, linear: LinearLayout) -> Iterator[StockTensor]:
    """Yield a map to the D numbers of a position."""
    yield StockTensor(f"{name}.weight", linear.weight, linear.weight.shape, (0,))
    yield StockTensor(f"{name}.bias", linear.bias, linear.weight.shape[:1], (0,))


def stock_weights(bundle: Bundle) -> dict[str, Floats]:
    """Return the weights of a model without obstacles, by their names in transformers."""
    config, layout = bundle.config, Layout(bundle.config)
    weights, order = layout.with_ties(bundle.weights), _order(config)
    sides = {"encoder": layout.source_embedding, "decoder": layout.target_embedding}
    result = {position_table(side): _table(config, embedding, weights) for side, embedding in sides.items()}
    if config.tie == "all":
        result[SHARED] = weights[layout.target_embedding.tokens.name][:, order]
    else:
        for side, embedding in sides.items():
            result[token_embedding(side)] = weights[embedding.tokens.name][:, order]
        result[OUTPUT] = weights[layout.output.weight.name][:, order]
    bias = None if layout.output.bias is None else weights[layout.output.bias.name]
    result[OUTPUT_BIAS] = (np.zeros(config.target_vocab_size, np.float32) if bias is None else bias)[None]
    for tensor in stock_tensors(layout):
        values = np.zeros(tensor.shape, np.float32) if tensor.weight is None else weights[tensor.weight.name]
        for axis in tensor.permuted:
            values = values.take(order, axis)
        result[tensor.name] = values
    return {name: np.ascontiguousarray(weight) for name, weight in result.items()}


def _order(config: ModelConfig) -> Ints:
    """Return the order of the dimensions: those of sines, then those of cosines."""
    numbers = np.arange(config.d_model)
    return np.concatenate((numbers[::2], numbers[1::2])) if config.positions == "sinusoidal" else numbers


def _table(config: ModelConfig, embedding: EmbeddingLayout, weights: Mapping[str, Floats]) -> Floats:
    if embedding.positions is not None:
        return weights[embedding.positions.name]
    return sinusoidal_table(range(n_positions(config)), config.d_model, halves=True)
