"""A training that ends at about a given time: its length and shape are chosen once, and kept by every later start."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.data.mixture import planned_text
from dragoman.data.prepared import Prepared
from dragoman.errors import ConfigError, ResourceError, counted, is_out_of_memory
from dragoman.machine.files import write_file
from dragoman.machine.processes import Processes
from dragoman.settings.config import Config
from dragoman.settings.duration import duration_text
from dragoman.settings.parsing import parse_config
from dragoman.settings.presets import has_sizes
from dragoman.settings.recipe import read_recipe, to_yaml
from dragoman.training.budget import build_model, fitting_micro_batch, training_budget
from dragoman.training.checkpoint import Progress
from dragoman.training.precision import choose_precision
from dragoman.training.resolve import LIMITS, ON_GPU, Resolved, begin_run, fill, log_choices, resolve_run
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import Size, best_batch_tokens, gpu_sizes_for_time, sizes_for
from dragoman.training.speed import measure_speed, seconds_of_step
from dragoman.training.time_plan import Speed, TimePlan, plan_steps, validation_share
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState

_log = logging.getLogger(__name__)

#: Seconds of training to measure a speed by, and the part of the time that they may take.
MEASURED_SECONDS, MEASURED_SHARE = 4.0, 0.02
#: Batches that are measured on a GPU, as multiples of the row's.
GPU_BATCHES = 0.25, 4
#: Steps that stand for a length that is not known yet.
SOME_STEPS = 10**9
#: The settings that tell a row of the table of sizes from the others.
SIZE_NAMES = ("model.preset", "training.batch_tokens")
#: Reasons for a smaller size than the usual one.
_FOR_TIME, _FOR_RAM = "the largest for which there is time", "the largest for which there is enough RAM"
_TOO_SLOW = "the smallest, and there is not even time for all its passes"


@dataclass(frozen=True)
class _Measured:
    """The measured speed of a size, and the steps and epochs for which there is time."""

    speed: Speed
    plan: TimePlan
    n_epochs: float

    def describe(self, left: float, limit: float) -> str:
        """Return a line for people."""
        steps, every = counted(self.plan.n_steps, "step"), self.plan.validate_every
        return (
            f"{duration_text(left)} of {duration_text(limit)} are left; a step takes {_ms(self.speed)} and a "
            f"validation about {self.speed.validation:.1f} s: time for {steps} ({self.n_epochs:.1f} epochs), with a "
            f"validation every {every:,}"
        )


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

    def resolve(self) -> Resolved:
        """Return configuration, prepared corpus and what was chosen for the time.

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
        return self._begin() if checkpoint is None else self._continue(checkpoint.progress)

    def _continue(self, progress: Progress) -> Resolved:
        """Keep what was chosen for this time; for another time, choose steps by the speed that the run had."""
        spent, limit = duration_text(progress.spent), duration_text(self.limit)
        if progress.time_limit == self.limit or not progress.step:
            config, prepared = resolve_run(self.settings, self.run, self.start)
            _log.info(f"{spent} of {limit} are spent; the steps stay as they were chosen")
            return Resolved(config, prepared, progress.chosen_for_time, progress.validation_seconds)
        speed = Speed(progress.seconds / progress.step, progress.validation_seconds)
        every = parse_config(read_recipe(self.run.config)).training.validate_every
        n_steps = progress.step + plan_steps(self._left(progress.spent), speed, every).n_steps
        _log.info(f"{spent} of {limit} are spent; until now a step took {_ms(speed)}: time for {n_steps:,} in all")
        config, prepared = resolve_run(self._with({"max_steps": n_steps}), self.run, self.start)
        chosen = {**progress.chosen_for_time, "training.max_steps": n_steps}
        return Resolved(config, prepared, chosen, progress.validation_seconds)

    def _begin(self) -> Resolved:
        """Choose size, steps and validations of a new run."""
        asked = self.settings.get("training") or {}
        schedule = {} if asked.get("schedule") else {"schedule": "cosine"}
        settings = self._with({**schedule, "max_steps": SOME_STEPS})
        config, prepared = begin_run(settings, self.run, self.start, logs_choices=False)
        n_pairs, _ = planned_text(config.data)
        is_on_gpu = self.device.type == "cuda" and self.start is None
        sizes = sizes_for(n_pairs, fine_tuning=self.start is not None, on_gpu=is_on_gpu)
        if self.start is None and self._has_sizes:
            sizes = sizes[-1:]
        elif is_on_gpu:
            sizes = gpu_sizes_for_time(n_pairs)
        size, measured, reason = self._choose(settings, prepared, sizes, n_pairs)
        _log.info(measured.describe(self._left(), self.limit))
        plan = measured.plan
        training = {**schedule, "max_steps": plan.n_steps, "validate_every": plan.validate_every}
        names = {f"training.{name}": value for name, value in training.items()}
        if size is not sizes[-1] or is_on_gpu:
            names |= {name: value for name, value in size.choices().items() if name in SIZE_NAMES}
            size = replace(size, reason=reason or size.reason)
        if is_on_gpu:
            names[ON_GPU] = True
        config, lines = fill(self._with(training), self.start, size)
        log_choices(lines)
        write_file(self.run.config, to_yaml(config).encode())
        return Resolved(config, prepared, names, measured.speed.validation)

    def _choose(
        self, settings: Mapping[str, Any], prepared: Prepared, sizes: Sequence[Size], n_pairs: int
    ) -> tuple[Size, _Measured, str]:
        """Return the largest size that has time for all its passes, and RAM, or else the smallest; and a reason.

        Raises:
            DragomanError: there is not even time or RAM for the smallest.
        """
        chosen: tuple[Size, _Measured] | None = None
        validate_every = (settings.get("training") or {}).get("validate_every")
        for size in sizes:
            config, _ = fill(settings, self.start, size)
            budget = training_budget(config, prepared, self.device, Processes())
            if chosen is None:
                budget.check()
            elif not budget.is_enough and not size.critical_tokens:
                return *chosen, _FOR_RAM
            try:
                size = self._with_best_batch(settings, prepared, size)
                measured = self._measure(fill(settings, self.start, size)[0], prepared, validate_every)
            except (ConfigError, ResourceError, MemoryError, RuntimeError) as error:
                reason = _shortage(error)
                if chosen is None or not reason:
                    raise
                return *chosen, reason
            if measured.n_epochs < size.passes(n_pairs):
                return (size, measured, _TOO_SLOW) if chosen is None else (*chosen, _FOR_TIME)
            chosen = size, measured
        assert chosen is not None
        return *chosen, ""  # the usual size, which has its own reason

    def _with_best_batch(self, settings: Mapping[str, Any], prepared: Prepared, size: Size) -> Size:
        """Return the row with the batch that its measured steps ask for, if it leaves that open."""
        is_given = (settings.get("training") or {}).get("batch_tokens") is not None
        if not size.critical_tokens or is_given or self._has_sizes:
            return size
        seconds = {}
        for factor in GPU_BATCHES:
            n_tokens = round(factor * size.training["batch_tokens"])
            config, _ = fill(settings, self.start, size.with_batch(n_tokens))
            # Without a name for the trainer, its memory is free before the next one's is taken.
            seconds[n_tokens] = seconds_of_step(self._trainer(config, prepared), self._seconds_of_measuring)
        return size.with_batch(best_batch_tokens(seconds, size.critical_tokens))

    def _measure(self, config: Config, prepared: Prepared, validate_every: int | None) -> _Measured:
        """Return the steps for which there is time, with the speed of a few."""
        trainer = self._trainer(config, prepared)
        speed = measure_speed(trainer, prepared, self._seconds_of_measuring)
        left = self._left() - (speed.validation if self.start is not None else 0.0)  # the starting model is validated
        plan = plan_steps(left, speed, validate_every, validation_share(self.device.type))
        return _Measured(speed, plan, trainer.epochs.done(plan.n_steps))

    @property
    def _has_sizes(self) -> bool:
        """True if the person says how large the model is, whose training is then the paper's."""
        return has_sizes(self.settings.get("model") or {})

    @property
    def _seconds_of_measuring(self) -> float:
        """Seconds of steps to measure one speed by; on a GPU, there are several for each row."""
        seconds = min(MEASURED_SECONDS, MEASURED_SHARE * self.limit)
        return seconds if self.device.type == "cpu" else seconds / 5

    def _trainer(self, config: Config, prepared: Prepared) -> Trainer:
        """Return a new training, to be measured and forgotten, when the one before is."""
        gc.collect()
        micro_batch_tokens = fitting_micro_batch(config, prepared, self.device, Processes())
        progress = Progress(precision=choose_precision(config, self.device)[0], micro_batch_tokens=micro_batch_tokens)
        state = TrainingState.at_start(build_model(config, prepared, self.device), config.training, progress)
        return Trainer(config, prepared, state, self.run, Processes())

    def _left(self, spent: float = 0.0) -> float:
        """Return the seconds that are left, given those that earlier starts took."""
        return self.limit - spent - (time.monotonic() - self.began)

    def _with(self, training: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.settings, "training": {**(self.settings.get("training") or {}), **training}}


def _shortage(error: Exception) -> str:
    """Return the reason for a smaller size than the one whose measurement ended so, or "" for another error."""
    if isinstance(error, ConfigError):
        return _FOR_TIME
    return _FOR_RAM if isinstance(error, ResourceError) or is_out_of_memory(error) else ""


def _ms(speed: Speed) -> str:
    return f"{1000 * speed.step:.0f} ms"
