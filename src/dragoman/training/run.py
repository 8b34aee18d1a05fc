"""`train`: from settings to the best bundle, doing on the way all that has not been done yet."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout
from dragoman.bundle.search_ram import disproportion
from dragoman.data.batches import Batches
from dragoman.data.corpus import read_pairs
from dragoman.data.prepare import prepare
from dragoman.data.prepared import DATA_FOLDER, Prepared, given_tokenizers, noted_starting_model, open_prepared
from dragoman.data.training_text import learned_text
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.machine.devices import find_device
from dragoman.machine.files import write_file
from dragoman.machine.locks import lock_folder
from dragoman.machine.pointers import read_pointer
from dragoman.machine.processes import Processes, start_processes
from dragoman.machine.ram import available_memory
from dragoman.model.transformer import Transformer
from dragoman.native.fused_library import library
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.parsing import check_request, check_settings, parse_config
from dragoman.settings.recipe import read_recipe, to_yaml
from dragoman.settings.sections import parse_section
from dragoman.text.learned_text import FACT
from dragoman.training.changes import refuse_changes
from dragoman.training.checkpoint import STARTING_MODEL
from dragoman.training.fine_tuning import fingerprint, given_by, kept_tokenizers, load_start, searched_as
from dragoman.training.plan import plan
from dragoman.training.ram_estimate import state_bytes, training_bytes
from dragoman.training.run_folder import RunFolder
from dragoman.training.schedule import total_steps
from dragoman.training.trainer import Trainer
from dragoman.training.vocabulary_transfer import with_vocabularies

_log = logging.getLogger(__name__)

MIB = 2**20


def train(
    settings: Mapping[str, Any],
    folder: Path,
    *,
    init_from: Path | None = None,
    device: str = "auto",
    progress_bar: bool = False,
) -> Path:
    """Prepare what is not prepared, then train or go on training in `folder`.

    Lines for a person go to the log: `logging.basicConfig(level=logging.INFO, format="%(message)s")` shows them.

    Args:
        settings: a recipe as `recipe.read_recipe` gives it; what it leaves open is chosen to fit the corpus.
        folder: the run folder.
        init_from: a bundle whose weights, shape and tokenizer are the starting point (fine-tuning). Sources may be
            lower-cased from now on, and with another `tokenizer.vocab_size` a new vocabulary is learned.
        device: "auto", "cpu", "cuda", "cuda:<n>" or "mps".
        progress_bar: show a bar on standard error if that is a terminal.

    Returns:
        The best bundle.

    Raises:
        DragomanError: of the class that fits; what was saved before stays usable.
    """
    processes = start_processes()
    where = torch.device(find_device(processes.device_name(device)))
    with contextlib.ExitStack() as stack:
        stack.callback(processes.close)
        stack.enter_context(_log_from_main(processes))
        if processes.is_main:
            lock = stack.enter_context(lock_folder(folder))
        start = load_start(init_from) if init_from is not None else None
        if processes.is_main:
            config, prepared = _prepare(settings, folder, start)
            processes.barrier()
        else:
            processes.barrier()
            config, prepared = parse_config(read_recipe(RunFolder(folder).config)), open_prepared(folder)
        _check_memory(config, prepared, where, processes)
        model = build_model(config, prepared, where)
        if start is not None:
            model.load_state_dict(with_vocabularies(start, prepared.tokenizers).model.state_dict())
        trainer = Trainer(config, prepared, model, RunFolder(folder), processes, progress_bar=progress_bar)
        lasting = start.lasting_facts if start is not None else {}
        trainer.progress.lasting_facts = {**lasting, FACT: learned_text(prepared.train).model_dump(mode="json")}
        if start is not None:
            trainer.progress.fingerprints = {**trainer.progress.fingerprints, STARTING_MODEL: fingerprint(start)}
        if config.training.warmup_steps > trainer.n_steps:
            what = f"all {trainer.n_steps:,} steps are warm-up, and the learning rate will not reach its peak"
            _log.warning(f"{what}; begin anew with training.warmup_steps below {config.training.warmup_steps:,}")
        trainer.run()
        if trainer.progress.best_step == 0:
            _log.warning("no validation was better than that of the starting model, which is the best one here")
        if processes.is_main:
            lock.require()
        return read_pointer(folder / "best")


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


def build_model(config: Config, prepared: Prepared, device: torch.device) -> Transformer:
    """A new model with random weights, a function of the seed alone."""
    torch.manual_seed(config.training.seed)
    return Transformer(model_config(config, prepared), prepared.tokenizers.special_ids).to(device)


def steps_of_run(config: Config, run: Path) -> int:
    """The steps of a run's whole training; its prepared corpus says how many an epoch has.

    Raises:
        BundleError: the prepared corpus is missing or damaged.
    """
    training, prepared = config.training, open_prepared(run)
    batches = Batches(
        prepared.train, prepared.tokenizers, batch_tokens=training.batch_tokens, seed=training.seed, sampling=False
    )
    return total_steps(training, batches.per_epoch)


def _check_memory(config: Config, prepared: Prepared, device: torch.device, processes: Processes) -> None:
    """Tell how large the model is and what its training takes, before it takes any of it.

    Raises:
        ConfigError: weights, gradients and optimizer alone are more than there is, or no bundle may have such a shape.
    """
    model = model_config(config, prepared)
    if problem := disproportion(model, config.search):
        raise ConfigError(problem, advice="change the model's shape or the search")
    n_parameters = sum(map(math.prod, Layout(model).shapes().values()))
    state = state_bytes(n_parameters, config.training)
    longest = int(max(prepared.train.source_lengths.max(), prepared.train.target_lengths.max())) + 1  # with <eos>
    needed = training_bytes(
        model, n_parameters, config.training, longest, device=device.type, n_processes=processes.world_size
    )
    there = available_memory(device)
    if there is not None and device.type == "cpu":
        there //= processes.local_world_size  # which share it
    each = " for each process" if processes.world_size > 1 else ""
    if there is not None and state > there:
        free = f"{there / MIB:,.0f} MiB are free{each}"
        what = f"{n_parameters:,} parameters take {state / MIB:,.0f} MiB to train, and {free}"
        raise ConfigError(what, advice="choose a smaller model, e.g. model.preset=tiny")
    slowly = " without compiled functions" if device.type == "cpu" and library() is None else ""
    takes = f"training takes about {needed / MIB:,.0f} MiB{each} beside the program itself"
    _log.info(f"model: {n_parameters:,} parameters, on {device}{slowly}; {takes}")
    if there is not None and needed > there:
        _log.warning(f"only {there / MIB:,.0f} MiB are free{each}; training.micro_batch_tokens=1024 takes less")


def model_config(config: Config, prepared: Prepared) -> ModelConfig:
    """The model of a configuration, with the vocabularies of the prepared corpus."""
    sizes = {
        "source_vocab_size": prepared.tokenizers.source.vocab_size,
        "target_vocab_size": prepared.tokenizers.target.vocab_size,
    }
    return parse_section(ModelConfig, {**config.model.model_dump(), **sizes})


def resolve(settings: Mapping[str, Any], start: Bundle | None) -> Config:
    """The whole configuration: what was asked for, over what the starting bundle gives, over what fits the corpus.

    Raises:
        ConfigError: a setting is wrong, or contradicts the starting bundle.
        DataError: the corpus cannot be read.
    """
    # Every mistake is told before any text is read.
    given = given_by(start, settings) if start is not None else {}
    data = parse_config({**settings, **given}).data if given else check_settings(settings).data
    text = read_pairs(data, "train")
    n_pairs = text.count()
    if not n_pairs:
        raise DataError("there are no pairs", text.name, advice="give text with one sentence a line")
    filled, lines = plan(settings, n_pairs, text, fine_tuning=start is not None)
    if start is not None:
        filled |= given
        lines += searched_as(start, filled)
    for line in lines:
        _log.info(line)
    return parse_config(filled)


def _prepare(settings: Mapping[str, Any], folder: Path, start: Bundle | None) -> tuple[Config, Prepared]:
    """The configuration and the prepared data of a training that begins, or goes on; notes the settings in the run."""
    run = RunFolder(folder)
    prepare_it = _prepare_again if run.steps else _prepare_first
    config, prepared = prepare_it(settings, run, start)
    write_file(run.config, to_yaml(config).encode())
    return config, prepared


def _prepare_first(settings: Mapping[str, Any], run: RunFolder, start: Bundle | None) -> tuple[Config, Prepared]:
    """Nothing was saved yet, so that every setting is free."""
    if run.config.exists() and not (run.path / DATA_FOLDER).exists():
        raise ConfigError("this is the config.yaml of something else", run.config, advice="choose another --output")
    check_request(settings, given=given_by(start, settings) if start is not None else None)
    config = resolve(settings, start)
    return config, _prepare_from(start, config, run.path)


def _prepare_again(settings: Mapping[str, Any], run: RunFolder, start: Bundle | None) -> tuple[Config, Prepared]:
    """Settings may differ from those of the run in what makes no other training of it."""
    if not run.config.exists():
        advice = "put them back, or choose another --output"
        raise BundleError("the run's settings are missing", run.config, advice=advice)
    earlier = read_recipe(run.config)
    before = parse_config(earlier, run.config)
    if missing := _missing_text(settings):
        _log.info(f"{missing} is not here; going on with the corpus that was prepared from it")
        config = parse_config(_laid_over(earlier, settings), run.config)
        refuse_changes(before, config, run.path)
        return config, open_prepared(run.path)
    # What may have been chosen for the length of a training has been; a longer training keeps it.
    asked = settings.get("training") or {}
    kept = {key: getattr(before.training, key) for key in ("warmup_steps", "lr") if asked.get(key) is None}
    if any(kept.values()):
        _log.info(f"kept {', '.join(f'training.{key}={value}' for key, value in kept.items() if value)}: of this run")
    config = resolve({**settings, "training": {**asked, **kept}}, start)
    refuse_changes(before, config, run.path)
    tokenizers, starting_model = given_tokenizers(run.path), noted_starting_model(run.path)
    if start is not None and tokenizers is None:
        return config, _prepare_from(start, config, run.path)
    prepared = prepare(config, run.path, tokenizers=tokenizers, starting_model=starting_model)
    return config, prepared


def _prepare_from(start: Bundle | None, config: Config, folder: Path) -> Prepared:
    """Prepare with the tokenizers of the starting bundle, or with ones that are learned for it, or for a new model."""
    if start is None:
        return prepare(config, folder)
    tokenizers = kept_tokenizers(start, config)
    starting_model = fingerprint(start) if tokenizers is None else None
    return prepare(config, folder, tokenizers=tokenizers, starting_model=starting_model)


def _missing_text(settings: Mapping[str, Any]) -> str | None:
    """A text file that the settings name and that is not there: the run folder has been moved to another machine."""
    data = parse_section(DataConfig, settings.get("data") or {})
    files = (*data.files("train"), *data.files("validation"), *data.files("test"))
    return next((file for file in files if file is not None and not Path(file).exists()), None)


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, section by section, with those of `above` where both have one."""
    sections = dict.fromkeys([*below, *above])
    return {section: {**(below.get(section) or {}), **(above.get(section) or {})} for section in sections}
