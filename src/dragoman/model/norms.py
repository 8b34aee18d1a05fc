"""Norms, which bring the vector of each position to a common scale. D model width."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dragoman.model.operations import layer_norm
from dragoman.settings.model_config import ModelShape


class StdNorm(nn.Module):
    """gain * (x - mean) / (std + epsilon) + bias, with the unbiased standard deviation.

    The form of the well-known annotated implementations. Layer norm (Ba et al. 2016) divides by
    sqrt(variance + epsilon), with the biased variance: about a factor sqrt((D - 1) / D) apart.
    """

    def __init__(self, d_model: int, *, bias: bool = True, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D) -> (..., D)."""
        centred = x - x.mean(dim=-1, keepdim=True)
        scaled = self.weight * centred / (x.std(dim=-1, keepdim=True) + self.eps)
        return scaled if self.bias is None else scaled + self.bias


class LayerNorm(nn.LayerNorm):
    """gain * (x - mean) / sqrt(variance + epsilon) + bias (Ba et al. 2016)."""

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D) -> (..., D)."""
        return layer_norm(x, self.weight, self.bias, self.eps)[0]


def build_norm(config: ModelShape) -> nn.Module:
    """Return the norm that `config.norm_kind` names."""
    if config.norm_kind == "rms":  # x / sqrt(mean(x^2) + eps) * gain (Zhang and Sennrich 2019)
        return nn.RMSNorm(config.d_model, eps=1e-6)
    if config.norm_kind == "std":
        return StdNorm(config.d_model, bias=config.bias)
    return LayerNorm(config.d_model, bias=config.bias, eps=config.norm_epsilon)


def norm_and_keep(norm: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return norm(x) for all the products that read it, and x (..., D) for a residual sum.

    Under autocast, norm(x) has the type of those products, so that each need not convert it.
    """
    kind = x.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    if isinstance(norm, LayerNorm):
        return layer_norm(x, norm.weight, norm.bias, norm.eps, dtype)
    normed: Tensor = norm(x)
    return normed if dtype is None else normed.to(dtype), x
