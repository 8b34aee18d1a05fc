"""Weights in the layout that kernels.c reads: in panels of columns, filled up, at the bounds of cache lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.bundle.layout import DecoderLayerLayout, EncoderLayerLayout, LinearLayout, NormLayout
from dragoman.bundle.weights import quantized
from dragoman.machine.arrays import Floats
from dragoman.native.kernels import (
    ACTIVATIONS,
    LAYER_NORM,
    RMS_NORM,
    EmbeddingStruct,
    Kernels,
    LayerStruct,
    LinearStruct,
    NormStruct,
    ShapeStruct,
    address,
)
from dragoman.runtime.embedding import Embedding
from dragoman.runtime.parameters import NormParameters, joined_linears
from dragoman.settings.model_config import ModelConfig

#: The largest input of 8 bits.
LARGEST_INPUT = 255
#: Bytes that a processor reads at once, if they begin at a multiple of them.
CACHE_LINE = 64


class Packer:
    """Makes the structures of kernels.c from weights. Keep `arrays` as long as the structures."""

    def __init__(self, config: ModelConfig, weights: Mapping[str, Floats], kernels: Kernels) -> None:
        self._config, self._weights, self._kernels = config, weights, kernels
        self.arrays: list[NDArray[Any]] = []

    def shape(self) -> ShapeStruct:
        """Return the sizes that all layers have."""
        config, (d_k, d_v) = self._config, self._config.head_widths
        sizes = config.d_model, config.n_heads, d_k, d_v, config.d_ff
        return ShapeStruct(*sizes, config.norm == "pre", ACTIVATIONS[config.activation])

    def layer(self, layer: EncoderLayerLayout | DecoderLayerLayout) -> LayerStruct:
        """Pack an encoder layer or a decoder layer."""
        attention, feed_forward = layer.self_attention, layer.feed_forward
        scale = 1 / math.sqrt(self._config.head_widths[0])
        struct = LayerStruct(
            self_projection=self.linear(attention.query, attention.key, attention.value, first_scale=scale),
            self_output=self.linear(attention.output),
            inner=self.linear(feed_forward.inner),
            outer=self.linear(feed_forward.outer),
            self_norm=self.norm(layer.self_norm),
            feed_forward_norm=self.norm(layer.feed_forward_norm),
        )
        if feed_forward.gate is not None:
            struct.gate = self.linear(feed_forward.gate)
        if isinstance(layer, DecoderLayerLayout):
            attention = layer.cross_attention
            struct.cross_query = self.linear(attention.query, first_scale=scale)
            struct.cross_memory = self.linear(attention.key, attention.value)
            struct.cross_output = self.linear(attention.output)
            struct.cross_norm = self.norm(layer.cross_norm)
        return struct

    def linear(self, *linears: LinearLayout, first_scale: float = 1.0) -> LinearStruct:
        """Pack linear maps of the same input, side by side, in panels of columns; the first is scaled."""
        matrix, joined_bias = joined_linears(self._weights, *linears, first_scale=first_scale)
        n_in, n_out = matrix.shape
        kernels, columns = self._kernels, 2 * self._kernels.lanes
        weight: NDArray[Any] = np.zeros(
            (rounded_up(n_in, kernels.inputs), rounded_up(n_out, columns)), dtype=np.float32
        )
        weight[:n_in, :n_out] = matrix
        bias = np.zeros(weight.shape[1], dtype=np.float32)
        if joined_bias is not None:
            bias[:n_out] = joined_bias
        struct = LinearStruct(n_in, n_out, bias=self._keep(bias))
        if kernels.largest_weight:
            largest = min(kernels.largest_weight, (2**31 - 1) // (LARGEST_INPUT * n_in))  # so sums fit into 32 bits
            weight, scales = quantized(weight, largest, axis=0)
            struct.scales, struct.column_sums = self._keep(scales), self._keep(weight.sum(axis=0, dtype=np.int32))
        panels = weight.reshape(-1, kernels.input_pack, weight.shape[1] // columns, columns).transpose(2, 0, 3, 1)
        struct.weight = self._keep(bfloat16(panels) if kernels.weight is np.uint16 else panels)
        return struct

    def norm(self, layout: NormLayout | None) -> NormStruct:
        """Pack a norm, with its gain and bias unless they are folded; None for no norm."""
        if layout is None:
            return NormStruct()
        norm = NormParameters(self._weights, layout, self._config)
        kind = LAYER_NORM if norm.is_centring else RMS_NORM
        gain, bias = (None if array is None else self._keep(array) for array in (norm.gain, norm.bias))
        return NormStruct(kind, gain, bias, norm.square_factor, norm.inner_epsilon, norm.outer_epsilon)

    def embedding(self, embedding: Embedding) -> EmbeddingStruct:
        """Pack the vectors of tokens."""
        n_tokens, tokens = len(embedding.tokens), self._keep(embedding.tokens)
        return EmbeddingStruct(tokens, n_tokens, embedding.scale, embedding.is_centring)

    def _keep(self, array: NDArray[Any]) -> int:
        room = np.empty(array.nbytes + CACHE_LINE, dtype=np.uint8)
        start = -room.ctypes.data % CACHE_LINE
        copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        copy[:] = array
        self.arrays.append(copy)
        return address(copy)


def bfloat16(array: Floats) -> NDArray[np.uint16]:
    """Round to 8 bits of precision, of two equally near numbers to the even one; return the upper halves of floats."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    halves: NDArray[np.uint16] = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    halves[np.isnan(array)] = 0x7FC0
    return halves


def rounded_up(number: int, unit: int) -> int:
    """Return the least multiple of `unit` that is not below `number`."""
    return -(-number // unit) * unit
