"""Dropout (Srivastava et al. 2014), with cheap random numbers where PyTorch's are dear."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.native import fused


class Dropout(nn.Module):
    """Zeroes each number with probability p while training, and scales the others by 1 / (1 - p).

    On a CPU, PyTorch draws one number after another for each element, which takes a seventh of a training step of a
    small model. Here one 64-bit draw serves four elements, so p is exact to 1/65536. The generator is PyTorch's, or one
    that PyTorch's gives its seed.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same shape."""
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * dropout_mask(x.shape, self.p, x.dtype)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + self(y): both (..., D) -> (..., D)."""
        if self.training and self.p and x.shape == y.shape and fused.is_worth_it(x, y):
            return fused.add_dropped(x, y, n_dropped(self.p))
        dropped: Tensor = self(y)
        return x + dropped

    def extra_repr(self) -> str:
        """What `print(model)` says of it."""
        return f"p={self.p}"


def n_dropped(p: float) -> int:
    """Of 65,536 draws of 16 bits, how many drop a number with probability p."""
    return min(65535, round(p * 65536))


def dropout_mask(shape: torch.Size, p: float, dtype: torch.dtype) -> Tensor:
    """0 with probability p (to the nearest 1/65536), else 1 / (1 - p), independently for each element."""
    n_elements, dropped = shape.numel(), n_dropped(p)
    if not dropped:
        return torch.ones(shape, dtype=dtype)
    draws = torch.empty(-(-n_elements // 4), dtype=torch.int64).random_(-(2**63), None)
    numbers, lowest_kept = draws.view(torch.int16)[:n_elements].view(shape), dropped - 32768
    # 0 where a number is below, else 1: comparisons take PyTorch twice as long.
    kept = numbers.clamp_(lowest_kept - 1, lowest_kept).sub_(lowest_kept - 1)
    scale = torch.tensor(65536 / (65536 - dropped), dtype=dtype)
    if dtype.itemsize == kept.itemsize:
        return kept.mul_(scale.view(torch.int16)).view(dtype)  # the bits of 0 or of the scale, without a conversion
    return kept.to(dtype).mul_(scale)
