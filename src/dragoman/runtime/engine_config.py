"""A model's configuration in the words of the engine."""

from __future__ import annotations

import ctypes

from dragoman.native.kernels import header
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair

#: The names in dragoman.h of the values of each setting.
_NAMES = {
    "norm": {"post": "POST_NORM", "pre": "PRE_NORM"},
    "norm_kind": {"layer": "LAYER", "std": "STD", "rms": "RMS"},
    "activation": {"relu": "RELU", "gelu": "GELU", "swiglu": "SWIGLU", "silu": "SILU"},
    "positions": {"sinusoidal": "SINUSOIDAL", "halves": "HALVES", "learned": "LEARNED", "rotary": "ROTARY"},
    "tie": {"none": "TIE_NONE", "decoder": "TIE_DECODER", "all": "TIE_ALL"},
    "memory": {"last": "LAST", "layerwise": "LAYERWISE"},
    "decoder_layer": {"attention": "ATTENTION", "ssru": "SSRU"},
}


def engine_config(config: ModelConfig, special_ids: SpecialIdPair) -> ctypes.Structure:
    """Return the structure `ModelConfig` of dragoman.h."""
    constants, target = header().constants, special_ids.target
    d_k, d_v = config.head_widths
    numbers = ("d_model", "d_ff", "n_heads", "n_encoder_layers", "n_decoder_layers", "max_length")
    sizes = {name: getattr(config, name) for name in (*numbers, "source_vocab_size", "target_vocab_size")}
    choices = {name: constants[names[getattr(config, name)]] for name, names in _NAMES.items()}
    return header().structure(
        "ModelConfig",
        **sizes,
        **choices,
        d_k=d_k,
        d_v=d_v,
        norm_epsilon=config.norm_epsilon,
        has_final_norm=config.has_final_norm,
        bias=config.bias,
        scale_embeddings=config.scale_embeddings,
        source_pad=special_ids.source.pad,
        source_end=special_ids.source.end,
        target_pad=target.pad,
        target_start=target.start,
        target_end=target.end,
    )
