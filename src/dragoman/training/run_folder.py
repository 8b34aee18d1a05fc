"""The folder of one training: its checkpoints, and the bundles that validation keeps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from dragoman.bundle import save_bundle
from dragoman.config import SearchConfig
from dragoman.model.transformer import Transformer
from dragoman.storage import read_json, remove_pointer, set_pointer
from dragoman.text.tokenizer import Tokenizers
from dragoman.training.checkpoint import Checkpoint, Progress, load_checkpoint, save_checkpoint, saved_steps


class RunFolder:
    """`checkpoints/step-<n>`, `bundles/step-<n>`, and the pointers `best` and `last` to two of the bundles."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints, self.bundles = path / "checkpoints", path / "bundles"

    def load(self, warn: Callable[[str], None]) -> Checkpoint | None:
        """The newest whole checkpoint, as `load_checkpoint` finds it."""
        return load_checkpoint(self.checkpoints, warn)

    def newest_step(self) -> int:
        """The step of the newest checkpoint, whole or not; 0 when there is none."""
        return max(saved_steps(self.checkpoints), default=0)

    def save(self, checkpoint: Checkpoint, n_kept: int) -> None:
        """Write a checkpoint, then remove all but the newest `n_kept` and the bundles that none of them names."""
        save_checkpoint(self.checkpoints, checkpoint)
        _prune(self.checkpoints, keep=set(saved_steps(self.checkpoints)[-n_kept:]))
        _prune(self.bundles, keep=_bundles_in_use(self.checkpoints))

    def keep_bundle(
        self,
        progress: Progress,
        model: Transformer,
        tokenizers: Tokenizers,
        search: SearchConfig,
        facts: Mapping[str, float],
    ) -> None:
        """Write the bundle of the last validation, and let `best` and `last` name theirs."""
        bundle = self.bundles / f"step-{progress.last_validation}"
        if not bundle.exists():  # a process that was killed before its checkpoint may have written this one already
            save_bundle(bundle, model, tokenizers, search, facts=facts)
        self._point(progress)

    def forget_after(self, progress: Progress) -> None:
        """Undo what a killed process did after its last checkpoint, so that `best` and `last` belong to that one."""
        self._point(progress)
        _prune(self.bundles, keep={step for step in saved_steps(self.bundles) if step <= progress.step})

    def _point(self, progress: Progress) -> None:
        for name, step in (("last", progress.last_validation), ("best", progress.best_step)):
            if step is None:
                remove_pointer(self.path / name)
            else:
                set_pointer(self.path / name, self.bundles / f"step-{step}")


def _bundles_in_use(folder: Path) -> set[int]:
    """The steps of the bundles that the checkpoints in `folder` call best or last."""
    states = [read_json(folder / f"step-{step}" / "state.json") for step in saved_steps(folder)]
    return {state[key] for state in states for key in ("best_step", "last_validation") if state[key] is not None}


def _prune(folder: Path, keep: set[int]) -> None:
    """Remove the checkpoints or bundles in `folder` whose step is not in `keep`, and what a killed save left."""
    for step in saved_steps(folder):
        if step not in keep:
            shutil.rmtree(folder / f"step-{step}", ignore_errors=True)
    for leftover in folder.glob("tmp.*"):
        shutil.rmtree(leftover, ignore_errors=True)
