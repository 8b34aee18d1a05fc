"""Checks of chapters 7 to 9: the feed-forward layer, residuals and layer norm.

B sentences, T positions, D model width, F inner width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.doctor.lessons.known_faults import (
    LinearMap,
    apply,
    difference,
    gradient_difference,
    gradients,
    in_some_order,
    is_equal,
    linear_maps,
    randomized,
    unused_weights,
)

_STD = "(chapter 17: \"A layer norm of one's own that is not PyTorch's\")"


def feed_forward(file: Any) -> str:
    """Return what is wrong with the numbers of the feed-forward layer."""
    D, inner = 6, 10
    module, x = randomized(file.FeedForward(D, inner)), torch.randn(2, 5, D)
    maps = [each for each in linear_maps(module, inner) if each[0].shape == (inner, D)]
    maps += [each for each in linear_maps(module, D) if each[0].shape == (D, inner)]
    yours = module(x)
    if len(maps) != 2:
        return _feed_forward_in_other_form(module, x, yours)

    def through(bend: Callable[[Tensor], Tensor], last: Callable[[Tensor], Tensor] = lambda x: x) -> Tensor:
        return last(apply(maps[1], bend(apply(maps[0], x))))

    return difference(
        yours,
        through(torch.relu),
        {
            "there is no relu between the two maps, so they are one linear map": through(lambda x: x),
            "there is a GELU between the maps: the file of the book has a relu": through(F.gelu),
            "there is a SiLU between the maps: the file of the book has a relu": through(F.silu),
            "there is a tanh between the maps: the file of the book has a relu": through(torch.tanh),
            "there is a sigmoid between the maps: the file of the book has a relu": through(torch.sigmoid),
            "there is a softmax between the maps: the file of the book has a relu": through(lambda x: x.softmax(-1)),
            "there is a leaky relu between the maps": through(F.leaky_relu),
            "the relu is the wrong way round: what is negative passes": through(lambda x: x.clamp(max=0)),
            "the absolute value passes, and only what is positive should": through(torch.abs),
            "the relu stands behind the second map, and should stand between the two": through(lambda x: x, torch.relu),
            "there is a second relu, behind the second map": through(torch.relu, torch.relu),
            "the relu stands before the first map": apply(maps[1], apply(maps[0], x.relu())),
            "x is added here already: the residual of chapter 8 does so": x + through(torch.relu),
            "the first bias is not used": apply(maps[1], (x @ maps[0][0].T).relu()),
            "the second bias is not used": apply(maps[0], x).relu() @ maps[1][0].T,
        },
    )


def _feed_forward_in_other_form(module: nn.Module, x: Tensor, yours: Tensor) -> str:
    """Return what is wrong with a layer whose weights are not two linear maps: it must bend, by straight pieces."""
    if not isinstance(yours, Tensor) or yours.shape != x.shape:
        return difference(yours, x)
    zero = torch.zeros_like(x)
    if is_equal(module(x) + module(-x), 2 * module(zero)):
        return "there is no relu between the two maps, so they are one linear map"
    return ""


def feed_forward_positions(file: Any) -> str:
    """Return what is wrong with how positions are kept apart."""
    module, x = randomized(file.FeedForward(6, 10)), torch.randn(2, 5, 6)
    one_by_one = torch.cat([module(x[:, t : t + 1]) for t in range(5)], dim=1)
    return "" if is_equal(module(x), one_by_one) else "a position sees others: alone it gets another result"


def feed_forward_weights(file: Any) -> str:
    """Return which weights of the feed-forward layer learn nothing, or have another size."""
    module, x = file.FeedForward(6, 10), torch.randn(2, 5, 6)
    fault = unused_weights(module, module(x))
    sizes = sorted(tuple(weight.shape) for weight in module.parameters())
    if not fault and sizes == [(6,), (6,), (6, 6), (6, 6)]:
        return "the layer is as narrow inside as outside: d_ff is not used"
    return fault


def _divided(centred: Tensor) -> Tensor:
    return centred / torch.sqrt(centred.square().mean(dim=-1, keepdim=True) + 1e-5)


def layer_norm(file: Any) -> str:
    """Return what is wrong with the numbers of layer norm, gain and bias included."""
    B, T, D = 2, 3, 4
    module, x = randomized(file.LayerNorm(D)), 5 + 3 * torch.randn(B, T, D)
    vectors = [weight.detach() for weight in module.parameters()]
    if len(vectors) < 2 or any(each.shape != (D,) for each in vectors):
        found = [tuple(each.shape) for each in vectors]
        return f"the learned weights have the shapes {found}, and should be a gain (D) and a bias (D)"
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)

    def over(*axes: int) -> Tensor:
        mean = x.mean(dim=axes, keepdim=True)
        return (x - mean) / torch.sqrt((x - mean).square().mean(dim=axes, keepdim=True) + 1e-5)

    def scaled(normed: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        return lambda gain, bias: gain * normed + bias

    right = over(-1)
    return in_some_order(
        module(x),
        vectors[:2],
        lambda gain, bias: F.layer_norm(x, (D,), gain, bias, 1e-5),
        {
            f"the variance is divided by D - 1, and should be divided by D {_STD}": scaled(
                centred / torch.sqrt(x.var(dim=-1, keepdim=True) + 1e-5)
            ),
            "the statistics run over the positions (axis 1), and should run over D, dim=-1": scaled(over(1)),
            "the statistics run over the sentences (axis 0), and should run over D, dim=-1": scaled(over(0)),
            "the statistics run over sentences and positions, as in batch norm, and should run over D": scaled(
                over(0, 1)
            ),
            "the statistics run over positions and D, and should run over D alone": scaled(over(1, 2)),
            "the statistics run over the whole batch, and should run over D alone": scaled(over(0, 1, 2)),
            "the mean runs over the positions (axis 1), and should run over D, dim=-1": scaled(
                _divided(x - x.mean(dim=1, keepdim=True))
            ),
            "the variance runs over the positions (axis 1), and should run over D, dim=-1": scaled(
                centred / torch.sqrt(centred.square().mean(dim=1, keepdim=True) + 1e-5)
            ),
            "the mean is not subtracted": scaled(x / torch.sqrt(variance + 1e-5)),
            "the mean is not subtracted, as in RMS norm": scaled(
                x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + 1e-5)
            ),
            "it is divided by the variance, and should be divided by its root": scaled(centred / (variance + 1e-5)),
            "it is multiplied by the root of the variance, and should be divided by it": scaled(
                centred * torch.sqrt(variance + 1e-5)
            ),
            "the mean is subtracted, but nothing is divided by the root of the variance": scaled(centred),
            "the gain is not used": lambda gain, bias: right + bias,
            "the bias is not used": lambda gain, bias: gain * right,
            "gain and bias are not used": lambda gain, bias: right,
            "the gain multiplies the bias, too": lambda gain, bias: gain * (right + bias),
            "one vector serves as gain and as bias": lambda gain, bias: gain * right + gain,
            "the bias is subtracted": lambda gain, bias: gain * right - bias,
        },
    )


def layer_norm_first(file: Any) -> str:
    """Return what is wrong with a new norm."""
    x = 5 + 3 * torch.randn(2, 3, 8)
    module = file.LayerNorm(8)
    yours = module(x)
    normed = F.layer_norm(x, (8,))
    return difference(
        yours,
        normed,
        {
            "the gain begins at 0, and should begin at 1: everything is zero": torch.zeros_like(x),
            "the bias begins at 1, and should begin at 0": normed + 1,
        },
    )


def layer_norm_small(file: Any) -> str:
    """Return what is wrong with vectors that are constant, or nearly."""
    module = file.LayerNorm(8)
    constant = module(torch.full((1, 8), 5.0))
    if not constant.isfinite().all():
        return "a vector of equal numbers gives NaN: add 1e-5 to the variance, inside the root"
    x = 1 + 1e-4 * torch.randn(1, 8)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    small = *(10.0**-n for n in range(5, 13)), torch.finfo(torch.float32).eps
    rights = [centred / torch.sqrt(variance + epsilon) for epsilon in small]
    yours = module(x)
    if any(torch.allclose(yours, right, atol=5e-3) for right in rights):
        return ""
    outside = [centred / (variance.sqrt() + epsilon) for epsilon in (1e-5, 1e-6, 1e-8, 1e-12)]
    if any(torch.allclose(yours, wrong, atol=5e-3) for wrong in outside):
        return f"ε stands outside the root, and should stand inside, beside the variance {_STD}"
    return difference(yours, rights[0])


def layer_norm_gradients(file: Any) -> str:
    """Return what is wrong with the gradients."""
    return gradient_difference(
        file.LayerNorm(4), lambda x: F.layer_norm(x, (4,)), {"x": 5 + 3 * torch.randn(2, 3, 4)}
    ) or unused_weights(module := file.LayerNorm(4), module(torch.randn(2, 3, 4)))


def _part(D: int) -> LinearMap:
    """Return the map that stands for attention or feed-forward inside a residual."""
    return torch.randn(D, D), torch.randn(D)


def _residual(file: Any, D: int, dropout: float) -> nn.Module:
    """Return a residual of the reader's; until chapter 9, PyTorch's norm stands in for the reader's."""
    is_lent = not hasattr(file, "LayerNorm")
    if is_lent:
        file.LayerNorm = nn.LayerNorm
    try:
        module: nn.Module = file.Residual(D, dropout)
    finally:
        if is_lent:
            del file.LayerNorm
    return module


def residual(file: Any) -> str:
    """Return what is wrong with the sum, without dropout."""
    D = 6
    module, x, part = _residual(file, D, 0.5).eval(), 3 + 2 * torch.randn(2, 5, D), _part(D)
    before = x.clone()

    def norm(x: Tensor) -> Tensor:
        return F.layer_norm(x, (D,))

    def f(x: Tensor) -> Tensor:
        return apply(part, x)

    yours = module(x, f)
    if not torch.equal(x, before):
        return "x itself is changed: write `x + ...` in place of `x += ...`"
    if not is_equal(module(x, f), yours):
        return 'dropout goes on in eval mode: use nn.Dropout (chapter 17: "Another output each time")'
    return difference(
        yours,
        x + f(norm(x)),
        {
            "the norm is missing: it stands before the part, inside the branch": x + f(x),
            "this is post-norm, norm(x + part(x)): the book's file has x + part(norm(x))": norm(x + f(x)),
            "x is not added: without it, nothing goes straight through": f(norm(x)),
            "x is not added, and the norm is missing": f(x),
            "the norm's result is added, and x itself should be": norm(x) + f(norm(x)),
            "the norm stands behind the part, and should stand before it": x + norm(f(x)),
            "the sum goes through the norm once more": norm(x + f(norm(x))),
            "x is subtracted": f(norm(x)) - x,
            "the part is subtracted": x - f(norm(x)),
            "x is added twice": 2 * x + f(norm(x)),
            "the part is not used": x,
            "the mean of both is taken, and their sum should be": (x + f(norm(x))) / 2,
        },
    )


def residual_dropout(file: Any) -> str:
    """Return what is wrong with dropout in training."""
    D = 50
    module = _residual(file, D, 0.2).train()
    x = torch.full((4, 50, D), 100.0)
    read = []

    def part(y: Tensor) -> Tensor:
        read.append(y)
        return torch.zeros_like(y)

    module(torch.randn(1, 1, D).expand(1, 2, D), part)  # twice the same word
    if read and not torch.equal(read[0][:, 0], read[0][:, 1]):
        return "dropout acts on what the part reads, and should act on what the part gives"
    branch = module(x, torch.ones_like) - x
    dropped = branch.abs() < 1e-3
    if not dropped.any() and is_equal(branch, torch.ones_like(x)):
        return "nothing is dropped in training"
    if (branch < -1).any():
        return "dropout acts on the sum, so that x is dropped, too: it belongs on the branch only"
    share = dropped.float().mean().item()
    if abs(share - 0.8) < 0.05:
        return "dropout of 0.2 drops four fifths, and should drop one fifth"
    if abs(share - 0.2) > 0.05:
        return f"dropout of 0.2 drops {share:.0%}"
    if not is_equal(branch[~dropped], torch.full_like(branch[~dropped], 1.25)):
        return "what remains is not scaled up by 1 / (1 - dropout), so the mean falls"
    return ""


def residual_gradient(file: Any) -> str:
    """Return what is wrong with the straight way of the gradient."""
    module, x = _residual(file, 6, 0.0), torch.randn(2, 5, 6)
    (straight,) = gradients(lambda x: module(x, torch.zeros_like), [x])
    (right,) = gradients(lambda x: x, [x])
    if not is_equal(straight, right):
        return "with a branch of zeros the gradient is not passed on as it is: is there something on the straight way?"
    part = _part(6)
    return gradient_difference(
        lambda x: module(x, lambda y: apply(part, y)), lambda x: x + apply(part, F.layer_norm(x, (6,))), {"x": x}
    )
