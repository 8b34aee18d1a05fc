"""The folder of one training: its checkpoints, and the bundles that validation keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.bundle.averaging import MeanWeights
from dragoman.bundle.bundle import load_bundle, save_bundle, write_bundle
from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import read_weights
from dragoman.errors import BundleError, ConfigError, RunFolderError
from dragoman.machine.files import TEMPORARY
from dragoman.machine.folders import remove_folder, verify_folder
from dragoman.machine.json_files import read_json
from dragoman.machine.pointers import read_pointer, remove_pointer, set_pointer
from dragoman.settings.search_config import SearchConfig
from dragoman.text.tokenizer import Tokenizers
from dragoman.training.checkpoint import Checkpoint, Progress, load_checkpoint, save_checkpoint, saved_steps

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer


class RunFolder:
    """`config.yaml`, `metrics.jsonl`, `checkpoints/step-<n>`, `bundles/step-<n>`, and the pointers `best` and `last`
    to two of the bundles."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.metrics = path / "config.yaml", path / "metrics.jsonl"
        self.checkpoints, self.bundles = path / "checkpoints", path / "bundles"

    @property
    def steps(self) -> list[int]:
        """Steps of the checkpoints, whole or not, in order."""
        return saved_steps(self.checkpoints)

    def load(self) -> Checkpoint | None:
        """Return the newest whole checkpoint, as `load_checkpoint` finds it.

        Raises:
            BundleError: every checkpoint is damaged, or they were taken away.
        """
        checkpoint = load_checkpoint(self.checkpoints)
        if checkpoint is None and (saved_steps(self.bundles) or self._has_logged()):
            raise BundleError("the run's checkpoints are missing", self.path, advice="choose another --output")
        return checkpoint

    def chosen_for_time(self) -> Mapping[str, Any]:
        """Return the settings that were chosen for the time of this training, by their full names; mostly none."""
        for step in reversed(self.steps):
            with contextlib.suppress(BundleError):
                chosen = read_json(self.checkpoints / f"step-{step}" / "state.json").get("chosen_for_time")
                return chosen if isinstance(chosen, Mapping) else {}
        return {}

    def save(self, checkpoint: Checkpoint, n_kept: int) -> None:
        """Write a checkpoint, then remove all but the newest `n_kept` and the bundles that none of them names."""
        save_checkpoint(self.checkpoints, checkpoint)
        _prune(self.checkpoints, keep=set(saved_steps(self.checkpoints)[-n_kept:]))
        self._prune_bundles(checkpoint.progress)

    def keep_bundle(
        self,
        progress: Progress,
        model: Transformer,
        tokenizers: Tokenizers,
        search: SearchConfig,
        facts: Mapping[str, Any],
    ) -> None:
        """Write the bundle of the last validation, let `best` and `last` name theirs, and remove those nobody names."""
        save_bundle(self.bundles / f"step-{progress.last_validation}", model, tokenizers, search, facts=facts)
        self._point(progress)
        self._prune_bundles(progress)

    def has_bundle(self, step: int) -> bool:
        """Return True if the bundle of a validation is there; a person may have removed it."""
        return (self.bundles / f"step-{step}").is_dir()

    def forget_after(self, progress: Progress) -> None:
        """Undo what was done after the checkpoint of `progress`, so that `best` and `last` belong to that one.

        Newer checkpoints are damaged, or they would have been used; they are renamed to `damaged-step-<n>`.
        """
        for step in self.steps:
            if step > progress.step:
                damaged = self.checkpoints / f"damaged-step-{step}"
                remove_folder(damaged)
                (self.checkpoints / f"step-{step}").rename(damaged)
        self._point(progress)
        self._prune_bundles(progress)

    def average(self, n_last: int, output: Path) -> str:
        """Write a bundle whose weights are the mean of the newest checkpoints', and all else the last bundle's.

        Where the training takes a moving average, the mean is of that: it is what `best` and `last` have.

        Returns:
            The steps in the mean, in words.

        Raises:
            ConfigError: there are fewer checkpoints.
            BundleError: one is damaged; or nothing was validated yet, so that there is no bundle.
            RunFolderError: this is no run folder; `output` exists or cannot be written.
        """
        if not self.checkpoints.is_dir():
            raise RunFolderError("no checkpoints here", self.path, advice="give a run folder made by `dragoman train`")
        steps = [step for step in self.steps if step > 0]  # the first state is random, or another training's
        if len(steps) < n_last:
            advice = f"average the last {len(steps)}; " if steps else ""
            what = f"there are {len(steps)} checkpoints of trained weights, not {n_last}"
            raise ConfigError(what, self.checkpoints, advice=f"{advice}training.keep_checkpoints keeps more")
        pointer, chosen = self.path / "last", steps[-n_last:]
        if not (pointer.is_symlink() or pointer.exists()):
            raise BundleError("this run has no model yet", self.path, advice="let `dragoman train` reach a validation")
        last = load_bundle(read_pointer(pointer))
        folders = [self.checkpoints / f"step-{step}" for step in chosen]
        is_moving = all((folder / "average.safetensors").exists() for folder in folders)
        weights, shapes = MeanWeights(), Layout(last.config).shapes()
        for folder in folders:
            verify_folder(folder)
            weights.add(read_weights(folder / f"{'average' if is_moving else 'model'}.safetensors", shapes))
        facts = {"average_of_steps": chosen, **last.lasting_facts}
        write_bundle(output, replace(last, weights=weights.mean(), facts=facts))
        return f"the {'moving averages' if is_moving else 'weights'} of steps {', '.join(map(str, chosen))}"

    def _has_logged(self) -> bool:
        """Return True if a step was logged, which never happens before the first checkpoint."""
        return self.metrics.exists() and self.metrics.stat().st_size > 0

    def _prune_bundles(self, progress: Progress) -> None:
        """Remove the bundles that neither `progress` nor a checkpoint that can be read calls best or last."""
        named = {step for step in (progress.best_step, progress.last_validation) if step is not None}
        _prune(self.bundles, keep=named | _bundles_in_use(self.checkpoints))

    def _point(self, progress: Progress) -> None:
        for name, step in (("last", progress.last_validation), ("best", progress.best_step)):
            if step is None:
                remove_pointer(self.path / name)
            else:
                set_pointer(self.path / name, self.bundles / f"step-{step}")


def _bundles_in_use(folder: Path) -> set[int]:
    """Return the steps of the bundles that whole checkpoints in `folder` call best or last."""
    used: set[int] = set()
    for step in saved_steps(folder):
        with contextlib.suppress(BundleError):
            state = read_json(folder / f"step-{step}" / "state.json")
            used |= {state[key] for key in ("best_step", "last_validation") if isinstance(state.get(key), int)}
    return used


def _prune(folder: Path, keep: set[int]) -> None:
    """Remove the checkpoints or bundles in `folder` whose step is not in `keep`, and what a killed save left."""
    for step in saved_steps(folder):
        if step not in keep:
            remove_folder(folder / f"step-{step}")
    for leftover in folder.glob(f"{TEMPORARY}*"):
        remove_folder(leftover)
