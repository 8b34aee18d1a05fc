"""Everything a stopped training needs to go on to the same bits: weights, optimizer, average, and a few numbers.

Neither the order of batches nor the dropout masks need saving: both are pure functions of (seed, step).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.errors import BundleError
from dragoman.storage import read_json, save_folder, to_json, verify_folder


@dataclass
class Progress:
    """The numbers of a training, as they stand after `step` steps."""

    step: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    skipped_steps: int = 0
    skipped_in_a_row: int = 0
    precision: str = "float32"
    best_score: float | None = None
    best_step: int | None = None
    validations_since_best: int = 0
    last_validation: int | None = None
    fingerprints: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Checkpoint:
    """What a checkpoint folder holds; tensors by name."""

    progress: Progress
    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    average: Mapping[str, Tensor] | None


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `folder`/step-<n>, whole or not at all."""

    def write(temporary: Path) -> None:
        save_file(dict(checkpoint.model), temporary / "model.safetensors")
        save_file(dict(checkpoint.optimizer), temporary / "optimizer.safetensors")
        if checkpoint.average is not None:
            save_file(dict(checkpoint.average), temporary / "average.safetensors")
        (temporary / "state.json").write_bytes(to_json(asdict(checkpoint.progress)))

    progress = checkpoint.progress
    target = folder / f"step-{progress.step}"
    shutil.rmtree(target, ignore_errors=True)  # only a damaged one can stand there: a whole one would have been loaded
    save_folder(target, write, facts={"step": progress.step, "fingerprints": progress.fingerprints})


def saved_steps(folder: Path) -> list[int]:
    """The steps of the checkpoints or bundles in `folder`, whole or not, in order."""
    names = (path.name.removeprefix("step-") for path in folder.glob("step-*"))
    return sorted(int(name) for name in names if name.isdecimal())


def load_checkpoint(folder: Path, warn: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint in `folder` that is whole; None when there is none at all.

    Damaged ones are passed over with a warning that names the file.

    Raises:
        BundleError: there are checkpoints, but every one is damaged.
    """
    steps = saved_steps(folder)
    for step in reversed(steps):
        place = folder / f"step-{step}"
        try:
            verify_folder(place)
            return _read(place)
        except BundleError as error:
            warn(f"checkpoint step-{step} is damaged and is passed over ({error})")
    if steps:
        raise BundleError("every checkpoint is damaged", folder, advice="choose another --output to start anew")
    return None


def _read(place: Path) -> Checkpoint:
    state: dict[str, Any] = read_json(place / "state.json")
    average = place / "average.safetensors"
    return Checkpoint(
        progress=Progress(**state),
        model=load_file(place / "model.safetensors"),
        optimizer=load_file(place / "optimizer.safetensors"),
        average=load_file(average) if average.exists() else None,
    )


def bundles_in_use(folder: Path) -> set[int]:
    """The steps of the bundles that the checkpoints in `folder` call best or last."""
    states = [read_json(folder / f"step-{step}" / "state.json") for step in saved_steps(folder)]
    return {state[key] for state in states for key in ("best_step", "last_validation") if state[key] is not None}


def prune(folder: Path, keep: set[int]) -> None:
    """Remove the checkpoints or bundles in `folder` whose step is not in `keep`, and what a killed save left."""
    for step in saved_steps(folder):
        if step not in keep:
            shutil.rmtree(folder / f"step-{step}", ignore_errors=True)
    for leftover in folder.glob("tmp.*"):
        shutil.rmtree(leftover, ignore_errors=True)
