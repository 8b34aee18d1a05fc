"""Adam or Muon, and the exponential moving average of the weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from dragoman.machine.processes import Processes
from dragoman.model.transformer import Transformer
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.muon import Muon


class Optimizer:
    """Adam (Kingma and Ba 2015) over all weights; or with `training.optimizer` "muon", Muon over the matrices of layers
    and Adam over all else.

    On a CPU and on CUDA, a step asks for memory before it changes anything, so that none fails when half of it is done.
    """

    def __init__(self, model: Transformer, training: TrainingConfig) -> None:
        self._matrices = {
            name: parameter
            for name, parameter in model.named_parameters()
            if training.optimizer == "muon" and "_layers." in name and parameter.ndim == 2
        }
        self._others = {name: each for name, each in model.named_parameters() if name not in self._matrices}
        self._muon = Muon(self._matrices.values())
        fused = next(model.parameters()).device.type in ("cpu", "cuda")
        self._adam = torch.optim.Adam(
            self._others.values(), betas=training.adam_betas, eps=training.adam_eps, fused=fused or None
        )
        for parameter in self._others.values():
            n_steps = torch.zeros((), device=parameter.device if fused else None)
            moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
            self._adam.state[parameter] = {"step": n_steps, **moments}

    def step(self, rate: float, precision: str, processes: Processes) -> None:
        """Move all weights by their gradients, which are equal in all processes.

        Args:
            precision: "float32" or "bfloat16", of Muon's products.
        """
        updates = self._muon.updates(precision, processes)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self._muon.apply(updates, rate)

    def tensors(self) -> dict[str, Tensor]:
        """All that is kept between steps: `<parameter>/exp_avg`, `<parameter>/exp_avg_sq`, `<parameter>/step` of Adam,
        `<parameter>/momentum` of Muon."""
        adam = {
            f"{name}/{key}": value
            for name, parameter in self._others.items()
            for key, value in self._adam.state[parameter].items()
        }
        return adam | {f"{name}/momentum": self._muon.momentum[each] for name, each in self._matrices.items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `tensors` gave."""
        for name, kept in self.tensors().items():
            kept.copy_(tensors[name])


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
