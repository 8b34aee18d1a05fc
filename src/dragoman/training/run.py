"""`train`: from settings to the best bundle, doing on the way all that has not been done yet."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.data.prepared import Prepared, open_prepared
from dragoman.errors import ConfigError
from dragoman.inspection.curves import read_curves, read_metrics
from dragoman.machine.devices import find_device
from dragoman.machine.locks import lock_folder
from dragoman.machine.pointers import read_pointer
from dragoman.machine.processes import Processes, start_processes
from dragoman.settings.config import Config
from dragoman.settings.duration import duration_text
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import read_recipe
from dragoman.text.learned_text import FACT
from dragoman.training.budget import build_model, check_budget, fitting_micro_batch
from dragoman.training.changes import settings_fingerprint
from dragoman.training.checkpoint import STARTING_MODEL, Progress
from dragoman.training.fine_tuning import fingerprint, load_starting_model
from dragoman.training.outlook import describe_failure, describe_outlook
from dragoman.training.resolve import ON_GPU, Resolved, resolve_run
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import sizes_for
from dragoman.training.time_plan import TimeKeeper
from dragoman.training.timed import TimedStart
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState, describe_environment
from dragoman.training.vocabulary_transfer import with_vocabularies
from dragoman.translator.checking import positive_seconds

_log = logging.getLogger(__name__)


def train(
    settings: Mapping[str, Any],
    folder: str | Path,
    *,
    init_from: str | Path | None = None,
    device: str = "auto",
    progress_bar: bool = False,
    time_limit: float | None = None,
) -> Path:
    """Prepare what is not prepared, train or go on training in `folder`, and return the best bundle.

    Lines for a person go to the log: `logging.basicConfig(level=logging.INFO, format="%(message)s")` shows them.

    Args:
        settings: a recipe, such as `{"data": {"pairs": "my.tmx"}}`; what it leaves open is chosen to fit the corpus.
        folder: the run folder.
        init_from: a bundle, a run folder or an installed model to start from (fine-tuning). Sources may be lower-cased
            from now on, and another `tokenizer.vocab_size` learns a new vocabulary.
        device: "auto", "cpu", "cuda", "cuda:<n>" or "mps".
        progress_bar: show a bar on standard error if that is a terminal.
        time_limit: seconds for all starts of the run together, for which length and schedule are chosen.

    Raises:
        DragomanError: of the class that fits; what was saved before stays usable.
    """
    _check_limit(time_limit)
    began, folder, processes = time.monotonic(), Path(folder), start_processes()
    with contextlib.ExitStack() as stack:
        stack.callback(processes.close)
        where = _find_device(device, processes)
        stack.enter_context(_log_from_main(processes))
        lock = stack.enter_context(lock_folder(folder)) if processes.is_main else None
        start = load_starting_model(init_from) if init_from is not None else None
        first = _Start(settings, RunFolder(folder), start, where, processes, time_limit, began)
        _run(first, progress_bar=progress_bar)
        if lock is not None:
            lock.require()
        return read_pointer(folder / "best")


def _run(start: _Start, *, progress_bar: bool) -> None:
    """Train. The trainer is gone before the group of processes closes.

    PyTorch may wait forever for the end of a group that only `DistributedDataParallel` still holds.
    """
    trainer = start.trainer(progress_bar=progress_bar)
    trainer.run()
    _log_end(trainer)


def _check_limit(seconds: float | None) -> None:
    if seconds is not None and positive_seconds(seconds, "time_limit") == math.inf:
        raise ConfigError("time_limit is infinite", advice="leave it out, and give training.max_steps")


def _find_device(name: str, processes: Processes) -> torch.device:
    """Return this process's device; gloo, which adds for several, does not know Apple's."""
    device = torch.device(find_device(processes.device_name(name)))
    if device.type == "mps" and processes.world_size > 1:
        raise ConfigError("several processes cannot share an Apple GPU", advice="use --device cpu, or one process")
    return device


def _log_end(trainer: Trainer) -> None:
    """Log how the training ended, and what a longer one would bring."""
    progress, is_fine_tuning = trainer.state.progress, STARTING_MODEL in trainer.state.progress.fingerprints
    if progress.best_step == 0:
        _log.warning("no validation was better than that of the starting model, which is the best one here")
    if not trainer.processes.is_main or progress.step < trainer.n_steps:
        return
    if progress.time_limit is not None:
        _log.info(f"{duration_text(progress.spent)} of {duration_text(progress.time_limit)} are spent")
    records = [record for record in read_metrics(trainer.folder.path) if record["step"] == progress.best_step]
    prefix = "validation_bleu"
    bleu = {
        name.removeprefix(prefix).removeprefix("_"): value
        for record in records
        for name, value in record.items()
        if name.startswith(prefix)
    }
    if len(bleu) > 1:
        del bleu[""]  # the mean of all directions
    n_pairs, is_sized_for_gpu = len(trainer.prepared.train), bool(progress.chosen_for_time.get(ON_GPU))
    usual = sizes_for(n_pairs, fine_tuning=is_fine_tuning, on_gpu=is_sized_for_gpu)[-1].passes(n_pairs)
    n_epochs = trainer.epochs.done(progress.step)
    if failure := describe_failure(bleu, n_epochs, usual, is_fine_tuning=is_fine_tuning):
        _log.warning(failure)
    elif outlook := describe_outlook(read_curves(trainer.folder.path).validation_bleu):
        _log.info(outlook)


@dataclass(frozen=True)
class _Start:
    """One start of a run; `time_limit` in seconds, `began` by `time.monotonic`."""

    settings: Mapping[str, Any]
    run: RunFolder
    start: Bundle | None
    device: torch.device
    processes: Processes
    time_limit: float | None
    began: float

    def _resolve(self) -> Resolved:
        """Resolve and prepare the run in the main process."""
        if self.time_limit is not None:
            if self.processes.world_size > 1:
                raise ConfigError("a time is for one process", advice="give training.max_steps to several")
            timed = TimedStart(self.settings, self.time_limit, self.run, self.start, self.device, self.began)
            return timed.resolve()
        if self.processes.is_main:
            is_new_on_gpu = self.device.type == "cuda" and not self.run.steps and self.start is None
            config, prepared = resolve_run(self.settings, self.run, self.start, on_gpu=is_new_on_gpu)
            chosen = {ON_GPU: True, "training.batch_tokens": config.training.batch_tokens} if is_new_on_gpu else {}
            resolved = Resolved(config, prepared, chosen)
            self.processes.barrier()
        else:
            self.processes.barrier()
            resolved = Resolved(parse_config(read_recipe(self.run.config)), open_prepared(self.run.path))
        return resolved

    def trainer(self, *, progress_bar: bool) -> Trainer:
        """Prepare the run, check that there is enough RAM, and build the model and its trainer."""
        resolved = self._resolve()
        config, prepared = resolved.config, resolved.prepared
        micro_batch_tokens = fitting_micro_batch(config, prepared, self.device, self.processes)
        check_budget(config, prepared, self.device, self.processes, micro_batch_tokens)
        model = build_model(config, prepared, self.device)
        if self.start is not None:
            model.load_state_dict(with_vocabularies(self.start, prepared.tokenizers).model.state_dict())
        progress = _first_progress(config, prepared, self.start)
        progress.time_limit, progress.chosen_for_time = self.time_limit, resolved.chosen
        progress.validation_seconds = resolved.validation_seconds
        progress.micro_batch_tokens = micro_batch_tokens
        progress.environment = describe_environment(config.training, self.device, self.processes.world_size)
        state = TrainingState.at_start(model, config.training, progress)
        keeper = None if self.time_limit is None else TimeKeeper(self.time_limit)
        trainer = Trainer(
            config, prepared, state, self.run, self.processes, time_keeper=keeper, progress_bar=progress_bar
        )
        if (n_warmup := config.training.warmup_steps) > trainer.n_steps:
            what = f"all {trainer.n_steps:,} steps are warm-up, and the learning rate will not reach its peak"
            _log.warning(f"{what}; begin anew with training.warmup_steps below {n_warmup:,}")
        progress.spent = time.monotonic() - self.began
        return trainer


def _first_progress(config: Config, prepared: Prepared, start: Bundle | None) -> Progress:
    """Return the numbers of a training before its first step."""
    fingerprints = {"configuration": settings_fingerprint(config), **prepared.fingerprints}
    if start is not None:
        fingerprints[STARTING_MODEL] = fingerprint(start)
    facts = start.lasting_facts if start is not None else {}
    facts = {**facts, FACT: prepared.learned_text().model_dump(mode="json")}
    return Progress(fingerprints=fingerprints, lasting_facts=facts)


@contextlib.contextmanager
def _log_from_main(processes: Processes) -> Iterator[None]:
    """Inside, only the main process logs: the others would say the same."""
    logger = logging.getLogger("dragoman")
    level = logger.level
    if not processes.is_main:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
