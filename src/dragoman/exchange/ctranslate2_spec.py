"""A model as a specification of CTranslate2, which its package writes to files.

Names and shapes come from `bundle.layout`. CTranslate2 adds nothing to our arithmetic and leaves nothing out, except
that a token can be made improbable only: those that our search forbids get a low bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import Activation, common_spec, transformer_spec

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import AttentionLayout, FeedForwardLayout, Layout, LinearLayout, NormLayout
from dragoman.exchange.piece_names import PieceNames, never_written, piece_names
from dragoman.machine.arrays import Floats
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig
from dragoman.text.tokenizer import Tokenizers

ACTIVATIONS = {
    "relu": Activation.RELU,
    "gelu": Activation.GELU,
    "silu": Activation.SWISH,
    "swiglu": Activation.SWISH,
}
#: Rows of a table of sines: more than CTranslate2 reads of a source, so that it never meets the end of the table.
_POSITIONS = 2_048
#: The bias of a token that is never written. It is a float16, too.
_LOW = np.float32(-10_000)

Weights = Mapping[str, Floats]


def specification(bundle: Bundle) -> transformer_spec.TransformerSpec:
    """Return the specification of a model without obstacles, with its weights and vocabularies."""
    config, layout = bundle.config, Layout(bundle.config)
    weights = layout.with_ties(bundle.weights)
    spec = _empty(config)
    sides = (
        (spec.encoder, spec.encoder.embeddings[0], layout.source_embedding, layout.encoder_norm),
        (spec.decoder, spec.decoder.embeddings, layout.target_embedding, layout.decoder_norm),
    )
    for side, embeddings, embedding, norm in sides:
        embeddings.weight = weights[embedding.tokens.name]
        side.scale_embeddings = config.scale_embeddings
        if embedding.positions is not None:
            side.position_encodings.encodings = weights[embedding.positions.name]
        elif config.positions != "rotary":
            side.position_encodings.encodings = _sines(config)
        if norm is not None:
            _set_norm(side.layer_norm, norm, weights)
    for theirs, layer in zip(spec.encoder.layer, layout.encoder_layers, strict=True):
        _set_attention(theirs.self_attention, layer.self_attention, layer.self_norm, weights)
        _set_feed_forward(theirs.ffn, layer.feed_forward, layer.feed_forward_norm, weights)
    for theirs, deep in zip(spec.decoder.layer, layout.decoder_layers, strict=True):
        assert deep.self_attention is not None
        _set_attention(theirs.self_attention, deep.self_attention, deep.self_norm, weights)
        _set_attention(theirs.attention, deep.cross_attention, deep.cross_norm, weights)
        _set_feed_forward(theirs.ffn, deep.feed_forward, deep.feed_forward_norm, weights)
    _set_linear(spec.decoder.projection, layout.output, weights)
    bias = (
        np.zeros(config.target_vocab_size, np.float32) if layout.output.bias is None else spec.decoder.projection.bias
    )
    spec.decoder.projection.bias = bias.copy()
    spec.decoder.projection.bias[never_written(bundle.tokenizers)] = _LOW
    _set_vocabularies(spec, bundle)
    spec.validate()
    return spec


def names_of(tokenizers: Tokenizers) -> PieceNames:
    """Return CTranslate2's usual names."""
    return piece_names(tokenizers, ("<s>", "<blank>", "<unk>", "</s>"))


def _empty(config: ModelConfig) -> transformer_spec.TransformerSpec:
    width = config.head_widths[0]
    options: dict[str, Any] = {
        "pre_norm": True,  # makes room for the norm after the last layer; set right below
        "no_final_norm": not config.has_final_norm,
        "rms_norm": config.norm_kind == "rms",
        "activation": ACTIVATIONS[config.activation],
        "ffn_glu": config.activation == "swiglu",
    }
    if config.positions == "rotary":
        options |= {"rotary_dim": width, "rotary_interleave": True}
    if width * config.n_heads != config.d_model:
        options |= {"head_dim": width}
    spec = transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(config.n_encoder_layers, config.n_heads, **options),
        transformer_spec.TransformerDecoderSpec(config.n_decoder_layers, config.n_heads, **options),
    )
    spec.encoder.pre_norm = spec.decoder.pre_norm = config.norm == "pre"
    spec.config.layer_norm_epsilon = 1e-6 if config.norm_kind == "rms" else config.norm_epsilon
    return spec


def _sines(config: ModelConfig) -> Floats:
    n_positions = max(config.max_length, _POSITIONS)
    return sinusoidal_table(range(n_positions), config.d_model, halves=config.positions == "halves")


def _set_vocabularies(spec: transformer_spec.TransformerSpec, bundle: Bundle) -> None:
    names = names_of(bundle.tokenizers)
    spec.register_source_vocabulary(names.source)
    spec.register_target_vocabulary(names.target)
    spec.config.add_source_eos = bundle.tokenizers.source.special_ids.has_end
    spec.config.unk_token, spec.config.eos_token = names.unknown, names.end
    spec.config.bos_token = spec.config.decoder_start_token = names.start


def _set_linear(spec: common_spec.LinearSpec, linear: LinearLayout, weights: Weights) -> None:
    spec.weight = weights[linear.weight.name]
    if linear.bias is not None:
        spec.bias = weights[linear.bias.name]


def _set_norm(spec: common_spec.LayerNormSpec, norm: NormLayout, weights: Weights) -> None:
    spec.gamma = weights[norm.weight.name]
    if norm.bias is not None:
        spec.beta = weights[norm.bias.name]
    elif hasattr(spec, "beta"):  # a layer norm; an RMS norm has none
        spec.beta = np.zeros_like(spec.gamma)


def _set_attention(spec: Any, attention: AttentionLayout, norm: NormLayout, weights: Weights) -> None:
    """Set attention to itself, which has two maps, or to the memory, which has three: those of one input are one."""
    _set_norm(spec.layer_norm, norm, weights)
    maps = [common_spec.LinearSpec() for _ in range(3)]
    for one, linear in zip(maps, (attention.query, attention.key, attention.value), strict=True):
        _set_linear(one, linear, weights)
    *joined, output = spec.linear
    for one, parts in zip(joined, [maps] if len(joined) == 1 else [maps[:1], maps[1:]], strict=True):
        fuse_linear(one, parts)
    _set_linear(output, attention.output, weights)


def _set_feed_forward(spec: Any, feed_forward: FeedForwardLayout, norm: NormLayout, weights: Weights) -> None:
    _set_norm(spec.layer_norm, norm, weights)
    _set_linear(spec.linear_0, feed_forward.inner, weights)
    _set_linear(spec.linear_1, feed_forward.outer, weights)
    if feed_forward.gate is not None:
        _set_linear(spec.linear_0_noact, feed_forward.gate, weights)
