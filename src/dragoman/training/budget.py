"""A new model, and the RAM that its training will take, told before any of it is taken."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import torch

from dragoman.bundle.layout import Layout
from dragoman.bundle.search_ram import disproportion
from dragoman.data.prepared import Prepared
from dragoman.errors import ConfigError
from dragoman.machine.processes import Processes
from dragoman.machine.ram import available_memory
from dragoman.model.transformer import Transformer
from dragoman.native.fused_library import library
from dragoman.settings.config import Config
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.sections import parse_section
from dragoman.training.precision import choose_precision
from dragoman.training.ram_estimate import state_bytes, training_bytes

_log = logging.getLogger(__name__)

MIB = 2**20
#: Tokens of a micro-batch below which a GPU's memory is not asked.
SMALLEST_CHOSEN = 512


@dataclass(frozen=True)
class Budget:
    """The parameters of a model, and bytes of RAM, or of the GPU, for each process of its training.

    Args:
        state: for weights, gradients and optimizer alone.
        needed: for all of it, about.
        available: None is unknown.
    """

    n_parameters: int
    state: int
    needed: int
    available: int | None

    @property
    def is_enough(self) -> bool:
        """True if all of it fits, as far as is known."""
        return self.available is None or self.needed <= self.available

    def check(self) -> None:
        """Check that the state fits.

        Raises:
            ConfigError: it does not.
        """
        if self.available is not None and self.state > self.available:
            takes = f"{self.n_parameters:,} parameters take {self.state / MIB:,.0f} MiB to train"
            problem = f"{takes}, and {self.available / MIB:,.0f} MiB are free"
            raise ConfigError(problem, advice="choose a smaller model, e.g. model.preset=tiny")


def training_budget(config: Config, prepared: Prepared, device: torch.device, processes: Processes) -> Budget:
    """Return the RAM that a training will take, and that there is.

    Raises:
        ConfigError: no bundle may have such a shape.
    """
    model = model_config(config, prepared)
    if problem := disproportion(model, config.search):
        raise ConfigError(problem, advice="change the model's shape or the search")
    n_parameters = sum(map(math.prod, Layout(model).shapes().values()))
    longest = int(max(prepared.train.read_lengths.max(), prepared.train.target_lengths.max())) + 1  # with <eos>
    needed = training_bytes(
        model, n_parameters, config.training, longest, device=device.type, n_processes=processes.world_size
    )
    available = available_memory(device)
    if available is not None and device.type == "cpu":
        available //= processes.local_world_size  # which share it
    return Budget(n_parameters, state_bytes(n_parameters, config.training), needed, available)


def fitting_micro_batch(config: Config, prepared: Prepared, device: torch.device, processes: Processes) -> int | None:
    """Return the tokens of the largest micro-batches that fit into a GPU's memory; None for whole batches, or as asked.

    On a CPU, a person says so.
    """
    n_tokens = config.training.batch_tokens // processes.world_size
    if device.type != "cuda" or config.training.micro_batch_tokens is not None:
        return None
    size = n_tokens
    while size > SMALLEST_CHOSEN:
        if training_budget(_on_gpu(config, device, size), prepared, device, processes).is_enough:
            break
        size //= 2
    return None if size == n_tokens else size


def _on_gpu(config: Config, device: torch.device, micro_batch_tokens: int | None) -> Config:
    """Return a configuration with what a training on a GPU chooses itself."""
    chosen: dict[str, Any] = {"precision": choose_precision(config, device)[0]}
    if micro_batch_tokens is not None:
        chosen["micro_batch_tokens"] = micro_batch_tokens
    return config.model_copy(update={"training": config.training.model_copy(update=chosen)})


def check_budget(
    config: Config, prepared: Prepared, device: torch.device, processes: Processes, micro_batch_tokens: int | None
) -> None:
    """Log how large the model is and what its training takes.

    Args:
        micro_batch_tokens: what `fitting_micro_batch` has returned.

    Raises:
        ConfigError: weights, gradients and optimizer alone are more than there is, or no bundle may have such a shape.
    """
    if device.type == "cuda":
        config = _on_gpu(config, device, micro_batch_tokens)
    budget = training_budget(config, prepared, device, processes)
    budget.check()
    each = " for each process" if processes.world_size > 1 else ""
    slowly = " without compiled functions" if device.type == "cpu" and library() is None else ""
    takes = f"training takes about {budget.needed / MIB:,.0f} MiB{each} beside the program itself"
    _log.info(f"model: {budget.n_parameters:,} parameters, on {device}{slowly}; {takes}")
    if budget.available is not None and not budget.is_enough:
        free = f"{budget.available / MIB:,.0f} MiB are free{each}"
        _log.warning(f"only {free}; training.micro_batch_tokens=1024 takes less")


def build_model(config: Config, prepared: Prepared, device: torch.device) -> Transformer:
    """Return a new model with random weights, a function of the seed alone."""
    torch.manual_seed(config.training.seed)
    return Transformer(model_config(config, prepared), prepared.tokenizers.special_ids).to(device)


def model_config(config: Config, prepared: Prepared) -> ModelConfig:
    """Return the model of a configuration, with the vocabularies of the prepared corpus."""
    sizes = {
        "source_vocab_size": prepared.tokenizers.source.vocab_size,
        "target_vocab_size": prepared.tokenizers.target.vocab_size,
    }
    return parse_section(ModelConfig, {**config.model.model_dump(), **sizes})
