"""Comparison of the reader's numbers with the right ones, and with those that known faults give.

A check computes what is right, by PyTorch's own layers or by a short formula, and beside it what each known fault would
give. So a fault is named when the reader's function computes exactly what this fault does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

#: The weight (out, in) and the bias (out) of a linear map.
LinearMap = tuple[Tensor, Tensor]
NO_FAULTS: Mapping[str, Tensor] = MappingProxyType({})
NO_RESULT = "the result is None: is a `return` missing?"
_TOLERANCE = 1e-4


def is_equal(one: Any, other: Tensor) -> bool:
    """Return True if both are tensors of one shape and hold the same numbers, except for rounding."""
    if not isinstance(one, Tensor) or one.shape != other.shape:
        return False
    return torch.allclose(one.double(), other.double(), rtol=_TOLERANCE, atol=_TOLERANCE)


def difference(yours: Any, right: Tensor, faults: Mapping[str, Tensor] = NO_FAULTS) -> str:
    """Return what is wrong with a tensor of the reader's, or "" if nothing is.

    Args:
        faults: a message for each known fault, and the tensor that the fault gives.
    """
    if is_equal(yours, right):
        return ""
    for message, wrong in faults.items():
        if is_equal(yours, wrong):
            return message
    if yours is None:
        return NO_RESULT
    if not isinstance(yours, Tensor):
        return f"the result is no tensor, but of the type {type(yours).__name__}"
    if yours.shape != right.shape:
        return f"the shape is {tuple(yours.shape)}, and should be {tuple(right.shape)}"
    if not yours.isfinite().all():
        return "some of the numbers are NaN or infinite"
    return f"the numbers differ from the formula's by up to {(yours.double() - right.double()).abs().max().item():.2g}"


def gradients(function: Callable[..., Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradient of a weighted sum of what a function gives, for each input; zeros where it has none."""
    leaves = [each.detach().clone().requires_grad_() for each in inputs]
    result = function(*leaves)
    if not result.requires_grad:
        return [torch.zeros_like(each) for each in inputs]
    found = torch.autograd.grad(_weighted_sum(result), leaves, allow_unused=True)
    return [torch.zeros_like(leaf) if each is None else each for leaf, each in zip(leaves, found, strict=True)]


def gradient_difference(
    yours: Callable[..., Tensor], right: Callable[..., Tensor], inputs: Mapping[str, Tensor]
) -> str:
    """Return which input has a gradient that is not the right function's, or ""."""
    if not is_equal(yours(*inputs.values()), right(*inputs.values())):
        return "the result is not the formula's, so its gradients cannot be: mend the result first"
    found, wanted = (gradients(function, list(inputs.values())) for function in (yours, right))
    for name, mine, other in zip(inputs, found, wanted, strict=True):
        if not mine.isfinite().all():
            return f"the gradient for {name} is NaN or infinite"
        if not is_equal(mine, other):
            none = "no gradient reaches" if not mine.any() else "a wrong gradient reaches"
            return f"{none} {name}: is there a detach, a no_grad, or a new tensor made of numbers?"
    return ""


def unused_weights(module: nn.Module, result: Tensor) -> str:
    """Return the weights of a module that have no part in its result, as a message, or ""."""
    if not result.requires_grad:
        return "no weight has a gradient: is there a detach, a no_grad, or a list that hides the parts?"
    module.zero_grad()
    _weighted_sum(result).backward()
    unused = [name for name, weight in module.named_parameters() if weight.grad is None]
    return f"{unused[0]} has no gradient, because it has no part in the result" if unused else ""


def randomized(module: nn.Module) -> nn.Module:
    """Return a module in eval mode, with random numbers in all its weights."""
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_(std=0.5)
    return module.eval()


def linear_maps(module: nn.Module, n_rows: int) -> list[LinearMap]:
    """Return the linear maps of a module in order, each cut into maps with `n_rows` outputs if it has more."""
    maps: list[LinearMap] = []
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Conv1d):
            weight = part.weight.detach().flatten(1)
            bias = weight.new_zeros(len(weight)) if part.bias is None else part.bias.detach()
            size = n_rows if len(weight) % n_rows == 0 else len(weight)
            maps += zip(weight.split(size), bias.split(size), strict=True)
    return maps


def apply(linear: LinearMap, x: Tensor) -> Tensor:
    """Return x (..., in) mapped to (..., out)."""
    weight, bias = linear
    return x @ weight.T + bias


def in_some_order(
    yours: Any,
    parts: Sequence[Any],
    right: Callable[..., Tensor],
    faults: Mapping[str, Callable[..., Tensor]],
) -> str:
    """Return what is wrong with a result of weights, or "" if the right formula gives it.

    Readers may name and order their weights as they like, so the formulas are tried with the parts in each order.
    """
    orders: Iterable[tuple[Any, ...]] = list(permutations(parts))
    if any(is_equal(yours, right(*order)) for order in orders):
        return ""
    for message, wrong in faults.items():
        if any(is_equal(yours, wrong(*order)) for order in orders):
            return message
    return difference(yours, right(*parts))


def _weighted_sum(x: Tensor) -> Tensor:
    """Return a sum in which no two numbers have the same weight."""
    return (x * torch.arange(1, x.numel() + 1, dtype=x.dtype).view_as(x).mul(math.sqrt(2)).sin()).sum()
