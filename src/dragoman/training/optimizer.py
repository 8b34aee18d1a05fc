"""Adam, and the exponential moving average of the weights."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from dragoman.config import TrainingConfig
from dragoman.model.transformer import Transformer


def build_optimizer(model: Transformer, training: TrainingConfig) -> torch.optim.Adam:
    """Adam (Kingma and Ba 2015) over all weights; the rate is set at each step."""
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    optimizer = torch.optim.Adam(
        model.parameters(), lr=0.0, betas=training.adam_betas, eps=training.adam_eps, fused=fused or None
    )
    for parameter in model.parameters():  # now, so that no step runs out of memory when half of it is done
        n_steps = torch.zeros((), device=parameter.device if fused else None)
        moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
        optimizer.state[parameter] = {"step": n_steps, **moments}
    return optimizer


def optimizer_tensors(optimizer: torch.optim.Adam, model: Transformer) -> dict[str, Tensor]:
    """Adam's state by parameter name, as flat tensors: `<parameter>/exp_avg`, `<parameter>/exp_avg_sq`, `.../step`."""
    return {
        f"{name}/{key}": value
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state[parameter].items()
    }


def restore_optimizer(optimizer: torch.optim.Adam, model: Transformer, tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave."""
    parameters = dict(model.named_parameters())
    for path, value in tensors.items():
        name, _, key = path.rpartition("/")
        place = "cpu" if key == "step" and not optimizer.defaults["fused"] else parameters[name].device
        optimizer.state[parameters[name]][key] = value.to(place)


class MovingAverage:
    """A second model whose weights follow the first: average <- decay * average + (1 - decay) * weights.

    The decay grows from 0.1 to its full value, so that the random first weights are soon forgotten.
    """

    def __init__(self, model: Transformer, decay: float) -> None:
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model: Transformer, step: int) -> None:
        """Follow `model` after its `step`-th step, counted from 1."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - decay)
