"""The state of a training: everything that a step changes, and what its last bits depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from dragoman.model.transformer import Transformer
from dragoman.native.fused_library import library
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.checkpoint import Checkpoint, Progress
from dragoman.training.optimizer import MovingAverage, Optimizer

MICRO_BATCH_TOKENS = "training.micro_batch_tokens"


@dataclass
class TrainingState:
    """Weights, optimizer, moving average (if there is one), and the numbers of the training."""

    model: Transformer
    optimizer: Optimizer
    average: MovingAverage | None
    progress: Progress

    @classmethod
    def at_start(cls, model: Transformer, training: TrainingConfig, progress: Progress) -> TrainingState:
        """Return the state of a training that has made no step."""
        average = MovingAverage(model, training.ema) if training.ema else None
        return cls(model, Optimizer(model, training), average, progress)

    @property
    def usable_model(self) -> Transformer:
        """The model that is validated and kept: the moving average if there is one."""
        return self.model if self.average is None else self.average.model

    @property
    def is_finite(self) -> bool:
        """True if all weights are finite. Finite gradients can still lead to weights that are not."""
        return all(bool(parameter.isfinite().all()) for parameter in self.model.parameters())

    def checkpoint(self) -> Checkpoint:
        """Return what a checkpoint holds; the tensors are not copied."""
        return Checkpoint(
            progress=self.progress,
            model=dict(self.model.named_parameters()),
            optimizer=self.optimizer.tensors(),
            average=dict(self.average.model.named_parameters()) if self.average else None,
        )

    def restore(self, checkpoint: Checkpoint, run: Path) -> None:
        """Go back to a checkpoint of the run in the folder `run`.

        Raises:
            ConfigError: it has other settings, data or tokenizers.
        """
        new, saved = self.progress, checkpoint.progress
        new.follow(saved, run)
        self.model.load_state_dict(dict(checkpoint.model), strict=False)
        self.optimizer.restore(checkpoint.optimizer)
        if self.average is not None and checkpoint.average is not None:
            self.average.model.load_state_dict(dict(checkpoint.average), strict=False)
        is_same_size = saved.environment[MICRO_BATCH_TOKENS] == new.environment[MICRO_BATCH_TOKENS]
        self.progress = replace(
            saved,
            environment=new.environment,
            spent=saved.spent + new.spent,
            time_limit=new.time_limit or saved.time_limit,
            validation_seconds=new.validation_seconds or saved.validation_seconds,
            chosen_for_time=new.chosen_for_time or saved.chosen_for_time,
            micro_batch_tokens=(saved if is_same_size else new).micro_batch_tokens,
        )


def describe_environment(training: TrainingConfig, device: torch.device, n_processes: int) -> Mapping[str, str]:
    """Return what the last bits of the sums and the dropout masks depend on, besides settings that may not change."""
    on_cpu, compiled = device.type == "cpu", library()
    facts = {
        "device": device.type,
        "threads": torch.get_num_threads() if on_cpu else 0,
        "processes": n_processes,
        "PyTorch": torch.__version__,
        "compiled functions": compiled.name if on_cpu and compiled is not None else None,
        "CUDA graphs": training.cuda_graphs if device.type == "cuda" else None,  # which pad batches further
        MICRO_BATCH_TOKENS: training.micro_batch_tokens,
    }
    return {name: str(value) for name, value in facts.items()}
