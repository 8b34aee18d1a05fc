"""The settings and the prepared corpus of a run, when it begins and when it continues.

What a person asked for comes first, then what the starting model decides, then what fits the corpus. A run that
continues keeps its settings, except those that make no other training of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.bundle.bundle import Bundle
from dragoman.data.mixture import directions, planned_text
from dragoman.data.prepare import prepare
from dragoman.data.prepared import DATA_FOLDER, Prepared, given_tokenizers, noted_starting_model, open_prepared
from dragoman.data.splitting import SPLITS
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.machine.files import write_file
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import check_request, check_settings, parse_config
from dragoman.settings.recipe import read_recipe, to_yaml
from dragoman.settings.sections import parse_section
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.changes import refuse_changes
from dragoman.training.fine_tuning import fingerprint, inherit_search, inherit_settings, inherit_tokenizers
from dragoman.training.plan import plan
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import SIZES, Size, gpu_sizes_for_time, sizes_for

_log = logging.getLogger(__name__)

#: The settings that end a training.
LIMITS = ("max_epochs", "max_steps")
#: Among the settings that were chosen for a run: it began on a GPU, by the table for these.
ON_GPU = "on_gpu"


@dataclass(frozen=True)
class Resolved:
    """Settings and corpus with which a run begins or continues.

    Args:
        chosen: settings that were chosen for a time, by their full names.
        validation_seconds: about how long a validation takes; 0 if it was not measured.
    """

    config: Config
    prepared: Prepared
    chosen: Mapping[str, Any] = field(default_factory=dict)
    validation_seconds: float = 0.0


def fill(
    settings: Mapping[str, Any],
    start: Bundle | None = None,
    size: Size | None = None,
    *,
    is_begun: bool = False,
    on_gpu: bool = False,
) -> tuple[Config, list[str]]:
    """Return the whole configuration for the settings that a person asked for, and lines about what was chosen.

    Args:
        start: the model that the training starts from, if not from random weights.
        size: the row of the table to follow; None is the usual one for the corpus.
        is_begun: the run goes on. It may have two vocabularies for several directions from a model that it began with.
        on_gpu: the usual row is that of the table for GPUs.

    Raises:
        ConfigError: a setting is wrong, or contradicts the starting model.
        DataError: the corpus cannot be read.
    """
    # Every mistake is told before any text is read.
    inherited = inherit_settings(start, settings) if start is not None else {}
    data = parse_config({**settings, **inherited}).data if inherited else check_settings(settings).data
    n_pairs, text = planned_text(data)
    if not n_pairs:
        raise DataError("there are no pairs", text.name, advice="give text with one sentence a line")
    has_two = is_begun and (settings.get("tokenizer") or {}).get("joint") is False
    if start is None and not has_two and data.corpora and len(directions(data)) > 1:
        settings = _with_one_vocabulary(settings)
    size = size or sizes_for(n_pairs, fine_tuning=start is not None, on_gpu=on_gpu)[-1]
    filled, choices = plan(settings, n_pairs, text, size)
    if start is not None:
        filled |= inherited
        choices += inherit_search(start, filled)
    return parse_config(filled), choices


def log_choices(lines: Iterable[str]) -> None:
    """Log lines about what was chosen."""
    for line in lines:
        _log.info(line)


def _with_one_vocabulary(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a model of several directions, which reads and writes with one vocabulary.

    Raises:
        ConfigError: they ask for two.
    """
    tokenizer = {**(settings.get("tokenizer") or {})}
    if tokenizer.get("joint") is False:
        problem = "a model of several directions has one vocabulary, which tokenizer.joint=false forbids"
        raise ConfigError(problem, advice="leave tokenizer.joint out")
    return {**settings, "tokenizer": {**tokenizer, "joint": True}}


def resolve_run(
    settings: Mapping[str, Any], run: RunFolder, start: Bundle | None, *, on_gpu: bool = False
) -> tuple[Config, Prepared]:
    """Return the configuration and the prepared corpus of a run that begins or continues; write its `config.yaml`.

    Args:
        on_gpu: a run that begins follows the table for GPUs.

    Raises:
        DragomanError: of the class that fits; see `fill` and `prepare`.
    """
    if run.steps:
        config, prepared = _continue(settings, run, start)
    else:
        config, prepared = begin_run(settings, run, start, on_gpu=on_gpu)
    write_file(run.config, to_yaml(config).encode())
    return config, prepared


def begin_run(
    settings: Mapping[str, Any],
    run: RunFolder,
    start: Bundle | None,
    *,
    logs_choices: bool = True,
    on_gpu: bool = False,
) -> tuple[Config, Prepared]:
    """Resolve and prepare a run that has saved nothing yet, so every setting is free. `config.yaml` is left to write.

    Args:
        logs_choices: log what is chosen; False if the choice is made again later.
        on_gpu: choose by the table for GPUs.

    Raises:
        DragomanError: as `fill` and `prepare`; or `config.yaml` is there without a prepared corpus.
    """
    if run.config.exists() and not (run.path / DATA_FOLDER).exists():
        raise ConfigError("this is the config.yaml of something else", run.config, advice="choose another --output")
    check_request(settings, inherited=inherit_settings(start, settings) if start is not None else None)
    config, choices = fill(settings, start, on_gpu=on_gpu)
    if logs_choices:
        log_choices(choices)
    return config, _prepare(config, run, start)


def _continue(settings: Mapping[str, Any], run: RunFolder, start: Bundle | None) -> tuple[Config, Prepared]:
    """Resolve and open a run that has checkpoints: only settings that make no other training of it may change."""
    if not run.config.exists():
        advice = "put them back, or choose another --output"
        raise BundleError("the run's settings are missing", run.config, advice=advice)
    saved = read_recipe(run.config)
    saved_config = parse_config(saved, run.config)
    if missing := _missing_text(settings):
        _require_known(missing, saved_config.data, run.path)
        _log.info(f"{missing} is not here; going on with the corpus that was prepared from it")
        config = parse_config(_overlay(settings, saved), run.config)
        refuse_changes(saved_config, config, run.path)
        return config, open_prepared(run.path)
    asked = settings.get("training") or {}
    chosen = run.chosen_for_time()
    kept = _kept(asked, saved_config.training, chosen)
    is_timed = "training.max_steps" in chosen  # then the time says the length, and it may change
    told = {name: value for name, value in kept.items() if value and not (is_timed and name in LIMITS)}
    if told:
        listed = ", ".join(f"training.{name}={value}" for name, value in told.items())
        _log.info(f"kept {listed}, as this run began")
    on_gpu = bool(chosen.get(ON_GPU))
    sizes = gpu_sizes_for_time(planned_text(saved_config.data)[0]) if on_gpu else SIZES
    size = next((size for size in sizes if size.preset == chosen.get("model.preset")), None)
    again = {**settings, "training": {**asked, **kept}}
    config, choices = fill(again, start, size, is_begun=True, on_gpu=on_gpu)
    log_choices(choices)
    refuse_changes(saved_config, config, run.path)
    tokenizers, starting_model = given_tokenizers(run.path), noted_starting_model(run.path)
    if start is not None and tokenizers is None:
        return config, _prepare(config, run, start)
    return config, prepare(config, run.path, tokenizers=tokenizers, starting_model=starting_model)


def _kept(asked: Mapping[str, Any], saved: TrainingConfig, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was chosen for the length of a training, and that length, unless the person asks for others.

    Args:
        chosen: settings chosen for a time, by their full names.
    """
    names = dict.fromkeys(["warmup_steps", "lr", *(key.removeprefix("training.") for key in chosen)])
    kept = [name for name in names if hasattr(saved, name) and name not in LIMITS and asked.get(name) is None]
    if all(asked.get(limit) is None for limit in LIMITS):
        kept += LIMITS
    return {name: getattr(saved, name) for name in kept}


def _prepare(config: Config, run: RunFolder, start: Bundle | None) -> Prepared:
    """Prepare the corpus with the starting model's tokenizers, or with ones that are learned."""
    if start is None:
        return prepare(config, run.path)
    tokenizers = inherit_tokenizers(start, config)
    starting_model = fingerprint(start) if tokenizers is None else None
    return prepare(config, run.path, tokenizers=tokenizers, starting_model=starting_model)


def _missing_text(settings: Mapping[str, Any]) -> str | None:
    """Return a text file that the settings name and that is not there, because the run was moved to another machine."""
    files = _text_files(parse_section(DataConfig, settings.get("data") or {}))
    return next((file for file in files if not Path(file).exists()), None)


def _require_known(missing: str, data: DataConfig, run: Path) -> None:
    """Refuse a missing file that is none of those that a run was prepared from: its name is a mistake.

    Raises:
        DataError: it is.
    """
    if missing not in _text_files(data):
        advice = f"the run in {run} was prepared from other files; --output alone goes on with it"
        raise DataError("file not found", missing, advice=advice)


def _text_files(data: DataConfig) -> list[str]:
    return [file for _, one in data.each() for split in SPLITS for file in one.files(split) if file is not None]


def _overlay(settings: Mapping[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the saved settings, section by section, replaced by those that are asked for."""
    sections = dict.fromkeys([*saved, *settings])
    return {section: {**(saved.get(section) or {}), **(settings.get(section) or {})} for section in sections}
