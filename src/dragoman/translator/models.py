"""Trained models, each in the form that is asked for: for the search on a device, or in PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from dragoman.bundle.bundle import Bundle
from dragoman.decoding.state import Model
from dragoman.errors import ConfigError
from dragoman.machine.devices import Precision
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.array_layers import Weights
from dragoman.runtime.array_model import ArrayModel
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.settings.model_config import ModelConfig

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer


class TrainedModels:
    """Models of one translator, on one device.

    Args:
        models: in PyTorch, or bundles as they were loaded.
        device: None is where the first model is.
        precision: what they compute in.

    Raises:
        ConfigError: there is no such precision, or not on this device.
    """

    def __init__(self, models: Sequence[Transformer | Bundle], device: str | None, precision: Precision) -> None:
        if precision not in get_args(Precision):
            raise ConfigError(f"unknown precision {precision!r}", advice="use float32, bfloat16 or int8")
        #: Those that were given; a bundle's place is taken by its model once that was asked for.
        self.given = list(models)
        self.device = device or _device_of(models[0])
        self.precision = precision
        if precision == "int8" and self.device != "cpu":
            raise ConfigError("int8 is for the CPU", advice="use bfloat16 on a GPU, or --device cpu")

    def for_search(self) -> list[Model]:
        """As the search wants them. On a CPU, those in float32 are compiled, or in NumPy: PyTorch is not imported."""
        return [self._for_search(place) for place in range(len(self.given))]

    def in_torch(self) -> list[Transformer]:
        """In PyTorch and evaluation mode; those of bundles are built now."""
        return [self._in_torch(place) for place in range(len(self.given))]

    def _for_search(self, place: int) -> Model:
        given = self.given[place]
        if self.device == "cpu":
            if isinstance(given, Bundle):
                return _on_cpu(given.config, given.weights, self.precision)
            state = given.cpu().eval().state_dict()
            if all(weight.element_size() == 4 for weight in state.values()):
                weights = {name: weight.numpy().copy() for name, weight in state.items()}
                return _on_cpu(given.config, weights, self.precision)
        from dragoman.runtime.torch_model import TorchModel

        return TorchModel(self._in_torch(place))

    def _in_torch(self, place: int) -> Transformer:
        import torch

        given = self.given[place]
        model = given.model if isinstance(given, Bundle) else given
        # A CPU's search multiplies bfloat16 and keeps all else in float32, which PyTorch's model is nearest to.
        is_coarser = self.precision == "bfloat16" and torch.device(self.device).type != "cpu"
        if is_coarser and next(model.parameters()).dtype != torch.bfloat16:
            model = copy.deepcopy(model).bfloat16()  # whoever gave it may want to train on
        self.given[place] = model = model.to(self.device).eval()
        return model


def _on_cpu(config: ModelConfig, weights: Weights, precision: Precision) -> Model:
    """The fastest of this precision. A processor that does not multiply such numbers is faster in float32."""
    kernels = usable_kernels(precision)
    return CompiledModel(config, weights, kernels[0]) if kernels else ArrayModel(config, weights)


def _device_of(model: Transformer | Bundle) -> str:
    return "cpu" if isinstance(model, Bundle) else str(next(model.parameters()).device)
