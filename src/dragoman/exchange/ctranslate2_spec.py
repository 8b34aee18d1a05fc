"""A model as a specification of CTranslate2, which its package writes to files.

Names come from `ctranslate2_names`, shapes from `bundle.layout`. CTranslate2 adds nothing to our arithmetic and leaves
nothing out, except that a token can be made improbable only: those that our search forbids get a low bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ctranslate2.specs import Activation, transformer_spec

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout
from dragoman.exchange.ctranslate2_names import stacked_variables
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


def specification(bundle: Bundle) -> transformer_spec.TransformerSpec:
    """Return the specification of a model without obstacles, with its weights and vocabularies."""
    config, layout = bundle.config, Layout(bundle.config)
    weights = layout.with_ties(bundle.weights)
    spec = _empty(config)
    sides = (
        (spec.encoder, spec.encoder.embeddings[0], layout.source_embedding),
        (spec.decoder, spec.decoder.embeddings, layout.target_embedding),
    )
    for side, embeddings, embedding in sides:
        embeddings.weight = weights[embedding.tokens.name]
        side.scale_embeddings = config.scale_embeddings
        if embedding.positions is not None:
            side.position_encodings.encodings = weights[embedding.positions.name]
        elif config.positions != "rotary":
            side.position_encodings.encodings = _sines(config)
    for variable in stacked_variables(layout):
        _set(spec, variable.name, [weights[weight.name] for weight in variable.weights])
    output, projection = layout.output, spec.decoder.projection
    projection.weight = weights[output.weight.name]
    no_bias = np.zeros(config.target_vocab_size, np.float32)
    projection.bias = no_bias if output.bias is None else weights[output.bias.name].copy()
    projection.bias[never_written(bundle.tokenizers)] = _LOW
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


def _set(spec: Any, name: str, parts: Sequence[Floats]) -> None:
    """Set a variable to its rows. In its name, the parts of lists are numbered: `layer_3`."""
    *path, last = name.split("/")
    for step in path:
        of_list, _, number = step.rpartition("_")
        spec = getattr(spec, step) if hasattr(spec, step) else getattr(spec, of_list)[int(number)]
    setattr(spec, last, parts[0] if len(parts) == 1 else np.concatenate(parts))
    if last == "gamma" and hasattr(spec, "beta"):  # a layer norm has one; that of a model with biases follows
        spec.beta = np.zeros_like(spec.gamma)
