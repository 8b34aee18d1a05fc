"""Trained models in two forms: for the search on a device, and in PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.decoding.state import Model, TransformerScorer
from dragoman.errors import ConfigError, install_advice
from dragoman.machine.devices import Precision
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.text.short_list import ShortList
from dragoman.translator.padding import BATCH_TOKENS, CPU_BATCH_TOKENS

if TYPE_CHECKING:
    import torch

    from dragoman.model.transformer import Transformer
    from dragoman.runtime.tensor_search import TensorSearch


@dataclass(frozen=True)
class ComputeOptions:
    """The hardware that a translator uses, and its precision.

    Args:
        device: of the models, e.g. "cuda"; None leaves each where it is. On a CPU, the compiled engine searches with
            float32 models, and models of bundles do not need PyTorch; it does without a library that fits.
        workers: processes that translate at the same time, each with one thread, if a list of texts fills several
            batches; on a CPU, and on Linux.
        precision: of the search. bfloat16 is less exact than float32, and faster on a device with bfloat16 products.
            int8 is the same for CPUs with 8-bit products. A device without such products searches in float32.
        short_list: the tokens that translations may have, where the compiled engine searches with one model: True is
            the bundle's own, if it has one; False is the whole vocabulary.
    """

    device: str | torch.device | None = None
    workers: int = 1
    precision: Precision = "float32"
    short_list: ShortList | bool = True


class TrainedModels:
    """Models of one translator, on one device.

    Args:
        models: in PyTorch, or bundles as they were loaded.
        compute: without a device, that of the first model.

    Raises:
        ConfigError: there is no model, or no such precision on this device.
    """

    def __init__(self, models: Sequence[Transformer | Bundle], compute: ComputeOptions) -> None:
        if not models:
            raise ConfigError("an ensemble of no models")
        if compute.precision not in get_args(Precision):
            raise ConfigError(f"unknown precision {compute.precision!r}", advice="use float32, bfloat16 or int8")
        #: The models; `in_torch` replaces a bundle by its model in PyTorch.
        self.models = list(models)
        self.device = str(compute.device or _device_of(models[0]))
        self.precision = compute.precision
        if self.precision == "int8" and self.device != "cpu":
            raise ConfigError("int8 is for the CPU", advice="use bfloat16 on a GPU, or --device cpu")
        workers, short_list = compute.workers if self.device == "cpu" else 1, self._short_list(compute.short_list)
        #: The options of a translator that is equal to this one.
        self.compute = ComputeOptions(self.device, workers, self.precision, short_list or False)
        #: The tokens that translations may have; None for all.
        self.short_list = short_list

    def describe(self) -> str:
        """Return the precision and the device in a few words."""
        return f"{self.precision} on {self.device}"

    @property
    def batch_size(self) -> int:
        """Source tokens, padding included, that the device reads at once with most speed."""
        return CPU_BATCH_TOKENS if self.device == "cpu" else BATCH_TOKENS

    def for_search(self) -> list[Model]:
        """Return the models for the search. The compiled engine has those in float32 on a CPU, without PyTorch.

        Raises:
            ConfigError: a model needs PyTorch, which is not installed.
        """
        return [self._for_search(index) for index in range(len(self.models))]

    def on_card(self, scorer: TransformerScorer) -> TensorSearch | None:
        """Return the search with the models of `for_search` on a CUDA device; None on other devices."""
        if not self.device.startswith("cuda"):
            return None
        from dragoman.runtime.tensor_search import TensorSearch

        return TensorSearch.of(scorer)

    def in_torch(self) -> list[Transformer]:
        """Return the models in PyTorch, in evaluation mode; those of bundles are built now."""
        return [self.transformer(index) for index in range(len(self.models))]

    def transformer(self, index: int) -> Transformer:
        """Return one model in PyTorch, in evaluation mode; that of a bundle is built now."""
        import torch

        source_model = self.models[index]
        model = source_model.model if isinstance(source_model, Bundle) else source_model
        # On a CPU, the search multiplies in bfloat16 and keeps the rest in float32: PyTorch's float32 is nearest to it.
        is_coarser = self.precision == "bfloat16" and torch.device(self.device).type != "cpu"
        if is_coarser and next(model.parameters()).dtype != torch.bfloat16:
            model = copy.deepcopy(model).bfloat16()  # the caller may train the original further
        self.models[index] = model = model.to(self.device).eval()
        return model

    def _short_list(self, wanted: ShortList | bool) -> ShortList | None:
        first, *others = self.models
        if wanted is False or others or self.device != "cpu" or not usable_kernels(self.precision):
            return None
        own = first.short_list if isinstance(first, Bundle) else None
        return own if wanted is True else wanted

    def _for_search(self, index: int) -> Model:
        model, kernels = self.models[index], usable_kernels(self.precision)
        if self.device == "cpu" and kernels:
            if isinstance(model, Bundle):
                return CompiledModel(model.config, model.weights, kernels[0], model.tokenizers.special_ids)
            state = model.cpu().eval().state_dict()
            if all(weight.element_size() == 4 for weight in state.values()):
                weights = {name: weight.numpy().copy() for name, weight in state.items()}
                return CompiledModel(model.config, weights, kernels[0], model.special_ids)
        try:
            from dragoman.runtime.torch_model import TorchModel
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            problem = "the engine was not compiled for this processor, and PyTorch is not installed"
            beginning = "install a C compiler and then dragoman again (docs/install.md), or PyTorch: install it"
            raise ConfigError(problem, advice=install_advice("train", beginning)) from None
        return TorchModel(self.transformer(index))


def load_ensemble(names: Sequence[str | Path]) -> list[Bundle]:
    """Load bundles that translate together.

    Raises:
        BundleError: one of them cannot be loaded.
        ConfigError: they have different tokenizers.
    """
    bundles = [load_bundle(name) for name in names]
    for name, bundle in zip(names[1:], bundles[1:], strict=True):
        if not bundle.tokenizers.equals(bundles[0].tokenizers):
            problem = f"its tokenizer differs from that of {names[0]}"
            raise ConfigError(problem, name, advice="an ensemble needs equal tokenizers")
    return bundles


def _device_of(model: Transformer | Bundle) -> str:
    return "cpu" if isinstance(model, Bundle) else str(next(model.parameters()).device)
