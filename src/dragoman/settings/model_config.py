"""Settings of the section `model`, and those of a model with its vocabularies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from dragoman.settings.ranges import Depth, Probability
from dragoman.settings.sections import Section


class ModelShape(Section):
    """The Transformer of Vaswani et al. (2017), in the paper's symbols, without its vocabulary sizes."""

    also_known = ("preset",)

    d_model: Annotated[int, Field(ge=1, le=65_536)] = 512
    d_ff: Annotated[int, Field(ge=1, le=1_000_000)] = 2048
    n_heads: Annotated[int, Field(ge=1, le=1_024)] = 8
    n_encoder_layers: Depth = 6
    n_decoder_layers: Depth = 6
    d_k: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """Width of a head's queries and keys, and of its values; None is d_model / n_heads."""
    d_v: Annotated[int, Field(ge=1, le=65_536)] | None = None
    dropout: Probability = 0.1
    """Dropout of each sublayer's output, and of embeddings where `embedding_dropout` is None."""
    embedding_dropout: Probability | None = None
    attention_dropout: Probability = 0.0
    activation_dropout: Probability = 0.0
    """Dropout between the two matrices of the feed-forward layer."""
    norm: Literal["post", "pre"] = "post"
    """A norm after each residual, as in the paper, or before each sub-layer."""
    norm_kind: Literal["layer", "std", "rms"] = "layer"
    """`std` divides by the unbiased standard deviation plus epsilon; `rms` does not subtract the mean."""
    norm_epsilon: Annotated[float, Field(gt=0, le=1)] = 1e-5
    """The number that `layer` adds to the variance; 1e-9 in Marian's models."""
    final_norm: bool | None = None
    """One more norm after the last layer; None is yes for `pre`, whose sum has none yet, and no for `post`."""
    activation: Literal["relu", "gelu", "silu", "swiglu"] = "relu"
    bias: bool = True
    """Linear maps and layer norms add a learned vector."""
    scale_embeddings: bool = True
    """Multiply embeddings by sqrt(d_model)."""
    positions: Literal["sinusoidal", "halves", "learned", "rotary"] = "sinusoidal"
    """`sinusoidal` has sines and cosines in turn, as in the paper; `halves` has all sines first."""
    init: Literal["xavier", "pytorch"] = "xavier"
    tie: Literal["none", "decoder", "all"] = "none"
    """Matrices that are one: none; the decoder's embedding and output; both embeddings and the output."""
    decoder_layer: Literal["attention", "ssru"] = "attention"
    """Reading of the target so far: self-attention, or a recurrent unit, SSRU (Kim et al. 2019), which is faster."""
    memory: Literal["last", "layerwise"] = "last"
    """The memory of decoder layer i: the encoder's last layer, or the encoder's layer i."""
    max_length: Annotated[int, Field(ge=2, le=1_000_000)] = 512
    """Longest sequence, in tokens."""

    def contradictions(self) -> Iterator[str]:
        """Yield widths that do not divide, and depths that differ."""
        heads = self.n_heads if self.d_k is None or self.d_v is None else 1
        unit = math.lcm(heads, 2) if self.positions in ("sinusoidal", "halves") else heads
        below = self.d_model - self.d_model % unit
        near = f"{below} or {below + unit}" if below else f"{unit}"
        width = self.head_widths[0]
        if self.d_model % heads:
            yield f"d_model {self.d_model} does not divide into {heads} heads; set it to {near}"
        elif self.d_model % unit:
            yield f"{self.positions} positions need an even d_model; set it to {near}"
        elif self.positions == "rotary" and width % 2:
            near = f"{width - 1} or {width + 1}" if width > 1 else "2"
            yield f"rotary positions need heads of even width, not {width}; set d_k to {near}"
        if self.memory == "layerwise" and self.n_encoder_layers != self.n_decoder_layers:
            depths = f"{self.n_encoder_layers} or {self.n_decoder_layers}"
            yield f"layerwise memory needs as many encoder as decoder layers; set both to {depths}"

    @property
    def has_final_norm(self) -> bool:
        """True if a norm follows the last layer of the encoder and of the decoder."""
        return self.norm == "pre" if self.final_norm is None else self.final_norm

    @property
    def head_widths(self) -> tuple[int, int]:
        """Return (d_k, d_v): the width of a head's queries and keys, and of its values."""
        return self.d_k or self.d_model // self.n_heads, self.d_v or self.d_model // self.n_heads


class ModelConfig(ModelShape):
    """A `ModelShape` with its vocabulary sizes: all that is needed to build the model."""

    source_vocab_size: Annotated[int, Field(ge=4, le=10_000_000)]
    target_vocab_size: Annotated[int, Field(ge=4, le=10_000_000)]

    def computes_as(self, other: ModelConfig) -> bool:
        """Return True if all settings are equal, except dropout, which only training uses."""
        rates = {name for name in type(self).model_fields if name.endswith("dropout")}
        return self.model_dump(exclude=rates) == other.model_dump(exclude=rates)

    def contradictions(self) -> Iterator[str]:
        """Yield those of the shape, and a tie of vocabularies of different sizes."""
        yield from super().contradictions()
        if self.tie == "all" and self.source_vocab_size != self.target_vocab_size:
            yield (
                f"tie 'all' needs one joint vocabulary, but the sizes are {self.source_vocab_size} and "
                f"{self.target_vocab_size}; use tokenizer.joint=true or model.tie=decoder"
            )
