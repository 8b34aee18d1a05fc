"""The names of a CTranslate2 model's variables, for writing and for reading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dragoman.bundle.layout import (
    AttentionLayout,
    DecoderLayerLayout,
    EncoderLayerLayout,
    Layout,
    LinearLayout,
    NormLayout,
    Weight,
)


class Stacked(NamedTuple):
    """A variable, and the weights of ours that are its rows, one after the other."""

    name: str
    weights: tuple[Weight, ...]
    is_optional: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the variable."""
        first = self.weights[0].shape
        return len(self.weights) * first[0], *first[1:]


def stacked_variables(layout: Layout) -> Iterator[Stacked]:
    """Yield the variables of all layers and of the norms after the last ones."""
    for number, encoder_layer in enumerate(layout.encoder_layers):
        name = f"encoder/layer_{number}"
        yield from _attention(f"{name}/self_attention", encoder_layer.self_attention, encoder_layer.self_norm, 3)
        yield from _feed_forward(f"{name}/ffn", encoder_layer)
    for number, layer in enumerate(layout.decoder_layers):
        name = f"decoder/layer_{number}"
        if layer.self_attention is not None:
            yield from _attention(f"{name}/self_attention", layer.self_attention, layer.self_norm, 3)
        yield from _attention(f"{name}/attention", layer.cross_attention, layer.cross_norm, 2)
        yield from _feed_forward(f"{name}/ffn", layer)
    for side, norm in (("encoder", layout.encoder_norm), ("decoder", layout.decoder_norm)):
        if norm is not None:
            yield from _norm(f"{side}/layer_norm", norm)


def _attention(name: str, attention: AttentionLayout, norm: NormLayout, n_joined: int) -> Iterator[Stacked]:
    """Yield attention to itself, whose three maps of the input are one, or to the memory, of which two are."""
    yield from _norm(f"{name}/layer_norm", norm)
    maps = attention.query, attention.key, attention.value
    joined = [maps] if n_joined == len(maps) else [maps[:1], maps[1:]]
    for number, linears in enumerate([*joined, (attention.output,)]):
        yield from _linear(f"{name}/linear_{number}", *linears)


def _feed_forward(name: str, layer: EncoderLayerLayout | DecoderLayerLayout) -> Iterator[Stacked]:
    yield from _norm(f"{name}/layer_norm", layer.feed_forward_norm)
    yield from _linear(f"{name}/linear_0", layer.feed_forward.inner)
    yield from _linear(f"{name}/linear_1", layer.feed_forward.outer)
    if layer.feed_forward.gate is not None:
        yield from _linear(f"{name}/linear_0_noact", layer.feed_forward.gate)


def _linear(name: str, *linears: LinearLayout) -> Iterator[Stacked]:
    yield Stacked(f"{name}/weight", tuple(linear.weight for linear in linears))
    biases = tuple(linear.bias for linear in linears if linear.bias is not None)
    if biases:
        yield Stacked(f"{name}/bias", biases, is_optional=True)


def _norm(name: str, norm: NormLayout) -> Iterator[Stacked]:
    yield Stacked(f"{name}/gamma", (norm.weight,))
    if norm.bias is not None:
        yield Stacked(f"{name}/beta", (norm.bias,))
