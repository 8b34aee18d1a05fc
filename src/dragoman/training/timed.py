"""A training that ends at about a given time: its length and shape are chosen once, and kept by every later start."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.data.mixture import planned_text
from dragoman.data.prepared import Prepared
from dragoman.errors import ConfigError, ResourceError, counted
from dragoman.machine.files import write_file
from dragoman.machine.processes import Processes
from dragoman.settings.config import Config
from dragoman.settings.duration import duration_text
from dragoman.settings.presets import has_sizes
from dragoman.settings.recipe import to_yaml
from dragoman.training.budget import build_model
from dragoman.training.checkpoint import Progress
from dragoman.training.precision import choose_precision
from dragoman.training.resolve import LIMITS, begin_run, fill, resolve_run
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import Size, size_for
from dragoman.training.speed import measure_speed
from dragoman.training.time_plan import TimePlan, plan_steps
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState

_log = logging.getLogger(__name__)

#: Seconds of training to measure a speed by, and the part of the time that they may take.
MEASURED_SECONDS, MEASURED_SHARE = 4.0, 0.02
#: Steps that stand for a length that is not known yet.
SOME_STEPS = 10**9


@dataclass(frozen=True)
class TimedStart:
    """One start of a training for which a person gives a time.

    Args:
        settings: as asked for; they name no length.
        limit: seconds for all starts of the run together.
        began: when this start began, by `time.monotonic`.
    """

    settings: Mapping[str, Any]
    limit: float
    run: RunFolder
    start: Bundle | None
    device: torch.device
    began: float

    def resolve(self) -> tuple[Config, Prepared, Mapping[str, Any]]:
        """Return configuration, prepared corpus and the settings that were chosen for the time, by full names.

        A run that was begun for the same time keeps what was chosen then.

        Raises:
            ConfigError: the settings name a length, or the time is too short.
            DragomanError: see `resolve_run`.
        """
        asked = self.settings.get("training") or {}
        if given := [name for name in LIMITS if asked.get(name) is not None]:
            problem = f"a time and training.{given[0]} both say how long to train"
            raise ConfigError(problem, advice="leave one of them out")
        checkpoint = self.run.load() if self.run.steps else None
        if checkpoint is None:
            return self._begin()
        progress = checkpoint.progress
        config, prepared = resolve_run(self.settings, self.run, self.start)
        if progress.time_limit == self.limit:
            spent, limit = duration_text(progress.spent), duration_text(self.limit)
            _log.info(f"{spent} of {limit} are spent; the steps stay as they were chosen")
            return config, prepared, progress.chosen_for_time
        measured, _ = self._measure(config, prepared, progress.spent, config.training.validate_every)
        chosen = {**progress.chosen_for_time, "training.max_steps": progress.step + measured.n_steps}
        training = config.training.model_copy(update={"max_epochs": None, "max_steps": chosen["training.max_steps"]})
        config = config.model_copy(update={"training": training})
        write_file(self.run.config, to_yaml(config).encode())
        return config, prepared, chosen

    def _begin(self) -> tuple[Config, Prepared, Mapping[str, Any]]:
        """Choose shape, steps and validations of a new run."""
        asked = self.settings.get("training") or {}
        schedule = {} if asked.get("schedule") else {"schedule": "cosine"}
        settings = self._with({**schedule, "max_steps": SOME_STEPS})
        config, prepared = begin_run(settings, self.run, self.start, logs_choices=False)
        n_pairs, _ = planned_text(config.data)
        size = size_for(n_pairs)
        for preset in self._presets(size):
            config, _ = fill(settings, self.start, preset)
            is_last = preset == self._presets(size)[-1]
            try:
                measured, n_passes = self._measure(config, prepared, 0.0, asked.get("validate_every"))
            except (ResourceError, MemoryError):
                if is_last:
                    raise
                continue
            if is_last or n_passes >= size.passes(n_pairs):
                break
        chosen = {**schedule, "max_steps": measured.n_steps, "validate_every": measured.validate_every}
        config, lines = fill(self._with(chosen), self.start, preset)
        for line in lines:
            _log.info(line)
        write_file(self.run.config, to_yaml(config).encode())
        names = {f"training.{name}": value for name, value in chosen.items()}
        return config, prepared, names if preset is None else {**names, "model.preset": preset}

    def _presets(self, size: Size) -> Sequence[str | None]:
        """Return the shapes to choose from, the largest first; None is the one that is given, or usual."""
        if self.start is not None or has_sizes(self.settings.get("model") or {}):
            return (None,)
        return [None if preset == size.preset else preset for preset in reversed(size.presets_by_time)]

    def _measure(
        self, config: Config, prepared: Prepared, spent: float, validate_every: int | None
    ) -> tuple[TimePlan, float]:
        """Return the steps for which there is time, and their epochs; log both with the speed."""
        progress = Progress(precision=choose_precision(config, self.device)[0])
        state = TrainingState.at_start(build_model(config, prepared, self.device), config.training, progress)
        trainer = Trainer(config, prepared, state, self.run, Processes())
        speed = measure_speed(trainer, prepared, min(MEASURED_SECONDS, MEASURED_SHARE * self.limit))
        left = self.limit - spent - (time.monotonic() - self.began)
        plan = plan_steps(left, speed, validate_every)
        measured = f"a step takes {1000 * speed.step:.0f} ms and a validation about {speed.validation:.1f} s"
        n_epochs = trainer.epochs.done(plan.n_steps)
        fitting = f"time for {counted(plan.n_steps, 'step')} ({n_epochs:.1f} epochs)"
        _log.info(
            f"{duration_text(left)} of {duration_text(self.limit)} are left; {measured}: {fitting}, "
            f"with a validation every {plan.validate_every:,}"
        )
        return plan, n_epochs

    def _with(self, training: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.settings, "training": {**(self.settings.get("training") or {}), **training}}
