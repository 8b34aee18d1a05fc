"""The layout of the weights: every name in the state dict of a `Transformer`, with its shape.

All code that checks, folds, packs, converts, imports or exports weights reads this table, and no other module spells
their names. It follows from the configuration alone, so a file is checked before a model is built from it. The tree is
that of the model:

    Layout               source_embedding, target_embedding, encoder_layers, decoder_layers,
                         encoder_norm, decoder_norm (None unless `final_norm`), output
    EmbeddingLayout      tokens, positions (None unless learned)
    EncoderLayerLayout   self_attention, feed_forward, self_norm, feed_forward_norm
    DecoderLayerLayout   the same, cross_attention, cross_norm; self_attention or ssru is None
    SSRULayout           input, which has no bias, forget
    AttentionLayout      query, key, value, output
    FeedForwardLayout    inner, gate (None unless swiglu), outer
    LinearLayout         weight (outputs, inputs), bias (outputs,)
    NormLayout           weight (D,), which is the gain, bias (D,)

V vocabulary, L longest sequence, D model width, F feed-forward width, H heads, K and W widths of a head's keys and
values. A bias that the model does not have is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from dragoman.settings.model_config import ModelConfig

T = TypeVar("T")


class Weight(NamedTuple):
    """One tensor of the state dict."""

    name: str
    shape: tuple[int, ...]


class LinearLayout:
    """A linear map."""

    def __init__(self, name: str, n_inputs: int, n_outputs: int, *, bias: bool) -> None:
        self.weight = Weight(f"{name}.weight", (n_outputs, n_inputs))
        self.bias = Weight(f"{name}.bias", (n_outputs,)) if bias else None


class NormLayout:
    """A norm of vectors (D,)."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        self.weight = Weight(f"{name}.weight", (config.d_model,))
        has_bias = config.bias and config.norm_kind != "rms"
        self.bias = Weight(f"{name}.bias", (config.d_model,)) if has_bias else None


class EmbeddingLayout:
    """Vectors of tokens (V, D) and of positions (L, D)."""

    def __init__(self, name: str, vocab_size: int, config: ModelConfig) -> None:
        self.tokens = Weight(f"{name}.tokens.weight", (vocab_size, config.d_model))
        positions = Weight(f"{name}.positions.table", (config.max_length, config.d_model))
        self.positions = positions if config.positions == "learned" else None


class AttentionLayout:
    """Maps of D numbers to H * K, H * K and H * W, and of H * W to D."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        keys, values = (config.n_heads * width for width in config.head_widths)
        self.query = LinearLayout(f"{name}.query_projection", config.d_model, keys, bias=config.bias)
        self.key = LinearLayout(f"{name}.key_projection", config.d_model, keys, bias=config.bias)
        self.value = LinearLayout(f"{name}.value_projection", config.d_model, values, bias=config.bias)
        self.output = LinearLayout(f"{name}.output_projection", values, config.d_model, bias=config.bias)


class SSRULayout:
    """Two maps of D numbers to D."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        self.input = LinearLayout(f"{name}.input", config.d_model, config.d_model, bias=False)
        self.forget = LinearLayout(f"{name}.forget", config.d_model, config.d_model, bias=config.bias)


class FeedForwardLayout:
    """Maps of D numbers to F, and of F to D."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        gate = LinearLayout(f"{name}.gate", config.d_model, config.d_ff, bias=config.bias)
        self.inner = LinearLayout(f"{name}.inner", config.d_model, config.d_ff, bias=config.bias)
        self.gate = gate if config.activation == "swiglu" else None
        self.outer = LinearLayout(f"{name}.outer", config.d_ff, config.d_model, bias=config.bias)


class EncoderLayerLayout:
    """A layer of the encoder, with the norm before or after each sublayer."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        self.self_attention = AttentionLayout(f"{name}.self_attention", config)
        self.feed_forward = FeedForwardLayout(f"{name}.feed_forward", config)
        self.self_norm = NormLayout(f"{name}.attention_residual.norm", config)
        self.feed_forward_norm = NormLayout(f"{name}.feed_forward_residual.norm", config)


class DecoderLayerLayout:
    """A layer of the decoder, with the norm before or after each sublayer."""

    def __init__(self, name: str, config: ModelConfig) -> None:
        has_ssru = config.decoder_layer == "ssru"
        self.self_attention = None if has_ssru else AttentionLayout(f"{name}.self_attention", config)
        self.ssru = SSRULayout(f"{name}.ssru", config) if has_ssru else None
        self.cross_attention = AttentionLayout(f"{name}.cross_attention", config)
        self.feed_forward = FeedForwardLayout(f"{name}.feed_forward", config)
        self.self_norm = NormLayout(f"{name}.self_residual.norm", config)
        self.cross_norm = NormLayout(f"{name}.cross_residual.norm", config)
        self.feed_forward_norm = NormLayout(f"{name}.feed_forward_residual.norm", config)


class Layout:
    """The whole table.

    `ties` names the weights that no file has, because `config.tie` makes each the same tensor as another: its name is
    the key, the other's the value.
    """

    def __init__(self, config: ModelConfig) -> None:
        self.source_embedding = EmbeddingLayout("source_embedding", config.source_vocab_size, config)
        self.target_embedding = EmbeddingLayout("target_embedding", config.target_vocab_size, config)
        self.encoder_layers = [
            EncoderLayerLayout(f"encoder_layers.{n}", config) for n in range(config.n_encoder_layers)
        ]
        self.decoder_layers = [
            DecoderLayerLayout(f"decoder_layers.{n}", config) for n in range(config.n_decoder_layers)
        ]
        self.encoder_norm = NormLayout("encoder_norm", config) if config.has_final_norm else None
        self.decoder_norm = NormLayout("decoder_norm", config) if config.has_final_norm else None
        self.output = LinearLayout("output_projection", config.d_model, config.target_vocab_size, bias=config.bias)
        source, target = self.source_embedding.tokens.name, self.target_embedding.tokens.name
        output = self.output.weight.name
        ties = {"none": {}, "decoder": {output: target}, "all": {target: source, output: source}}
        self.ties: Mapping[str, str] = ties[config.tie]

    def parts(self, kind: type[T]) -> Iterator[T]:
        """Yield all parts of a type, such as `LinearLayout` or `Weight`, in the order of the table."""
        return _parts_of(self, kind)

    def with_ties(self, weights: Mapping[str, T]) -> dict[str, T]:
        """Return the weights of a file, and the tied ones by their own names too."""
        return {**weights, **{name: weights[other] for name, other in self.ties.items()}}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight that a file has, by name."""
        return {weight.name: weight.shape for weight in self.parts(Weight) if weight.name not in self.ties}


def _parts_of(part: object, kind: type[T]) -> Iterator[T]:
    if isinstance(part, kind):
        yield part
        return
    children = part if isinstance(part, list) else vars(part).values() if hasattr(part, "__dict__") else ()
    for child in children:
        yield from _parts_of(child, kind)
