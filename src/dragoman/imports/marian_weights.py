"""The tensors of a Marian model, by their names there, and as weights of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dragoman.bundle.layout import (
    AttentionLayout,
    DecoderLayerLayout,
    EncoderLayerLayout,
    Layout,
    LinearLayout,
    NormLayout,
    Weight,
)
from dragoman.imports.marian_settings import MarianSettings
from dragoman.imports.marian_tensors import MarianTensor
from dragoman.imports.model_checks import tie_of
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig

OUTPUT_BIAS = "decoder_ff_logit_out_b"
#: The output matrix where it is no table of token vectors: as such a table, and transposed in older files.
_OUTPUT, _OLD_OUTPUT = "decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W"
#: The output bias of a token that has no probability. Label smoothing reads it too, so it is no larger than needed.
NEVER = -100.0


class Tables(NamedTuple):
    """The names of the tensors that are our three matrices of token vectors."""

    source: str
    target: str
    output: str

    @property
    def tie(self) -> str:
        """Our setting for the matrices that are one."""
        return tie_of(is_tied=self.target == self.output, is_shared=self.source == self.target)


class NamedTensor(NamedTuple):
    """A tensor of Marian's, except those of `Tables` and the output bias, and our weight, which is its transpose."""

    name: str
    weight: Weight

    @property
    def shape(self) -> tuple[int, int]:
        """Its shape there: a vector is a row."""
        n_outputs, n_inputs = (*self.weight.shape, 1)[:2]
        return n_inputs, n_outputs


def tables(settings: MarianSettings, stored: Mapping[str, MarianTensor]) -> Tables:
    """Return the names of the matrices of token vectors, which follow from the settings."""
    is_shared = settings.tied_embeddings_src or settings.tied_embeddings_all
    source, target = ("Wemb", "Wemb") if is_shared else ("encoder_Wemb", "decoder_Wemb")
    is_tied = settings.tied_embeddings or settings.tied_embeddings_all
    own = _OLD_OUTPUT if _OLD_OUTPUT in stored else _OUTPUT
    return Tables(source, target, target if is_tied else own)


def named_tensors(layout: Layout, settings: MarianSettings) -> Iterator[NamedTensor]:
    """Yield the tensors of all layers and of the norms after the last ones."""
    end = "_pre" if settings.transformer_preprocess.replace("d", "") else ""
    for number, encoder_layer in enumerate(layout.encoder_layers, 1):
        yield from _layer(f"encoder_l{number}", encoder_layer, end)
    for number, decoder_layer in zip(settings.decoder_names, layout.decoder_layers, strict=True):
        yield from _layer(f"decoder_l{number}", decoder_layer, end)
    for side, norm in (("encoder", layout.encoder_norm), ("decoder", layout.decoder_norm)):
        if norm is not None:
            yield from _norm(f"{side}_top", norm, "")


def _layer(name: str, layer: EncoderLayerLayout | DecoderLayerLayout, end: str) -> Iterator[NamedTensor]:
    if layer.self_attention is not None:
        yield from _attention(f"{name}_self", layer.self_attention, layer.self_norm, end)
    if isinstance(layer, DecoderLayerLayout):
        if layer.ssru is not None:
            yield from _linear(f"{name}_rnn", "", layer.ssru.input)
            yield from _linear(f"{name}_rnn", "f", layer.ssru.forget)
            yield from _norm(f"{name}_rnn" if end else f"{name}_rnn_ffn", layer.self_norm, end)
        yield from _attention(f"{name}_context", layer.cross_attention, layer.cross_norm, end)
    yield from _linear(f"{name}_ffn", "1", layer.feed_forward.inner)
    yield from _linear(f"{name}_ffn", "2", layer.feed_forward.outer)
    yield from _norm(f"{name}_ffn_ffn", layer.feed_forward_norm, end)


def _attention(name: str, attention: AttentionLayout, norm: NormLayout, end: str) -> Iterator[NamedTensor]:
    yield from _linear(name, "q", attention.query)
    yield from _linear(name, "k", attention.key)
    yield from _linear(name, "v", attention.value)
    yield from _linear(name, "o", attention.output)
    yield from _norm(f"{name}_Wo", norm, end)


def _linear(name: str, end: str, linear: LinearLayout) -> Iterator[NamedTensor]:
    yield NamedTensor(f"{name}_W{end}", linear.weight)
    if linear.bias is not None:
        yield NamedTensor(f"{name}_b{end}", linear.bias)


def _norm(name: str, norm: NormLayout, end: str) -> Iterator[NamedTensor]:
    yield NamedTensor(f"{name}_ln_scale{end}", norm.weight)
    if norm.bias is not None:
        yield NamedTensor(f"{name}_ln_bias{end}", norm.bias)


def marian_positions(n_rows: int, width: int) -> Floats:
    """Return Marian's table of positions (L, D): all sines, then all cosines.

    Wavelengths grow from 2 pi to 10000 * 2 pi, both of which occur; those of the paper stop one step earlier.
    """
    steps = np.arange(width // 2) / max(width // 2 - 1, 1)
    angles = np.arange(n_rows)[:, None] * 10000.0**-steps
    return np.concatenate((np.sin(angles), np.cos(angles)), axis=1).astype(np.float32)


def our_weights(
    config: ModelConfig, settings: MarianSettings, names: Tables, stored: Mapping[str, MarianTensor]
) -> dict[str, Floats]:
    """Return the weights by our names.

    Padding, which Marian's vocabularies lack, follows their last piece. Its vector is zeros, because a translation
    begins with zeros, and the model never writes it.
    """
    layout = Layout(config)
    embeddings = layout.source_embedding, layout.target_embedding
    matrices = embeddings[0].tokens, embeddings[1].tokens, layout.output.weight
    weights = {ours.name: _table(stored[name]) for ours, name in zip(matrices, names, strict=True)}
    for embedding in embeddings:
        if embedding.positions is not None:
            weights[embedding.positions.name] = marian_positions(*embedding.positions.shape)
    if layout.output.bias is not None:
        bias = np.zeros(config.target_vocab_size, np.float32)
        if OUTPUT_BIAS in stored:
            bias[:-1] = stored[OUTPUT_BIAS].floats()[0]
        bias[-1] = NEVER
        weights[layout.output.bias.name] = bias
    for tensor in named_tensors(layout, settings):
        values = stored[tensor.name].floats()
        weights[tensor.weight.name] = np.ascontiguousarray(values.T).reshape(tensor.weight.shape)
    return {name: weights[name] for name in layout.shapes()}


def _table(tensor: MarianTensor) -> Floats:
    """Return the vectors of tokens (V, D), and those of padding, which are zeros."""
    values = tensor.floats()
    rows = values.T if tensor.name == _OLD_OUTPUT else values
    return np.concatenate((rows, np.zeros_like(rows[:1])))
