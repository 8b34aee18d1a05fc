"""Positions, which attention itself ignores: a vector added to embeddings, or a rotation of queries and keys.

T positions, D model width, H heads, K head width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dragoman.model.operations import rotate
from dragoman.settings.model_config import ModelShape

#: One for each token or one for all. A tensor (1,) on the model's device is read anew whenever a captured step runs.
Positions = range | Tensor
#: Numbers of a table that are computed when a model is built: 2 MB. `max_length` may be a million tokens.
FIRST_NUMBERS = 2**19


def sinusoidal_table(n_positions: int, d_model: int, *, halves: bool = False, first: int = 0) -> Tensor:
    """Return the table of section 3.5, (T, D), sines on even and cosines on odd dimensions, for positions from `first`:

        PE[p, 2i] = sin(p / 10000^(2i / D)),  PE[p, 2i + 1] = cos(p / 10000^(2i / D))

    With `halves` all sines come first, then all cosines: the same numbers in another order.
    It is computed in double precision: an angle of a few thousand in float32 has lost its last digits.
    """
    position = torch.arange(first, n_positions, dtype=torch.float64)[:, None]
    angle = position * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    waves = (angle.sin(), angle.cos())
    return (torch.cat(waves, dim=-1) if halves else torch.stack(waves, dim=-1).flatten(1)).float()


class SinusoidalPositions(nn.Module):
    """Adds the sinusoidal table; nothing is learned, and nothing is saved with the weights."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int, *, halves: bool = False) -> None:
        super().__init__()
        self.max_length, self.halves = max_length, halves
        table = sinusoidal_table(_first_rows(max_length, d_model), d_model, halves=halves)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, positions: Positions) -> Tensor:
        """x (B, T, D) at `positions`, one for each or one for all -> (B, T, D)."""
        self.table = table = _grown(self.table, positions, self.max_length, halves=self.halves)
        return x + _rows(table, positions)


class LearnedPositions(nn.Module):
    """Adds one learned vector a position (Table 3, row E)."""

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.table, std=0.02)

    def forward(self, x: Tensor, positions: Positions) -> Tensor:
        """x (B, T, D) at `positions`, one for each or one for all -> (B, T, D)."""
        return x + _rows(self.table, positions)


class RotaryPositions(nn.Module):
    """Turns queries and keys by an angle that grows with their position (Su et al. 2021, section 3.2).

    The pair of dimensions (2i, 2i + 1) at position p is turned by p / 10000^(2i / K). Turning both by the same angle
    does not change their product, so a score depends only on the distance between query and key.
    """

    table: Tensor

    def __init__(self, max_length: int, d_k: int) -> None:
        super().__init__()
        self.max_length = max_length
        table = sinusoidal_table(_first_rows(max_length, d_k), d_k, halves=True)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, positions: Positions) -> Tensor:
        """x (B, H, T, K) at `positions`, one for each or one for all -> (B, H, T, K)."""
        self.table = table = _grown(self.table, positions, self.max_length, halves=True)
        return rotate(x, _rows(table, positions))


def build_positions(config: ModelShape) -> SinusoidalPositions | LearnedPositions | None:
    """Return the module that adds positions to embeddings; None for `rotary`, which acts inside attention."""
    if config.positions == "rotary":
        return None
    if config.positions == "learned":
        return LearnedPositions(config.max_length, config.d_model)
    return SinusoidalPositions(config.max_length, config.d_model, halves=config.positions == "halves")


def _first_rows(max_length: int, width: int) -> int:
    """Return the number of rows computed when a model is built; more follow when a sequence needs them."""
    return min(max_length, max(FIRST_NUMBERS // width, 1))


def _grown(table: Tensor, positions: Positions, max_length: int, *, halves: bool) -> Tensor:
    """Return the table if it has rows for these positions, else a longer one on the same device and of the same type.

    Positions in a tensor must have rows: to read them would wait for the device.

    Raises:
        ValueError: the model reads no sequence of that length.
    """
    if isinstance(positions, Tensor) or positions.stop <= len(table):
        return table
    _require_length(positions.stop, max_length)
    n_rows = min(max(positions.stop, 2 * len(table)), max_length)
    with torch.inference_mode(False):  # training may use the table next
        return torch.cat((table, sinusoidal_table(n_rows, table.size(1), halves=halves, first=len(table)).to(table)))


def _rows(table: Tensor, positions: Positions) -> Tensor:
    if isinstance(positions, Tensor):
        return table.index_select(0, positions)
    _require_length(positions.stop, len(table))
    return table[positions.start : positions.stop]


def _require_length(n_positions: int, max_length: int) -> None:
    if n_positions > max_length:
        raise ValueError(f"a sequence of {n_positions} tokens is longer than the model's max_length, {max_length}")
