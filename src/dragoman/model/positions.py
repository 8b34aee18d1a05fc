"""Where a token stands: attention alone cannot tell, so a vector for each position is added to its embedding.

T positions, D model width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_table(n_positions: int, d_model: int) -> Tensor:
    """The table of section 3.5, (T, D), sines on even and cosines on odd dimensions:

        PE[p, 2i] = sin(p / 10000^(2i / D)),  PE[p, 2i + 1] = cos(p / 10000^(2i / D))

    Computed in double precision, since a float32 angle of a few thousand has lost its last digits.
    """
    position = torch.arange(n_positions, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position * 10000.0 ** (-even / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """Adds the sinusoidal table; nothing is learned, and nothing is saved with the weights."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_table(max_length, d_model), persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, T, D) at positions offset .. offset + T -> (B, T, D)."""
        return x + _rows(self.table, offset, x.size(1))


class LearnedPositions(nn.Module):
    """Adds one learned vector a position (Table 3, row E)."""

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_length, d_model))

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, T, D) at positions offset .. offset + T -> (B, T, D)."""
        return x + _rows(self.table, offset, x.size(1))


def _rows(table: Tensor, offset: int, n_positions: int) -> Tensor:
    end = offset + n_positions
    if end > len(table):
        raise ValueError(f"a sequence of {end} tokens is longer than the model's max_length, {len(table)}")
    return table[offset:end]
