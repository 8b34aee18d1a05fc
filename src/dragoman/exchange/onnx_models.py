"""A model as two graphs of ONNX, in the layout that transformers.js reads.

The encoder returns the memories of all decoder layers side by side, once if they are the same. The decoder reads T more
tokens after those of its cache. In the first step, when the cache of the memory is empty, it fills that from the
memories; later, it takes no rows of them. So one graph serves all steps, without branches.
B batch, S source, T target, D model width, H heads, M padded width of a head, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import DecoderLayerLayout, EncoderLayerLayout, Layout
from dragoman.exchange.onnx_builder import BOOL, FLOAT, INT64, Builder, Signature
from dragoman.exchange.onnx_heads import padded_width
from dragoman.exchange.onnx_layers import Layers, Positions
from dragoman.settings.model_config import ModelConfig

_PAST, _PRESENT = "past_key_values", "present"


def encoder_model(bundle: Bundle, n_positions: int) -> bytes:
    """Return the graph: input_ids and attention_mask (B, S) -> last_hidden_state (B, S, D or L * D)."""
    config, layout = bundle.config, Layout(bundle.config)
    graph = Builder()
    layers = Layers(graph, config, bundle.weights, n_positions)
    positions = Positions(graph.ints(0), graph.size("input_ids", 1))
    bias = _source_bias(layers, "attention_mask")
    x = layers.embedding("input_ids", layout.source_embedding, positions, has_columns=False)
    memories = []
    for layer in layout.encoder_layers:
        x = _encoder_layer(layers, layer, x, bias, positions)
        memories.append(x)
    if not _has_many_memories(config):
        memories = memories[-1:]
    if layout.encoder_norm is not None:
        memories = [layers.norm(memory, layout.encoder_norm) for memory in memories]
    graph.op("Concat", *memories, attributes={"axis": -1}, output="last_hidden_state")
    inputs: list[Signature] = [(name, INT64, ("batch", "source")) for name in ("input_ids", "attention_mask")]
    return graph.model("encoder", inputs, [("last_hidden_state", FLOAT, ("batch", "source", _memory_width(config)))])


def decoder_model(bundle: Bundle, n_positions: int) -> bytes:
    """Return the graph: input_ids (B, T), the encoder's results and a cache -> logits (B, T, V) and a longer cache."""
    config, layout = bundle.config, Layout(bundle.config)
    graph = Builder()
    layers = Layers(graph, config, bundle.weights, n_positions)
    n_past = graph.size(f"{_PAST}.0.decoder.key", 2)
    positions = Positions(n_past, graph.op("Add", n_past, graph.size("input_ids", 1)))
    is_tied = layout.output.weight.name in layout.ties
    x = layers.embedding("input_ids", layout.target_embedding, positions, has_columns=is_tied)
    biases = _target_bias(layers, positions), _source_bias(layers, "encoder_attention_mask")
    memories = _memories(layers)
    for number, layer in enumerate(layout.decoder_layers):
        decoder_layer = _DecoderLayer(layers, layer, number, positions)
        x = decoder_layer.apply(x, memories[number % len(memories)], *biases)
    if layout.decoder_norm is not None:
        x = layers.norm(x, layout.decoder_norm)
    graph.op("Identity", layers.linear(x, layout.output), output="logits")
    cache = list(_cache_names(config))
    shape = ("batch", config.n_heads)
    inputs: list[Signature] = [
        ("encoder_attention_mask", INT64, ("batch", "source")),
        ("input_ids", INT64, ("batch", "target")),
        ("encoder_hidden_states", FLOAT, ("batch", "source", _memory_width(config))),
        *((f"{_PAST}.{part}", FLOAT, (*shape, f"past of {part}", padded_width(config))) for part in cache),
    ]
    outputs: list[Signature] = [
        ("logits", FLOAT, ("batch", "target", config.target_vocab_size)),
        *((f"{_PRESENT}.{part}", FLOAT, (*shape, f"length of {part}", padded_width(config))) for part in cache),
    ]
    return graph.model("decoder", inputs, outputs)


def _has_many_memories(config: ModelConfig) -> bool:
    return config.memory == "layerwise"


def _memory_width(config: ModelConfig) -> int:
    return config.d_model * (config.n_encoder_layers if _has_many_memories(config) else 1)


def _cache_names(config: ModelConfig) -> Iterator[str]:
    for number in range(config.n_decoder_layers):
        for side in ("decoder", "encoder"):
            for part in ("key", "value"):
                yield f"{number}.{side}.{part}"


def _source_bias(layers: Layers, mask: str) -> str:
    """Return the bias (B, 1, 1, S) of scores for a mask (B, S) of ones and zeros."""
    is_seen = layers.graph.op("Cast", mask, attributes={"to": BOOL})
    return layers.mask_bias(layers.graph.op("Unsqueeze", is_seen, layers.graph.ints(1, 2)))


def _target_bias(layers: Layers, positions: Positions) -> str:
    """Return the bias (T, all positions so far) by which no token sees a later one."""
    graph = layers.graph
    start, stop = (graph.op("Squeeze", each, graph.ints(0)) for each in positions)
    zero, one = (graph.op("Squeeze", graph.ints(each), graph.ints(0)) for each in (0, 1))
    queries = graph.op("Unsqueeze", graph.op("Range", start, stop, one), graph.ints(1))
    return layers.mask_bias(graph.op("LessOrEqual", graph.op("Range", zero, stop, one), queries))


def _memories(layers: Layers) -> list[str]:
    """Return the memories of which keys and values are still missing: all, or (B, 0, D)."""
    graph, config = layers.graph, layers.config
    is_first = graph.op("Equal", graph.size(f"{_PAST}.0.encoder.key", 2), graph.ints(0))
    n_rows = graph.op("Where", is_first, graph.size("encoder_hidden_states", 1), graph.ints(0))
    rows = graph.op("Slice", "encoder_hidden_states", graph.ints(0), n_rows, graph.ints(1))
    if not _has_many_memories(config):
        return [rows]
    edges = [graph.ints(config.d_model * number) for number in range(config.n_encoder_layers + 1)]
    return [graph.op("Slice", rows, first, last, graph.ints(2)) for first, last in pairwise(edges)]


def _encoder_layer(layers: Layers, layer: EncoderLayerLayout, x: str, bias: str, positions: Positions) -> str:
    attention = layers.attention(layer.self_attention, is_turned=layers.config.positions == "rotary")

    def attend(x: str) -> str:
        return attention.attend(x, *attention.keys_values(x, positions), bias, positions)

    x = layers.residual(x, layer.self_norm, attend)
    return layers.residual(x, layer.feed_forward_norm, lambda x: layers.feed_forward(x, layer.feed_forward))


class _DecoderLayer(NamedTuple):
    """A layer of the decoder that reads tokens at some positions."""

    layers: Layers
    layout: DecoderLayerLayout
    number: int
    positions: Positions

    def apply(self, x: str, memory: str, target_bias: str, source_bias: str) -> str:
        """Return (B, T, D) for x (B, T, D)."""
        layers, layout, positions = self.layers, self.layout, self.positions
        assert layout.self_attention is not None
        to_itself = layers.attention(layout.self_attention, is_turned=layers.config.positions == "rotary")
        to_memory = layers.attention(layout.cross_attention, is_turned=False)

        def attend_to_target(x: str) -> str:
            keys, values = self._longer("decoder", *to_itself.keys_values(x, positions))
            return to_itself.attend(x, keys, values, target_bias, positions)

        def attend_to_memory(x: str) -> str:
            keys, values = self._longer("encoder", *to_memory.keys_values(memory, positions))
            return to_memory.attend(x, keys, values, source_bias, positions)

        x = layers.residual(x, layout.self_norm, attend_to_target)
        x = layers.residual(x, layout.cross_norm, attend_to_memory)
        return layers.residual(x, layout.feed_forward_norm, lambda x: layers.feed_forward(x, layout.feed_forward))

    def _longer(self, side: str, keys: str, values: str) -> tuple[str, str]:
        """Return the keys and values of the cache with new ones behind them; they are results of the graph."""
        parts = ((f"{self.number}.{side}.{part}", new) for part, new in (("key", keys), ("value", values)))
        longer_keys, longer_values = (
            self.layers.graph.op("Concat", f"{_PAST}.{name}", new, attributes={"axis": 2}, output=f"{_PRESENT}.{name}")
            for name, new in parts
        )
        return longer_keys, longer_values
