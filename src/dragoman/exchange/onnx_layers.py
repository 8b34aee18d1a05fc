"""The layers of a Transformer as operations of ONNX.

B batch, T queries, S keys, D model width, H heads, M padded width of a head.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from dragoman.bundle.layout import AttentionLayout, EmbeddingLayout, FeedForwardLayout, Layout, LinearLayout, NormLayout
from dragoman.exchange.onnx_builder import FLOAT, Builder
from dragoman.exchange.onnx_heads import AttentionMaps, attention_maps, padded_width, turning_tables
from dragoman.machine.arrays import Floats
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig

#: Added to the scores of keys that a query may not see.
_LOW = -1e9


class Positions(NamedTuple):
    """The first position of a sequence and the one after its last, as vectors of one number."""

    start: str
    stop: str


class Layers:
    """Operations that read the weights of one model.

    Args:
        weights: those of a bundle.
        n_positions: rows of the tables of positions.
    """

    def __init__(self, graph: Builder, config: ModelConfig, weights: Mapping[str, Floats], n_positions: int) -> None:
        self.graph, self.config = graph, config
        layout = Layout(config)
        self._ties, self._weights = layout.ties, layout.with_ties(weights)
        self._n_positions = n_positions
        self._norms: Mapping[str, Callable[[str, NormLayout], str]] = {
            "layer": self._layer_norm,
            "rms": self._rms_norm,
            "std": self._std_norm,
        }

    def embedding(self, ids: str, layout: EmbeddingLayout, positions: Positions, *, has_columns: bool) -> str:
        """Return the vectors of ids (B, T): (B, T, D).

        Args:
            has_columns: read the vectors from the columns of a matrix, which is also the output's.
        """
        name, config = layout.tokens.name, self.config
        if has_columns:
            gathered = self.graph.op("Gather", self._columns(name, self._weights[name].T), ids, attributes={"axis": 1})
            x = self.graph.op("Transpose", gathered, attributes={"perm": [1, 2, 0]})
        else:
            x = self.graph.op("Gather", self.graph.tensor(name, self._weights[name]), ids)
        if config.scale_embeddings:
            x = self.graph.op("Mul", x, self.graph.number(math.sqrt(config.d_model)))
        if config.positions == "rotary":
            return x
        if layout.positions is not None:
            rows = self.graph.tensor(layout.positions.name, self._weights[layout.positions.name])
        else:
            sines = sinusoidal_table(range(self._n_positions), config.d_model, halves=config.positions == "halves")
            rows = self.graph.tensor("sines", sines)
        return self.graph.op("Add", x, self.rows(rows, positions))

    def linear(self, x: str, linear: LinearLayout) -> str:
        """Return x W + b."""
        bias = None if linear.bias is None else self._weights[linear.bias.name]
        return self.map(x, linear.weight.name, (self._weights[linear.weight.name].T, bias))

    def norm(self, x: str, norm: NormLayout) -> str:
        """Return the norm of each vector."""
        return self._norms[self.config.norm_kind](x, norm)

    def residual(self, x: str, norm: NormLayout, sublayer: Callable[[str], str]) -> str:
        """Return x + sublayer(x), with the norm before or after."""
        if self.config.norm == "pre":
            return self.graph.op("Add", x, sublayer(self.norm(x, norm)))
        return self.norm(self.graph.op("Add", x, sublayer(x)), norm)

    def feed_forward(self, x: str, layout: FeedForwardLayout) -> str:
        """Return (B, T, D) for x (B, T, D)."""
        inner, graph = self.linear(x, layout.inner), self.graph
        if self.config.activation == "relu":
            active = graph.op("Relu", inner)
        elif self.config.activation == "gelu":
            half = graph.op("Erf", graph.op("Mul", inner, graph.number(math.sqrt(0.5))))
            share = graph.op("Mul", graph.op("Add", half, graph.number(1.0)), graph.number(0.5))
            active = graph.op("Mul", inner, share)
        else:
            active = graph.op("Mul", inner, graph.op("Sigmoid", inner))
        if layout.gate is not None:
            active = graph.op("Mul", active, self.linear(x, layout.gate))
        return self.linear(active, layout.outer)

    def attention(self, layout: AttentionLayout, *, is_turned: bool) -> Attention:
        """Return the operations of one attention."""
        maps = attention_maps(layout, self._weights, self.config, is_turned=is_turned)
        tables = turning_tables(self.config, self._n_positions) if is_turned else None
        return Attention(self, layout, maps, tables)

    def mask_bias(self, is_seen: str) -> str:
        """Return 0 where a mask is True, and a very low number elsewhere."""
        hidden = self.graph.op("Cast", self.graph.op("Not", is_seen), attributes={"to": FLOAT})
        return self.graph.op("Mul", hidden, self.graph.number(_LOW))

    def map(self, x: str, name: str, matrix: tuple[Floats, Floats | None]) -> str:
        """Return x W + b for a matrix (inputs, outputs) with its bias; `name` is that of the weight."""
        weight, bias = matrix
        product = self.graph.op("MatMul", x, self._columns(name, weight))
        return product if bias is None else self.graph.op("Add", product, self.graph.tensor(f"{name}.bias", bias))

    def _columns(self, name: str, matrix: Floats) -> str:
        return self.graph.tensor(f"{self._ties.get(name, name)}.columns", matrix)

    def rows(self, table: str, positions: Positions) -> str:
        """Return the rows of a table at some positions."""
        return self.graph.op("Slice", table, positions.start, positions.stop, self.graph.ints(0))

    def _gained(self, x: str, norm: NormLayout) -> str:
        gained = self.graph.op("Mul", x, self.graph.tensor(norm.weight.name, self._weights[norm.weight.name]))
        if norm.bias is None:
            return gained
        return self.graph.op("Add", gained, self.graph.tensor(norm.bias.name, self._weights[norm.bias.name]))

    def _layer_norm(self, x: str, norm: NormLayout) -> str:
        gain = self._weights[norm.weight.name]
        bias = np.zeros_like(gain) if norm.bias is None else self._weights[norm.bias.name]
        tensors = (
            self.graph.tensor(f"{norm.weight.name}.{part}", each) for part, each in (("gain", gain), ("bias", bias))
        )
        attributes = {"axis": -1, "epsilon": self.config.norm_epsilon}
        return self.graph.op("LayerNormalization", x, *tensors, attributes=attributes)

    def _rms_norm(self, x: str, norm: NormLayout) -> str:
        mean = self._mean(self.graph.op("Mul", x, x))
        root = self.graph.op("Sqrt", self.graph.op("Add", mean, self.graph.number(1e-6)))
        return self._gained(self.graph.op("Div", x, root), norm)

    def _std_norm(self, x: str, norm: NormLayout) -> str:
        centred, width = self.graph.op("Sub", x, self._mean(x)), self.config.d_model
        variance = self._mean(self.graph.op("Mul", centred, centred))
        unbiased = self.graph.op("Mul", variance, self.graph.number(width / (width - 1)))
        deviation = self.graph.op("Add", self.graph.op("Sqrt", unbiased), self.graph.number(1e-6))
        return self._gained(self.graph.op("Div", centred, deviation), norm)

    def _mean(self, x: str) -> str:
        return self.graph.op("ReduceMean", x, attributes={"axes": [-1], "keepdims": 1})


class Attention:
    """Attention of one kind in one layer."""

    def __init__(
        self, layers: Layers, layout: AttentionLayout, maps: AttentionMaps, tables: tuple[Floats, Floats] | None
    ) -> None:
        self._layers, self._graph, self._layout, self._maps = layers, layers.graph, layout, maps
        self._heads, self._width = layers.config.n_heads, padded_width(layers.config)
        self._tables = tables

    def keys_values(self, x: str, positions: Positions) -> tuple[str, str]:
        """Return keys and values (B, H, S, M) of x (B, S, D)."""
        keys = self._split(self._layers.map(x, self._layout.key.weight.name, self._maps.key))
        values = self._split(self._layers.map(x, self._layout.value.weight.name, self._maps.value))
        return self._turn(keys, positions), values

    def attend(self, x: str, keys: str, values: str, bias: str, positions: Positions) -> str:
        """Return what the queries of x (B, T, D) find: (B, T, D)."""
        queries = self._split(self._layers.map(x, self._layout.query.weight.name, self._maps.query))
        across = self._graph.op("Transpose", keys, attributes={"perm": [0, 1, 3, 2]})
        scores = self._graph.op("Add", self._graph.op("MatMul", self._turn(queries, positions), across), bias)
        shares = self._graph.op("Softmax", scores, attributes={"axis": -1})
        found = self._graph.op("Transpose", self._graph.op("MatMul", shares, values), attributes={"perm": [0, 2, 1, 3]})
        merged = self._graph.op("Reshape", found, self._graph.ints(0, 0, self._heads * self._width))
        return self._layers.map(merged, self._layout.output.weight.name, self._maps.output)

    def _split(self, x: str) -> str:
        # The first two sizes are those of x, also where one is 0.
        heads = self._graph.op("Reshape", x, self._graph.ints(0, 0, self._heads, self._width))
        return self._graph.op("Transpose", heads, attributes={"perm": [0, 2, 1, 3]})

    def _turn(self, x: str, positions: Positions) -> str:
        if self._tables is None:
            return x
        tables = (
            self._graph.tensor(name, table) for name, table in zip(("cosines", "sines"), self._tables, strict=True)
        )
        cosines, sines = (self._layers.rows(table, positions) for table in tables)
        first, second = self._graph.halves(x, self._width // 2)

        def product(one: str, other: str) -> str:
            return self._graph.op("Mul", one, other)

        turned = (
            self._graph.op("Sub", product(first, cosines), product(second, sines)),
            self._graph.op("Add", product(first, sines), product(second, cosines)),
        )
        return self._graph.op("Concat", *turned, attributes={"axis": -1})
