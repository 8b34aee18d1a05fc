"""Small models and batches that several tests use."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair


def small_model(special_ids: SpecialIdPair = SpecialIdPair(), **fields: Any) -> Transformer:
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_ff": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "max_length": 32}
    config = ModelConfig(**({"source_vocab_size": 11, "target_vocab_size": 11} | sizes | fields))
    return Transformer(config, special_ids).double().eval()


def sentences(*rows: list[int]) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
