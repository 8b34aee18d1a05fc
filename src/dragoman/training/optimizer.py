"""The optimizers by name, and the exponential moving average of the weights.

Another optimizer is another class like `Adam` here, and an entry in `OPTIMIZERS`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adam import adam

from dragoman.machine.processes import Processes
from dragoman.model.transformer import Transformer
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.muon import Muon

Parameters = Mapping[str, Parameter]


class Move(Protocol):
    """Moves parameters at a learning rate."""

    def __call__(self, rate: float | Tensor, skipped: Tensor | None = None) -> None:
        """Move them.

        Args:
            rate: a number, or one on the device, for steps of which the CPU reads nothing.
            skipped: on the device, 1 if this step is not to change anything (its rate and gradients are 0), else 0.
        """


class PartOptimizer(Protocol):
    """The optimizer of some of a model's parameters."""

    def prepare(self, precision: str, processes: Processes) -> Move:
        """Compute the next step without changing anything, since memory may run out, and return what makes it.

        Making it asks for no memory on a CPU and on CUDA.
        """

    def tensors(self) -> dict[str, Tensor]:
        """Return all that is kept between steps, by name."""


class Adam:
    """Adam (Kingma and Ba 2015), by PyTorch's function: its class imports the compiler, which takes seconds."""

    def __init__(self, parameters: Parameters, training: TrainingConfig) -> None:
        self._parameters, self._training = parameters, training
        device = next(iter(parameters.values())).device
        self._fused = True if device.type in ("cpu", "cuda") else None
        self._state: dict[str, dict[str, Tensor]] = {}
        for name, parameter in parameters.items():
            n_steps = torch.zeros((), device=device if self._fused else None)
            moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
            self._state[name] = {"step": n_steps, **moments}

    def prepare(self, precision: str, processes: Processes) -> Move:
        """Return the step: it has nothing to compute before."""
        return self._move

    @torch.no_grad()
    def _move(self, rate: float | Tensor, skipped: Tensor | None = None) -> None:
        gradients = {name: each.grad for name, each in self._parameters.items() if each.grad is not None}
        states = [self._state[name] for name in gradients]
        beta1, beta2 = self._training.adam_betas
        adam(
            [self._parameters[name] for name in gradients],
            list(gradients.values()),
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=self._fused,
            capturable=isinstance(rate, Tensor),
            found_inf=skipped,
            amsgrad=False,
            beta1=beta1,
            beta2=beta2,
            lr=rate,
            weight_decay=0.0,
            eps=self._training.adam_eps,
            maximize=False,
        )

    def tensors(self) -> dict[str, Tensor]:
        """Return `<parameter>/exp_avg`, `<parameter>/exp_avg_sq` and `<parameter>/step`."""
        return {f"{name}/{key}": value for name, state in self._state.items() for key, value in state.items()}


class MatrixMuon:
    """Muon for matrices that have names."""

    def __init__(self, matrices: Parameters) -> None:
        self._matrices, self._muon = matrices, Muon(matrices.values())

    def prepare(self, precision: str, processes: Processes) -> Move:
        """Compute the updates, and return what applies them."""
        updates = self._muon.updates(precision, processes)
        return lambda rate, skipped=None: self._muon.apply(updates, rate, skipped)

    def tensors(self) -> dict[str, Tensor]:
        """Return `<parameter>/momentum`."""
        return {f"{name}/momentum": self._muon.momentum[matrix] for name, matrix in self._matrices.items()}


def _muon_and_adam(parameters: Parameters, training: TrainingConfig) -> list[PartOptimizer]:
    """Return Muon for the matrices of layers, and Adam for all else."""
    matrices = {name: each for name, each in parameters.items() if "_layers." in name and each.ndim == 2}
    others = {name: each for name, each in parameters.items() if name not in matrices}
    return [MatrixMuon(matrices), Adam(others, training)]


class OptimizerKind(NamedTuple):
    """One value of `training.optimizer`."""

    build: Callable[[Parameters, TrainingConfig], list[PartOptimizer]]
    n_moments: int  # numbers kept for each weight of a layer


OPTIMIZERS: Mapping[str, OptimizerKind] = {
    "adam": OptimizerKind(lambda parameters, training: [Adam(parameters, training)], 2),
    "muon": OptimizerKind(_muon_and_adam, 1),
}


class Optimizer:
    """The optimizer that `training.optimizer` names, for all parameters of a model.

    On a CPU and on CUDA, a step asks for memory before it changes anything, so that none fails when half of it is done.
    """

    def __init__(self, model: Transformer, training: TrainingConfig) -> None:
        self.parts = OPTIMIZERS[training.optimizer].build(dict(model.named_parameters()), training)

    def step(self, rate: float, precision: str, processes: Processes) -> None:
        """Move all weights by their gradients, which are equal in all processes.

        Args:
            precision: "float32", "bfloat16" or "float16" (which is float32 here), of Muon's products.
        """
        moves = [part.prepare(precision, processes) for part in self.parts]
        for move in moves:
            move(rate)

    def tensors(self) -> dict[str, Tensor]:
        """Return all that is kept between steps, by the name of the parameter and of what it is."""
        return {name: tensor for part in self.parts for name, tensor in part.tensors().items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `tensors` returned."""
        for name, kept in self.tensors().items():
            kept.copy_(tensors[name])


class MovingAverage:
    """A second model whose weights follow the first: average <- decay * average + (1 - decay) * weights.

    The decay grows from 0.1 to its full value, so that the random first weights are soon forgotten.
    """

    def __init__(self, model: Transformer, decay: float) -> None:
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    def weight(self, step: int) -> float:
        """Return the share of the weights after the `step`-th step, counted from 1, in the new average."""
        return 1 - min(self.decay, (1 + step) / (10 + step))

    @torch.no_grad()
    def update(self, model: Transformer, weight: float | Tensor) -> None:
        """Follow `model`, whose weights get this share: a number, or one on the device."""
        for average, weights in zip(self.model.parameters(), model.parameters(), strict=True):
            average.lerp_(weights, weight)
