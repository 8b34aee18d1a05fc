"""Small models and batches that several tests use."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from dragoman.bundle.weights import weights_of
from dragoman.model.transformer import Transformer
from dragoman.native.kernels import Kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair

#: Options of `random_model`.
shapes = st.fixed_dictionaries(
    {},
    optional={
        "norm": st.sampled_from(["pre", "post"]),
        "norm_kind": st.sampled_from(["layer", "std", "rms"]),
        "norm_epsilon": st.sampled_from([1e-5, 1e-9, 0.1]),
        "final_norm": st.booleans(),
        "activation": st.sampled_from(["relu", "gelu", "silu", "swiglu"]),
        "bias": st.booleans(),
        "scale_embeddings": st.booleans(),
        "positions": st.sampled_from(["sinusoidal", "halves", "learned", "rotary"]),
        "memory": st.sampled_from(["last", "layerwise"]),
        "decoder_layer": st.sampled_from(["attention", "ssru"]),
        "tie": st.sampled_from(["none", "decoder", "all"]),
        "d_model": st.sampled_from([12, 36]),
        "d_ff": st.sampled_from([17, 33]),
        "d_k": st.sampled_from([4, 6]),
        "d_v": st.sampled_from([3, 8]),
    },
)


def random_model(seed: int, certainty: float = 3, /, **options: object) -> Transformer:
    """Return a model whose every parameter matters; `certainty`: an untrained model is sure of nothing."""
    torch.manual_seed(seed)
    shape: dict[str, object] = {
        "source_vocab_size": 30,
        "target_vocab_size": 30 if options.get("tie") == "all" else 25,
        "d_model": 16,
        "d_ff": 32,
        "n_heads": 2,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "max_length": 40,
    }
    model = Transformer(ModelConfig.model_validate(shape | options)).eval()
    with torch.no_grad():
        model.output_projection.weight.mul_(certainty)
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)  # else zero, or one
    return model


def compiled(model: Transformer, kernels: Kernels) -> CompiledModel:
    return CompiledModel(model.config, weights_of(model), kernels)


def small_model(special_ids: SpecialIdPair = SpecialIdPair(), **fields: Any) -> Transformer:
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_ff": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "max_length": 32}
    config = ModelConfig(**({"source_vocab_size": 11, "target_vocab_size": 11} | sizes | fields))
    return Transformer(config, special_ids).double().eval()


def sentences(*rows: list[int]) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
