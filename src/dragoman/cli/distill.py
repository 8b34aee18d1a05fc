"""`dragoman distill`: write training text with trained models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.flagged_settings import portable_settings
from dragoman.cli.grouping import with_groups
from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import (
    EngineOptions,
    LanguageOptions,
    SamplingFlags,
    SearchFlags,
    TextOptions,
    given_options,
    search_options,
)
from dragoman.cli.options import Sentences, model_option, option
from dragoman.cli.streams import command_line, say
from dragoman.cli.training_settings import data_settings, known_languages, require_folder
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.experiments.teachers import Teacher


@with_groups
def distill(
    output: Annotated[Path, option("A folder for the new text.", "--output", "-o", show_default=False)],
    text: TextOptions,
    languages: LanguageOptions,
    search: SearchFlags,
    sampling: SamplingFlags,
    engine: EngineOptions,
    model: Annotated[list[str] | None, model_option("; several make an ensemble")] = None,
    each: Annotated[
        bool, option("Each model writes translations of its own, instead of an ensemble's.", "--each")
    ] = False,
    backward: Annotated[
        list[str] | None,
        option("A model of the other direction: it writes sources. May be repeated.", metavar="MODEL"),
    ] = None,
    n_best: Annotated[int | None, option("Translations of each sentence.", min=1)] = None,
    sentences: Sentences = None,
    portable: Annotated[
        bool, option("Then train a model on it in OUTPUT/student, as `train --portable` does.", "--portable")
    ] = False,
) -> None:
    """Write training text with trained models.

    An ensemble (or --each model, and --backward models) translates the text. The new pairs are written together with
    the text's own: a model trained on both comes close to the ensemble. For a --source without --target, only the
    translations are written; so are only the sources that --backward models write for a --target alone
    (back-translation). The same command continues after an interruption.

    \b
    dragoman distill -m runs/1 -m runs/2 --source my.en --target my.de -o new
    dragoman train --source distilled/train.en --target distilled/train.de
    dragoman distill --backward runs/de-en --target more.de -o back-translated
    dragoman distill --portable -m everyday --source my.en --target my.de -o small
    """
    _refuse_contradictions(text, model or [], backward or [], each=each, portable=portable)
    require_folder(output)
    from dragoman.experiments.distillation import distill

    teachers = _teachers(model or [], backward or [], engine, _direction(languages), each=each)
    samples = all(teacher.translator.search.sample for teacher in teachers)
    options: Any = {**search_options(search, sampling, samples=samples), "n_best": n_best}
    options |= {"sentences": sentences, "batch_size": engine.batch_size}
    files = distill(teachers, _read(text, teachers[0].languages), output, **options)
    if portable:
        _train_student(files, teachers[0].languages, output / "student", engine.device)
    else:
        _say_next(files, teachers[0].languages, has_targets_only=given_options(text).keys() == {"target"})


def _train_student(files: tuple[Path, Path], languages: tuple[str, str], folder: Path, device: str) -> None:
    """Train a portable model on the new text, or go on with its training."""
    text = {"source": str(files[0]), "target": str(files[1]), **known_languages(languages)}
    settings, choices = portable_settings({"data": text})
    say("\n".join([f"run folder: {folder}", *choices]))
    from dragoman.training.run import train

    best = train(settings, folder, device=device, progress_bar=True)
    say(f"done; the best model is {best}. Export it: {command_line('export', 'ct2', '-m', folder, '-o', 'exported')}")


def _say_next(files: tuple[Path, Path], languages: tuple[str, str], *, has_targets_only: bool) -> None:
    """Print how to train on the new text; back-translated text is mixed with other text, by a line of a recipe."""
    if not has_targets_only:
        command = command_line("train", "--source", files[0], "--target", files[1])
        say(f"train on it, and validate on text of people: {command} --validation-source ...")
        return
    source, target = (json.dumps(str(file), ensure_ascii=False) for file in files)
    langs = f"source_lang: {languages[0]}, target_lang: {languages[1]}"
    say("train on it together with text of people; a line of data.corpora in a recipe:")
    say(f"  - {{source: {source}, target: {target}, {langs}, tag: bt}}")


def _refuse_contradictions(
    text: TextOptions, models: list[str], backward: list[str], *, each: bool, portable: bool
) -> None:
    """Refuse models that have nothing to translate, text that no model translates, and a student of no teacher.

    Raises:
        typer.BadParameter: that is so.
    """
    given = given_options(text)
    if not given:
        raise typer.BadParameter("give --source (and --target), --pairs or --corpus, or --target with --backward")
    if not models and not backward:
        raise typer.BadParameter("give a model: --model, or --backward")
    if backward and given.keys() == {"source"}:
        raise typer.BadParameter("--backward translates targets: give --target too")
    if models and given.keys() == {"target"}:
        raise typer.BadParameter("--model translates sources: give --source too, or the model as --backward")
    if each and not models:
        raise typer.BadParameter("--each has no effect without --model; leave it out")
    if portable and not models:
        raise typer.BadParameter("--portable trains a student of a --model; give one, or leave it out")
    if portable:
        require_package("distill --portable", "torch")


def _direction(languages: LanguageOptions) -> tuple[str, str] | None:
    """Return the languages of the text, if they are given.

    Raises:
        typer.BadParameter: only one is.
    """
    source, target = languages.source_lang, languages.target_lang
    if (source is None) != (target is None):
        raise typer.BadParameter("give both --source-lang and --target-lang")
    return None if source is None or target is None else (source, target)


def _teachers(
    models: list[str],
    backward: list[str],
    engine: EngineOptions,
    direction: tuple[str, str] | None,
    *,
    each: bool,
) -> list[Teacher]:
    from dragoman.experiments.teachers import Teacher
    from dragoman.machine.devices import all_cores

    ensembles = [[name] for name in models] if each or not models else [models]
    directions = [(names, False) for names in ensembles] + [([name], True) for name in backward]
    compute: Any = {"device": engine.device, "workers": engine.workers or all_cores(), "precision": engine.precision}
    return [
        Teacher.load(names, backward=is_backward, direction=direction, **compute) for names, is_backward in directions
    ]


def _read(text: TextOptions, languages: tuple[str, str]) -> ParallelText:
    """Return the pairs to translate; their targets are empty if there are only sources, or the other way round."""
    from dragoman.data.corpus import languages_differ, read_pairs, read_sources, read_targets
    from dragoman.data.formats.file_names import file_language

    options = given_options(text)
    for key, language in zip(("source", "target"), languages, strict=True):
        language_of_name = file_language(options.get(key, ""))
        if languages_differ([language_of_name], [language]):
            problem = f"the name of the --{key} says {language_of_name}, and the models take {language} there"
            raise ConfigError(problem, options[key], advice="give the files the right way round, or rename them")
    if options.keys() == {"source"}:
        return read_sources(Path(options["source"]))
    if options.keys() == {"target"}:
        return read_targets(Path(options["target"]))
    pairs = read_pairs(data_settings({**known_languages(languages), **options}), "train")
    for note in pairs.notes:
        say(note)
    return pairs
