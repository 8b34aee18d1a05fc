"""The weights of a pre-norm model with its norms folded into the linear maps: the same function, computed with less.

A norm of such a model reads the sum of an embedding and of what sublayers have added to it. If each of these has mean
zero, so has the sum, and the norm need not subtract the mean (Ashkboos et al. 2024, *SliceGPT*, section 3.2). What
reads a norm's output is linear, so the norm's gain and bias can be moved into the weights of those linear maps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from dragoman.bundle.layout import (
    AttentionLayout,
    DecoderLayerLayout,
    EncoderLayerLayout,
    FeedForwardLayout,
    Layout,
    LinearLayout,
    NormLayout,
)
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig


def can_fold(config: ModelConfig) -> bool:
    """Return True if only norms read the sum of embedding and sublayers, and only linear maps read the norms.

    What a recurrent unit adds is no output of a linear map, so that it cannot be centred.
    """
    return config.norm == "pre" and config.has_final_norm and config.decoder_layer == "attention"


def needs_centring(config: ModelConfig) -> bool:
    """Return True if the summands must have mean zero; an RMS norm subtracts no mean."""
    return can_fold(config) and config.norm_kind != "rms"


def search_weights(config: ModelConfig, weights: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """Return the weights that a search computes with.

    All weights are there by all their names, tied ones too. Norms are folded into them where `can_fold`.
    """
    all_weights = Layout(config).with_ties(weights)
    return fold_norms(config, all_weights) if can_fold(config) else all_weights


def fold_norms(config: ModelConfig, weights: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the weights without gains and biases of norms, where `can_fold`.

    Embeddings stay as they are; `Embedding` centres their vectors when it looks them up.

    Args:
        weights: float32, all by all their names. Tied weights become different ones here.
    """
    layout, folded = Layout(config), dict(weights)
    if needs_centring(config):
        for weight in chain.from_iterable((linear.weight, linear.bias) for linear in _summands(layout)):
            if weight is not None:
                folded[weight.name] = weights[weight.name] - weights[weight.name].mean(axis=0)  # over the D outputs
    for norm, readers in _readers(layout):
        gain, shift = folded.pop(norm.weight.name), norm.bias and folded.pop(norm.bias.name)
        for reader in readers:
            matrix = folded[reader.weight.name]
            folded[reader.weight.name] = matrix * gain
            if shift is not None and reader.bias is not None:
                folded[reader.bias.name] = folded[reader.bias.name] + matrix @ shift
    return folded


def _summands(layout: Layout) -> Iterator[LinearLayout]:
    """Yield the linear maps whose outputs are added to an embedding."""
    yield from (attention.output for attention in layout.parts(AttentionLayout))
    yield from (feed_forward.outer for feed_forward in layout.parts(FeedForwardLayout))


def _readers(layout: Layout) -> Iterator[tuple[NormLayout, Sequence[LinearLayout]]]:
    """Yield each norm with the linear maps that read its output."""
    layers: list[EncoderLayerLayout | DecoderLayerLayout] = [*layout.encoder_layers, *layout.decoder_layers]
    for layer in layers:
        assert layer.self_attention is not None  # else nothing is folded
        yield layer.self_norm, (layer.self_attention.query, layer.self_attention.key, layer.self_attention.value)
        yield layer.feed_forward_norm, [layer.feed_forward.inner, *filter(None, [layer.feed_forward.gate])]
    for decoder_layer in layout.decoder_layers:
        yield decoder_layer.cross_norm, [decoder_layer.cross_attention.query]
    if layout.encoder_norm is not None and layout.decoder_norm is not None:
        memories = [layer.cross_attention for layer in layout.decoder_layers]
        yield layout.encoder_norm, [linear for memory in memories for linear in (memory.key, memory.value)]
        yield layout.decoder_norm, [layout.output]
