"""Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): matrices move equally far in all directions.

The gradient of a matrix is large in a few directions and tiny in most. Adam, which scales each number by itself, does
not see directions. Muon follows the moving average of the gradient, with all its singular values made about one.

G matrices of equal shape, n by m, n at most m.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from dragoman.machine.processes import Processes

MOMENTUM = 0.95
#: Root mean square of the numbers of an update at a rate of one. Adam's is 0.2 to 1; so the same rates suit both.
UPDATE_RMS = 0.4
#: a x + b x³ + c x⁵ brings a number between 0 and 1 nearer to one; it is applied so often.
POLYNOMIAL = 3.4445, -4.7750, 2.0315
N_ITERATIONS = 5
#: Matrices are made orthogonal together up to this many numbers: many small ones, or one large one. A GPU is only busy
#: with more.
NUMBERS_AT_ONCE, NUMBERS_AT_ONCE_ON_GPU = 1 << 20, 1 << 24


class Muon:
    """The optimizer of some matrices.

    Args:
        matrices: parameters of two dimensions.
    """

    def __init__(self, matrices: Iterable[Parameter]) -> None:
        #: The moving average of each matrix's gradients.
        self.momentum = {matrix: torch.zeros_like(matrix) for matrix in matrices}
        self._groups: dict[tuple[int, ...], list[Parameter]] = {}
        for matrix in self.momentum:
            self._groups.setdefault(_wide(matrix).shape, []).append(matrix)

    @torch.no_grad()
    def updates(self, precision: str, processes: Processes) -> list[tuple[Parameter, Tensor]]:
        """Return the next update (n, m) of each matrix that has a gradient.

        Nothing is changed yet, since memory may run out.

        Each process computes the updates of some matrices and receives the others, so that all have the same bits.

        Args:
            precision: "float32" or "bfloat16", of products; another one is float32.
        """
        found: list[tuple[Parameter, Tensor]] = []
        for shape, group in self._groups.items():
            matrices = [matrix for matrix in group if matrix.grad is not None]
            updates = group[0].new_zeros(len(matrices), *shape)
            own, own_updates = (each[processes.rank :: processes.world_size] for each in (matrices, updates))
            numbers = NUMBERS_AT_ONCE if updates.device.type == "cpu" else NUMBERS_AT_ONCE_ON_GPU
            at_once = max(1, numbers // math.prod(shape))
            for first in range(0, len(own), at_once):
                some = slice(first, first + at_once)
                own_updates[some] = orthogonal(torch.stack([self._ahead(matrix) for matrix in own[some]]), precision)
            found += zip(matrices, processes.sum(updates), strict=True)
        return found

    def _ahead(self, matrix: Parameter) -> Tensor:
        """Return the momentum (n, m) after one more gradient like this one (Nesterov's)."""
        assert matrix.grad is not None
        return _wide(matrix.grad.lerp(self.momentum[matrix], MOMENTUM**2))

    @torch.no_grad()
    def apply(
        self, updates: Iterable[tuple[Parameter, Tensor]], rate: float | Tensor, skipped: Tensor | None = None
    ) -> None:
        """Apply the result of `updates`; the arguments are those of `Move`. On a CPU, this asks for no memory."""
        weight = 1 - MOMENTUM if skipped is None else (1 - MOMENTUM) * (1 - skipped)
        for matrix, update in updates:
            assert matrix.grad is not None
            self.momentum[matrix].lerp_(matrix.grad, weight)
            rms = update.size(1) ** -0.5  # of orthogonal rows
            if isinstance(rate, Tensor):
                _wide(matrix).addcmul_(update, rate, value=-UPDATE_RMS / rms)
            else:
                _wide(matrix).sub_(update, alpha=rate * UPDATE_RMS / rms)


def orthogonal(matrices: Tensor, precision: str) -> Tensor:
    """Return matrices (G, n, m) with the same singular vectors, and singular values of about one (0.68 to 1.21).

    What is less than a hundredth of a matrix's norm is raised as far as five steps go. This is Newton and Schulz's
    iteration: odd powers of a matrix are those of its singular values.
    """
    norms = matrices.norm(dim=(1, 2), keepdim=True).clamp(min=1e-20)  # no singular value is more
    x: Tensor = (matrices / norms).to(torch.bfloat16 if precision == "bfloat16" else torch.float32)
    a, b, c = POLYNOMIAL
    for _ in range(N_ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.float()


def _wide(matrix: Tensor) -> Tensor:
    """Return the matrix, or its transpose if it has more rows than columns."""
    return matrix if matrix.size(0) <= matrix.size(1) else matrix.T
