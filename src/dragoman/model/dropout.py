"""Dropout (Srivastava et al. 2014)."""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.model.operations import add_dropped, dropout


class Dropout(nn.Module):
    """In training, zeroes each number with probability p, and scales the others by 1 / (1 - p)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same shape."""
        return dropout(x, self.p) if self.training and self.p else x

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + self(y): both (..., D) -> (..., D)."""
        return add_dropped(x, y, self.p if self.training else 0.0)

    def extra_repr(self) -> str:
        """Return its text in `print(model)`."""
        return f"p={self.p}"
