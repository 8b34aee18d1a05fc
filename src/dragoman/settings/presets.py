"""Sizes of models that are known to work, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: With all of these, or a preset, a model section fixes the size of the model.
SIZES = frozenset({"d_model", "d_ff", "n_heads", "n_encoder_layers", "n_decoder_layers"})

#: `model.preset` in a recipe: sizes known to work. `base` and `big` are the paper's (Table 3); `tiny` is the
#: shape of Wu et al. (2021) for small data.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "tiny": {
        "d_model": 128,
        "d_ff": 256,
        "n_heads": 4,
        "n_encoder_layers": 4,
        "n_decoder_layers": 4,
        "tie": "all",
    },
    "small": {
        "d_model": 256,
        "d_ff": 1024,
        "n_heads": 4,
        "n_encoder_layers": 3,
        "n_decoder_layers": 3,
        "tie": "all",
    },
    "base": {"tie": "all"},
    "big": {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3, "tie": "all"},
}


def has_sizes(model: Mapping[str, Any]) -> bool:
    """Return True if a section `model` says how large the model is."""
    return "preset" in model or model.keys() >= SIZES
