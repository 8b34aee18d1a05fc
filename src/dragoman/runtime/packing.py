"""Weights of a Transformer as kernels.c reads them: in panels of columns, filled up, at the bounds of cache lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.bundle.weights import quantized
from dragoman.decoding.scores import Floats
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
from dragoman.runtime.array_layers import Linear, Norm, Weights
from dragoman.runtime.array_model import Embedding
from dragoman.settings.model_config import ModelConfig

#: The largest input of 8 bits.
LARGEST_INPUT = 255
#: Bytes that a processor reads at once, if they begin at a multiple of them.
CACHE_LINE = 64


class Packer:
    """Makes structures of kernels.c from named weights; `arrays` must live as long as they do."""

    def __init__(self, config: ModelConfig, weights: Weights, kernels: Kernels) -> None:
        self._config, self._weights, self._kernels = config, weights, kernels
        self.arrays: list[NDArray[Any]] = []

    def shape(self) -> ShapeStruct:
        """The sizes that all layers have."""
        config, (d_k, d_v) = self._config, self._config.head_widths
        sizes = config.d_model, config.n_heads, d_k, d_v, config.d_ff
        return ShapeStruct(*sizes, config.norm == "pre", ACTIVATIONS[config.activation])

    def layer(self, name: str, *, cross: bool = False) -> LayerStruct:
        """An encoder layer, or a decoder layer, which has `cross` attention."""
        attention, feed_forward = f"{name}.self_attention", f"{name}.feed_forward"
        struct = LayerStruct(
            self_projection=self._projections(attention, "query", "key", "value"),
            self_output=self.linear(f"{attention}.output_projection"),
            inner=self.linear(f"{feed_forward}.inner"),
            outer=self.linear(f"{feed_forward}.outer"),
            self_norm=self.norm(f"{name}.{'self' if cross else 'attention'}_residual.norm"),
            feed_forward_norm=self.norm(f"{name}.feed_forward_residual.norm"),
        )
        if self._config.activation == "swiglu":
            struct.gate = self.linear(f"{feed_forward}.gate")
        if cross:
            attention = f"{name}.cross_attention"
            struct.cross_query = self._projections(attention, "query")
            struct.cross_memory = self._projections(attention, "key", "value")
            struct.cross_output = self.linear(f"{attention}.output_projection")
            struct.cross_norm = self.norm(f"{name}.cross_residual.norm")
        return struct

    def linear(self, *names: str, first_scale: float = 1.0) -> LinearStruct:
        """Some maps of the same input, side by side, in panels of columns."""
        linear = Linear(self._weights, *names, first_scale=first_scale)
        n_in, n_out = linear.weight.shape
        kernels, columns = self._kernels, 2 * self._kernels.lanes
        weight: NDArray[Any] = np.zeros(
            (rounded_up(n_in, kernels.inputs), rounded_up(n_out, columns)), dtype=np.float32
        )
        weight[:n_in, :n_out] = linear.weight
        bias = np.zeros(weight.shape[1], dtype=np.float32)
        if linear.bias is not None:
            bias[:n_out] = linear.bias
        struct = LinearStruct(n_in, n_out, bias=self._keep(bias))
        if kernels.largest_weight:
            largest = min(kernels.largest_weight, (2**31 - 1) // (LARGEST_INPUT * n_in))  # sums fit into 32 bits
            weight, scales = quantized(weight, largest, axis=0)
            struct.scales, struct.column_sums = self._keep(scales), self._keep(weight.sum(axis=0, dtype=np.int32))
        panels = weight.reshape(-1, kernels.group, weight.shape[1] // columns, columns).transpose(2, 0, 3, 1)
        struct.weight = self._keep(bfloat16(panels) if kernels.weight is np.uint16 else panels)
        return struct

    def norm(self, name: str) -> NormStruct:
        """A norm, with the gain and the bias that were not folded away."""
        norm = Norm(self._weights, name, self._config)
        kind = LAYER_NORM if norm.is_centring else RMS_NORM
        gain, bias = (None if each is None else self._keep(each) for each in (norm.gain, norm.bias))
        return NormStruct(kind, gain, bias, norm.part_of_squares, norm.inside, norm.outside)

    def final_norm(self, name: str) -> NormStruct:
        """The norm at the end of all layers, if the model has one."""
        return self.norm(name) if self._config.has_final_norm else NormStruct()

    def embedding(self, embedding: Embedding) -> EmbeddingStruct:
        """Ids to vectors."""
        n_tokens, tokens = len(embedding.tokens), self._keep(embedding.tokens)
        return EmbeddingStruct(tokens, n_tokens, embedding.scale, embedding.is_centring)

    def _projections(self, attention: str, *parts: str) -> LinearStruct:
        scale = 1 / math.sqrt(self._config.head_widths[0]) if parts[0] == "query" else 1.0
        return self.linear(*(f"{attention}.{part}_projection" for part in parts), first_scale=scale)

    def _keep(self, array: NDArray[Any]) -> int:
        room = np.empty(array.nbytes + CACHE_LINE, dtype=np.uint8)
        start = -room.ctypes.data % CACHE_LINE
        kept = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        kept[:] = array
        self.arrays.append(kept)
        return address(kept)


def bfloat16(array: Floats) -> NDArray[np.uint16]:
    """The nearest numbers of 8 bits precision, and of two equally near the even one, as the upper halves of floats."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    halves: NDArray[np.uint16] = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    halves[np.isnan(array)] = 0x7FC0
    return halves


def rounded_up(number: int, unit: int) -> int:
    """The least multiple of `unit` that is not below `number`."""
    return -(-number // unit) * unit
