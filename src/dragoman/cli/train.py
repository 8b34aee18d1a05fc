"""`dragoman train` and `dragoman prepare`: from text to a trained model, or to data that is ready for training."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.flagged_settings import flagged_settings
from dragoman.cli.grouping import with_groups
from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import LanguageOptions, TextOptions, ValidationOptions, given_options
from dragoman.cli.options import Augment, Device, DropInvalid, Overwrite, Portable, Recipe, Settings, Time
from dragoman.cli.streams import command_line, print_result, say
from dragoman.cli.training_settings import (
    data_settings,
    default_folder,
    recipe_of_run,
    recipe_settings,
    require_extras,
    require_folder,
    require_readable,
    require_text,
    time_limit,
)
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.settings.config import Config

Folder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="The run folder. Default: runs/<corpus>-<source>-<target>.", show_default=False
    ),
]

InitFrom = Annotated[
    str | None,
    typer.Option(
        "--init-from",
        help="Start from this trained model (fine-tuning): a bundle, a run, an installed one. "
        "With --set tokenizer.vocab_size=... it learns a new vocabulary.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Report on the text, and write nothing.")]
Seed = Annotated[int | None, typer.Option("--seed", help="The same as --set training.seed=...")]


def _list_settings(is_requested: bool) -> None:
    if is_requested:
        from dragoman.settings.description import describe_settings

        print_result(describe_settings())
        raise typer.Exit


ListSettings = Annotated[
    bool, typer.Option("--list-settings", help="Print every setting, as an empty recipe.", callback=_list_settings)
]


@with_groups
def train(
    text: TextOptions,
    validation: ValidationOptions,
    languages: LanguageOptions,
    recipe: Recipe = None,
    output: Folder = None,
    init_from: InitFrom = None,
    portable: Portable = False,
    augment: Augment = False,
    time: Time = None,
    overrides: Settings = None,
    seed: Seed = None,
    device: Device = "auto",
    invalid_utf8: DropInvalid = None,
    list_settings: ListSettings = False,
) -> None:
    """Train a translator, or continue a training.

    The same command continues an interrupted run, and so does --output alone. Two files are enough: dragoman chooses
    the other settings to fit the corpus, and prints them.

    \b
    dragoman train --source my.en --target my.de
    dragoman train recipe.yaml --output runs/first \\
        --set training.max_epochs=5 --set model.dropout=0.3
    dragoman train --init-from everyday --source my.en --target my.de -o runs/own
    """
    require_package("train", "torch")
    data = _data_options(text, validation, languages, invalid_utf8)
    recipe = recipe or recipe_of_run(output, data, overrides or [])
    seeds = [] if seed is None else [f"training.seed={seed}"]
    settings = recipe_settings(recipe, [*(overrides or []), *seeds], data)
    settings, choices = flagged_settings(settings, recipe, init_from, portable=portable, augment=augment)
    limit = None if time is None else time_limit(time, settings, recipe, overrides or [])
    folder = _check(settings, recipe, output, init_from)
    from dragoman.machine.devices import find_device

    find_device(device)  # one that is not here is refused before a folder is made
    _say("\n".join([f"run folder: {folder}", *choices]))
    from dragoman.training.run import train

    best = train(settings, folder, init_from=init_from, device=device, progress_bar=True, time_limit=limit)
    _say_done(best, folder, settings)


def _check(settings: dict[str, Any], recipe: Path | None, output: Path | None, init_from: str | None) -> Path:
    """Refuse wrong settings, texts, folders and models before slow imports; return the run folder."""
    from dragoman.settings.parsing import check_settings

    if init_from is None:  # else they are checked when the model is loaded, with its settings
        check_settings(settings, recipe)
    require_text(settings, recipe)
    require_extras(settings)
    folder = output or default_folder(settings)
    require_folder(folder)
    if init_from is not None:
        from dragoman.bundle.finding import find_bundle

        find_bundle(init_from)
    if not (folder / "checkpoints").exists():  # a run with checkpoints has its text already
        require_readable(settings)
    return folder


@with_groups
def prepare(
    text: TextOptions,
    validation: ValidationOptions,
    languages: LanguageOptions,
    recipe: Recipe = None,
    output: Folder = None,
    overwrite: Overwrite = False,
    overrides: Settings = None,
    invalid_utf8: DropInvalid = None,
    dry_run: DryRun = False,
) -> None:
    """Prepare a corpus for training.

    Learn the tokenizers and turn the corpus into ids, as `train` with the same arguments does first. It reports the
    faults of the text: --dry-run reports them alone.

    \b
    dragoman prepare --source my.en --target my.de --dry-run
    """
    data = _data_options(text, validation, languages, invalid_utf8)
    settings = recipe_settings(recipe, overrides, data)
    from dragoman.settings.parsing import check_request

    check_request(settings, recipe)
    require_text(settings, recipe)
    require_extras(settings, trains=False)
    folder = output or default_folder(settings)
    require_folder(folder)
    require_readable(settings)
    from dragoman.training.resolve import fill, log_choices

    config, choices = fill(settings)
    if dry_run:
        _report(config)
        return
    log_choices(choices)
    _prepare(config, folder, overwrite=overwrite)
    data_options = [f"--{key.replace('_', '-')}={value}" for key, value in data.items()]
    arguments = [*([recipe] if recipe else []), *data_options, *(f"--set={override}" for override in overrides or [])]
    say(f"prepared {folder}; train on it: {command_line('train', *arguments, '-o', folder)}")


def _prepare(config: Config, folder: Path, *, overwrite: bool) -> None:
    from dragoman.data.prepare import prepare
    from dragoman.machine.locks import lock_folder

    with lock_folder(folder):
        if overwrite and (folder / "checkpoints").exists():
            raise ConfigError(
                "a run in this folder uses its data",
                folder,
                advice="choose another --output, or remove the folder",
            )
        prepare(config, folder, overwrite=overwrite)


def _report(config: Config) -> None:
    """Report on a corpus as if it were prepared, in a folder that is removed."""
    from dragoman.data.prepare import prepare

    with tempfile.TemporaryDirectory(prefix="dragoman-") as unused:
        prepare(config, Path(unused) / "corpus")
    say("nothing was written: --dry-run")


def _data_options(*groups: object) -> dict[str, str]:
    """Return the options of the data section that are given, by the names of their settings."""
    *options, invalid_utf8 = groups
    return {**given_options(*options), **({} if invalid_utf8 is None else {"invalid_utf8": invalid_utf8})}


def _say(text: str) -> None:
    """Print a message for people, in one process of those that train together."""
    from dragoman.machine.torchrun import is_main_process

    if is_main_process():
        say(text)


def _say_done(best: Path, folder: Path, settings: dict[str, Any]) -> None:
    _say(f"done; the best model is {best}. Use it:")
    _say(f"  {command_line('translate', '-m', folder, *_first_direction(folder, settings))}")
    _say(f"  {command_line('evaluate', '-m', folder)}{_test_set(settings)}")


def _first_direction(folder: Path, settings: dict[str, Any]) -> list[str]:
    """Return the options of `translate` that name a direction that was trained, for a model that has several."""
    from dragoman.data.mixture import directions
    from dragoman.data.prepared import TOKENIZER_FOLDER
    from dragoman.text.tokenizer_files import load_tokenizers

    known = load_tokenizers(folder / TOKENIZER_FOLDER).directions
    trained = directions(data_settings(settings["data"]))
    source, target = next((direction for direction in trained if direction in known), known[0])
    return ["--source-lang", source, "--target-lang", target] if len(known) > 1 else []


def _test_set(settings: dict[str, Any]) -> str:
    """Return arguments for `evaluate` after this training."""
    from dragoman.data.corpus import available_splits

    data = data_settings(settings["data"])
    if "test" not in available_splits(data):
        return " --split validation\n  (or, better, text that no training saw: --pairs, or --source and --target)"
    if not any(data.files("test")):
        return f" --corpus {data.corpus}"
    files = zip(("--source", "--target", "--pairs"), data.files("test"), strict=True)
    columns = [("--columns", data.columns if data.test_pairs else None)]
    return "".join(f" {option} {shlex.quote(value)}" for option, value in (*files, *columns) if value is not None)
