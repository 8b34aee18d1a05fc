"""Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): matrices move equally far in all directions.

The gradient of a matrix is large in a few directions and tiny in most. Adam, which scales each number by itself, does
not see directions. Muon follows the moving average of the gradient, with all its singular values made about one.

G matrices of equal shape, n by m, n at most m.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Parameter

from dragoman.processes import Processes

MOMENTUM = 0.95
#: Root mean square of the numbers of an update at a rate of one. Adam's is 0.2 to 1; so the same rates suit both.
SIZE = 0.4
#: a x + b x³ + c x⁵ brings what is between 0 and 1 nearer to one; and how often it does.
POLYNOMIAL = 3.4445, -4.7750, 2.0315
N_ITERATIONS = 5


class Move(NamedTuple):
    """A step of the matrices of one shape, before it is made."""

    momentum: Tensor  # (G, n, m), the next
    update: Tensor  # (G, n, m)


class Muon:
    """The optimizer of some matrices.

    Args:
        matrices: parameters of two dimensions.
    """

    def __init__(self, matrices: Iterable[Parameter]) -> None:
        self._groups: dict[tuple[int, int], list[Parameter]] = {}
        for matrix in matrices:
            n, m = sorted(matrix.shape)
            self._groups.setdefault((n, m), []).append(matrix)
        #: The moving average of the gradients of each shape: (G, n, m), by (n, m).
        self.momenta = {shape: torch.stack([_zeros(each) for each in group]) for shape, group in self._groups.items()}

    @torch.no_grad()
    def moves(self, precision: str, processes: Processes) -> list[Move]:
        """The next step of all matrices. Nothing is changed yet, so that this may run out of memory.

        Each process finds the updates of some matrices and is told the others, so that all have the same bits.

        Args:
            precision: "float32" or "bfloat16", of products.
        """
        found = []
        for shape, group in self._groups.items():
            gradients = torch.stack([_zeros(each) if each.grad is None else _lying(each.grad) for each in group])
            momentum = self.momenta[shape].lerp(gradients, 1 - MOMENTUM)
            ahead = gradients.lerp_(momentum, MOMENTUM)  # Nesterov's: where the next step's momentum will point
            mine = slice(processes.rank, None, processes.world_size)
            update = torch.zeros_like(ahead)
            update[mine] = orthogonal(ahead[mine], precision)
            found.append(Move(momentum, processes.sum(update)))
        return found

    @torch.no_grad()
    def make(self, moves: Iterable[Move], rate: float) -> None:
        """Make the step that `moves` found."""
        for (shape, group), (momentum, update) in zip(self._groups.items(), moves, strict=True):
            self.momenta[shape].copy_(momentum)
            size = SIZE * shape[1] ** 0.5  # the mean square of orthogonal rows of m numbers is 1 / m
            for matrix, own in zip(group, update, strict=True):
                _lying(matrix).sub_(own, alpha=rate * size)


def orthogonal(matrices: Tensor, precision: str) -> Tensor:
    """Matrices (G, n, m) with the singular vectors of those given, and singular values of about one, 0.68 to 1.21.

    What is less than a hundredth of a matrix's norm is raised as far as five steps go. This is Newton and Schulz's
    iteration: odd powers of a matrix are those of its singular values.
    """
    lengths = matrices.norm(dim=(1, 2), keepdim=True).clamp(min=1e-20)  # no singular value is more
    x: Tensor = (matrices / lengths).to(torch.bfloat16 if precision == "bfloat16" else torch.float32)
    a, b, c = POLYNOMIAL
    for _ in range(N_ITERATIONS):
        squares = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(squares, squares, squares, beta=b, alpha=c), x, beta=a)
    return x.float()


def _lying(matrix: Tensor) -> Tensor:
    """The matrix, or if it has more rows than columns, its transpose."""
    return matrix if matrix.size(0) <= matrix.size(1) else matrix.T


def _zeros(matrix: Tensor) -> Tensor:
    return torch.zeros_like(_lying(matrix))
