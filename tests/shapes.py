"""Every kind of model, small and with random weights: what an export can write, or must refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny import PAIRS, many_tokenizers, tiny_bundle

from dragoman.bundle.bundle import Bundle
from dragoman.errors import ConfigError
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.tokenizer import Tokenizers

SHAPES: dict[str, dict[str, Any]] = {
    "post": {},
    "post, sines first": {"positions": "halves"},
    "post, learned positions": {"positions": "learned"},
    "post, rotary": {"positions": "rotary"},
    "post, final norm": {"final_norm": True},
    "post, GELU, unscaled": {"activation": "gelu", "scale_embeddings": False},
    "post, SiLU, no biases": {"activation": "silu", "bias": False},
    "post, SwiGLU": {"activation": "swiglu"},
    "pre": {"norm": "pre"},
    "pre, sines first, no biases": {"norm": "pre", "positions": "halves", "bias": False},
    "pre, learned positions": {"norm": "pre", "positions": "learned"},
    "pre, rotary, no biases": {"norm": "pre", "positions": "rotary", "bias": False},
    "pre, no final norm": {"norm": "pre", "final_norm": False},
    "pre, RMS, SwiGLU, rotary": {
        "norm": "pre",
        "norm_kind": "rms",
        "positions": "rotary",
        "activation": "swiglu",
        "bias": False,
    },
    "pre, std": {"norm": "pre", "norm_kind": "std"},
    "layerwise, rotary": {"norm": "pre", "memory": "layerwise", "positions": "rotary", "bias": False},
    "layerwise, std": {"norm": "pre", "memory": "layerwise", "norm_kind": "std"},
    "narrow heads": {"d_k": 4, "d_v": 4},
    "narrow rotary heads": {"d_k": 4, "d_v": 4, "positions": "rotary"},
    "values wider than keys": {"d_k": 4, "d_v": 6},
    "1 + 2 layers": {"n_encoder_layers": 1},
    "two vocabularies": {"tie": "none", "norm": "pre"},
    "two vocabularies, output tied": {"tie": "decoder"},
    "one vocabulary, nothing tied": {"tie": "none", "joint": True},
    "many languages": {"many": True, "norm": "pre"},
}
#: The settings by which transformers' stock classes refuse a shape.
HF_REFUSED = {
    "post, rotary": ["model.positions=rotary"],
    "post, final norm": ["model.final_norm=true"],
    "post, SwiGLU": ["model.activation=swiglu"],
    "pre, rotary, no biases": ["model.positions=rotary"],
    "pre, no final norm": ["model.final_norm=false"],
    "pre, RMS, SwiGLU, rotary": ["model.positions=rotary", "model.norm_kind=rms", "model.activation=swiglu"],
    "pre, std": ["model.norm_kind=std"],
    "layerwise, rotary": ["model.memory=layerwise", "model.positions=rotary"],
    "layerwise, std": ["model.memory=layerwise", "model.norm_kind=std"],
    "narrow heads": ["model.d_k=4", "model.d_v=4"],
    "narrow rotary heads": ["model.positions=rotary", "model.d_k=4", "model.d_v=4"],
    "values wider than keys": ["model.d_k=4", "model.d_v=6"],
    "two vocabularies": ["model.tie=none"],
}


def shaped_bundle(shape: str, **settings: Any) -> Bundle:
    """A model of two layers each, with gains that are not 1 and biases that are not 0."""
    fields = {"n_encoder_layers": 2, "n_decoder_layers": 2, "max_length": 40, **SHAPES[shape], **settings}
    is_joint = fields.pop("joint", fields.get("tie", "all") == "all")
    tokenizers = many_tokenizers(reserved=2) if fields.pop("many", False) else _tokenizers(joint=is_joint)
    bundle = tiny_bundle(tokenizers, **fields)
    draw = np.random.default_rng(2)
    for name, weight in bundle.weights.items():
        if weight.ndim == 1:
            weight += draw.normal(0, 0.2, weight.shape).astype(np.float32)
        elif "positions" in name:
            weight *= 2
    return bundle


def settings_in_the_way(caught: pytest.ExceptionInfo[ConfigError]) -> list[str]:
    """Return the settings, with their values, that the error of a refused model names."""
    return [line.strip().partition(":")[0] for line in str(caught.value).splitlines()[1:]]


def _tokenizers(*, joint: bool) -> Tokenizers:
    settings = {"kind": "bpe", "byte_fallback": True, "joint": joint, "vocab_size": 320}
    return learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig.model_validate(settings), "en", "de")
