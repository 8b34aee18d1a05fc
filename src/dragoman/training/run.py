"""`train`: from settings to the best bundle, doing on the way all that has not been done yet."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.data.batch_order import BatchOrder
from dragoman.data.mixture import stage_weights
from dragoman.data.prepared import Prepared, open_prepared
from dragoman.machine.devices import find_device
from dragoman.machine.locks import lock_folder
from dragoman.machine.pointers import read_pointer
from dragoman.machine.processes import Processes, start_processes
from dragoman.model.transformer import Transformer
from dragoman.settings.config import Config
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import read_recipe
from dragoman.text.learned_text import FACT
from dragoman.training.budget import check_budget, model_config
from dragoman.training.changes import settings_fingerprint
from dragoman.training.checkpoint import STARTING_MODEL, Progress
from dragoman.training.fine_tuning import fingerprint, load_starting_model
from dragoman.training.resolve import resolve_run
from dragoman.training.run_folder import RunFolder
from dragoman.training.schedule import total_steps
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState, describe_environment
from dragoman.training.vocabulary_transfer import with_vocabularies

_log = logging.getLogger(__name__)


def train(
    settings: Mapping[str, Any],
    folder: str | Path,
    *,
    init_from: str | Path | None = None,
    device: str = "auto",
    progress_bar: bool = False,
) -> Path:
    """Prepare what is not prepared, then train or go on training in `folder`.

    Lines for a person go to the log: `logging.basicConfig(level=logging.INFO, format="%(message)s")` shows them.

    Args:
        settings: a recipe, such as `{"data": {"pairs": "my.tmx"}}`; what it leaves open is chosen to fit the corpus.
        folder: the run folder.
        init_from: a bundle, a run folder or a shipped model to start from (fine-tuning). Sources may be lower-cased
            from now on, and another `tokenizer.vocab_size` learns a new vocabulary.
        device: "auto", "cpu", "cuda", "cuda:<n>" or "mps".
        progress_bar: show a bar on standard error if that is a terminal.

    Returns:
        The best bundle.

    Raises:
        DragomanError: of the class that fits; what was saved before stays usable.
    """
    folder, processes = Path(folder), start_processes()
    with contextlib.ExitStack() as stack:
        stack.callback(processes.close)
        where = torch.device(find_device(processes.device_name(device)))
        stack.enter_context(_log_from_main(processes))
        lock = stack.enter_context(lock_folder(folder)) if processes.is_main else None
        start = load_starting_model(init_from) if init_from is not None else None
        trainer = _trainer(settings, RunFolder(folder), start, where, processes, progress_bar=progress_bar)
        trainer.run()
        if trainer.state.progress.best_step == 0:
            _log.warning("no validation was better than that of the starting model, which is the best one here")
        if lock is not None:
            lock.require()
        return read_pointer(folder / "best")


def _trainer(
    settings: Mapping[str, Any],
    run: RunFolder,
    start: Bundle | None,
    device: torch.device,
    processes: Processes,
    *,
    progress_bar: bool,
) -> Trainer:
    """Prepare the run, check that there is enough RAM, and build the model and its trainer."""
    if processes.is_main:
        config, prepared = resolve_run(settings, run, start)
        processes.barrier()
    else:
        processes.barrier()
        config, prepared = parse_config(read_recipe(run.config)), open_prepared(run.path)
    check_budget(config, prepared, device, processes)
    model = build_model(config, prepared, device)
    if start is not None:
        model.load_state_dict(with_vocabularies(start, prepared.tokenizers).model.state_dict())
    progress = _first_progress(config, prepared, start)
    progress.environment = describe_environment(config.training, device, processes.world_size)
    state = TrainingState.at_start(model, config.training, progress)
    trainer = Trainer(config, prepared, state, run, processes, progress_bar=progress_bar)
    if (n_warmup := config.training.warmup_steps) > trainer.n_steps:
        what = f"all {trainer.n_steps:,} steps are warm-up, and the learning rate will not reach its peak"
        _log.warning(f"{what}; begin anew with training.warmup_steps below {n_warmup:,}")
    return trainer


def build_model(config: Config, prepared: Prepared, device: torch.device) -> Transformer:
    """Return a new model with random weights, a function of the seed alone."""
    torch.manual_seed(config.training.seed)
    return Transformer(model_config(config, prepared), prepared.tokenizers.special_ids).to(device)


def steps_of_run(config: Config, run: Path) -> int:
    """Return the steps of a run's whole training; its prepared corpus says how many an epoch has.

    Raises:
        BundleError: the prepared corpus is missing or damaged.
    """
    training, prepared = config.training, open_prepared(run)
    stages = stage_weights(config.data, prepared.train.parts)
    order = BatchOrder(prepared.train, batch_tokens=training.batch_tokens, seed=training.seed, stages=stages)
    return total_steps(training, order.epochs)


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
