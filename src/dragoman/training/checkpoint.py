"""Checkpoints: all that a stopped training needs to continue to the same bits.

Neither the order of batches nor the dropout masks need saving: both are pure functions of (seed, step).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.errors import BundleError, ConfigError
from dragoman.machine.files import require_space
from dragoman.machine.folders import save_folder, verify_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import require_held

if TYPE_CHECKING:
    from torch import Tensor

_log = logging.getLogger(__name__)

#: The key of the starting model's fingerprint in that of a fine-tuning.
STARTING_MODEL = "starting model"


@dataclass
class Window:
    """Sums over the steps since the last log line."""

    loss: float = 0.0
    nll: float = 0.0
    norm: float = 0.0
    n_tokens: int = 0
    n_steps: int = 0
    seconds: float = 0.0  # of training alone, without what is written and validated in between

    def add(self, other: Window) -> None:
        """Add the sums of other steps."""
        self.loss, self.nll, self.norm = self.loss + other.loss, self.nll + other.nll, self.norm + other.norm
        self.n_tokens, self.n_steps = self.n_tokens + other.n_tokens, self.n_steps + other.n_steps
        self.seconds += other.seconds


@dataclass
class Progress:
    """The numbers of a training after `step` steps."""

    step: int = 0
    #: Steps of the whole training whose learning rate the last step had; None before the first.
    n_steps: int | None = None
    target_tokens: int = 0
    seconds: float = 0.0
    #: Seconds of all starts together, with preparing and validating; seconds that a person gave the training.
    spent: float = 0.0
    time_limit: float | None = None
    #: Seconds of the last validation, or of one as estimated before the first.
    validation_seconds: float = 0.0
    #: Settings that were chosen for this time, by their full names.
    chosen_for_time: Mapping[str, Any] = field(default_factory=dict)
    skipped_steps: int = 0
    skipped_in_a_row: int = 0
    precision: str = "float32"
    #: In float16, the scale of the next loss, and the steps since it last changed; see `LossScale`.
    loss_scale: float | None = None
    loss_scale_steps: int = 0
    #: Tokens of a micro-batch that fit into memory, if fewer than the configuration's.
    micro_batch_tokens: int | None = None
    best_score: float | None = None
    best_step: int | None = None
    validations_since_best: int = 0
    last_validation: int | None = None
    window: Window = field(default_factory=Window)
    #: Facts of the starting bundle that hold for the training's own bundles, too.
    lasting_facts: Mapping[str, Any] = field(default_factory=dict)
    #: SHA-256 of the settings that may not change, of the data, of the tokenizers, and of the starting model.
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    #: Processes, threads, device, version of PyTorch and the like, on which the last bits depend.
    environment: Mapping[str, str] = field(default_factory=dict)

    def follow(self, earlier: Progress, run: Path) -> None:
        """Check that a run may continue from `earlier`, and log what makes the continuation inexact.

        Raises:
            ConfigError: its settings, data or tokenizers are others.
        """
        for name, fingerprint in self.fingerprints.items():
            if earlier.fingerprints.get(name) != fingerprint:
                back = "leave --init-from out" if name == STARTING_MODEL else "put it back"
                advice = f"{back}, or choose another --output"
                raise ConfigError(f"the {name} of this run changed since step {earlier.step}", run, advice=advice)
        for name, now in self.environment.items():
            if (then := earlier.environment.get(name)) != now:
                _log.warning(f"{name}: {then} -> {now}; the continuation is no longer bit-exact")


@dataclass
class Checkpoint:
    """The content of a checkpoint folder; tensors by name."""

    progress: Progress
    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    average: Mapping[str, Tensor] | None


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `folder`/step-<n>, whole or not at all.

    Raises:
        ResourceError: the disk is full, or would be.
        RunFolderError: the folder cannot be written.
    """
    from safetensors.torch import save

    def write(temporary: Path) -> None:
        # Written by Python, whose errors say that the disk is full; those of safetensors do not.
        (temporary / "model.safetensors").write_bytes(save(dict(checkpoint.model)))
        (temporary / "optimizer.safetensors").write_bytes(save(dict(checkpoint.optimizer)))
        if checkpoint.average is not None:
            (temporary / "average.safetensors").write_bytes(save(dict(checkpoint.average)))
        (temporary / "state.json").write_bytes(to_json(asdict(checkpoint.progress)))

    progress = checkpoint.progress
    require_held(folder)
    folder.mkdir(parents=True, exist_ok=True)
    groups = (checkpoint.model, checkpoint.optimizer, checkpoint.average or {})
    require_space(folder, sum(tensor.nbytes for group in groups for tensor in group.values()))
    save_folder(
        folder / f"step-{progress.step}", write, facts={"step": progress.step, "fingerprints": progress.fingerprints}
    )


def saved_steps(folder: Path) -> list[int]:
    """Return the steps of the checkpoints or bundles in `folder`, whole or not, in order."""
    names = (path.name.removeprefix("step-") for path in folder.glob("step-*"))
    return sorted(int(name) for name in names if name.isdecimal())


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the newest checkpoint in `folder` that is whole; None if there is no checkpoint at all.

    Damaged ones are skipped, with a line in the log that names the file.

    Raises:
        BundleError: there are checkpoints, but every one is damaged; or the newest is another version's.
    """
    steps = saved_steps(folder)
    for step in reversed(steps):
        place = folder / f"step-{step}"
        try:
            verify_folder(place)
        except BundleError as error:
            _log.warning(f"checkpoint step-{step} is damaged and is passed over ({error})")
        else:
            return _read(place)
    if steps:
        raise BundleError("every checkpoint is damaged", folder, advice="choose another --output to start anew")
    return None


def _read(place: Path) -> Checkpoint:
    from safetensors.torch import load_file

    state: dict[str, Any] = read_json(place / "state.json")
    try:
        progress = Progress(**{**state, "window": Window(**state["window"])})
    except (TypeError, KeyError):  # it is whole, but has other entries
        advice = "go on with that one, or choose another --output"
        raise BundleError("saved by another version of dragoman", place, advice=advice) from None
    average = place / "average.safetensors"
    return Checkpoint(
        progress=progress,
        model=load_file(place / "model.safetensors"),
        optimizer=load_file(place / "optimizer.safetensors"),
        average=load_file(average) if average.exists() else None,
    )
