"""`dragoman distill`: write training text with trained models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import (
    DirectionOptions,
    EngineOptions,
    SamplingFlags,
    SearchFlags,
    TextOptions,
    given_options,
    search_options,
)
from dragoman.cli.options import Models, Sentences
from dragoman.cli.streams import command_line, say
from dragoman.cli.training_settings import known_languages, require_folder
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.experiments.teachers import Teacher


Each = Annotated[
    bool, typer.Option("--each", help="Each model writes translations of its own, instead of an ensemble's.")
]
Backward = Annotated[
    list[str] | None,
    typer.Option(
        "--backward", metavar="MODEL", help="A model of the other direction: it writes sources. May be repeated."
    ),
]


@with_groups
def distill(
    model: Models,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the new text.", show_default=False)],
    text: TextOptions,
    direction: DirectionOptions,
    search: SearchFlags,
    sampling: SamplingFlags,
    engine: EngineOptions,
    each: Each = False,
    backward: Backward = None,
    n_best: Annotated[int | None, typer.Option("--n-best", help="Translations of each sentence.")] = None,
    sentences: Sentences = None,
) -> None:
    """Write training text with trained models.

    An ensemble (or --each model, and --backward models) translates the text. The new pairs are written together with
    the text's own: a model trained on both comes close to the ensemble. For a --source without --target, only the
    translations are written. The same command continues after an interruption.

    \b
    dragoman distill -m runs/1 -m runs/2 --source train.en --target train.de -o distilled
    dragoman train --source distilled/train.en --target distilled/train.de
    """
    if not given_options(text):
        raise typer.BadParameter("give --source (and --target), --pairs or --corpus")
    if backward and text.source and not text.target:
        raise typer.BadParameter("--backward translates targets: give --target too")
    require_folder(output)
    from dragoman.experiments.distillation import distill

    teachers = _teachers([[name] for name in model] if each else [model], backward or [], direction, engine)
    samples = all(teacher.translator.search.sample for teacher in teachers)
    options: Any = {**search_options(search, sampling, samples=samples), "n_best": n_best}
    pairs = _read(text, teachers[0].languages)
    settings: Any = {"options": options, "sentences": sentences, "batch_size": engine.batch_size}
    files = distill(teachers, pairs, output, **settings)
    command = command_line("train", "--source", files[0], "--target", files[1])
    say(f"train on it, and validate on text of people: {command} --validation-source ...")


def _teachers(
    ensembles: list[list[str]], backward: list[str], direction: DirectionOptions, engine: EngineOptions
) -> list[Teacher]:
    from dragoman.experiments.teachers import Teacher
    from dragoman.machine.devices import all_cores

    models = [(names, False) for names in ensembles] + [([name], True) for name in backward]
    compute: Any = {"device": engine.device, "workers": engine.workers or all_cores(), "precision": engine.precision}
    compute["direction"] = direction.source_lang, direction.target_lang
    return [Teacher.load(names, backward=is_backward, **compute) for names, is_backward in models]


def _read(text: TextOptions, languages: tuple[str, str]) -> ParallelText:
    """Return the pairs to translate; their targets are empty if there are only sources."""
    from dragoman.data.corpus import languages_differ, read_pairs, read_sources
    from dragoman.data.formats.file_names import file_language
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    options = given_options(text)
    for key, language in zip(("source", "target"), languages, strict=True):
        language_of_name = file_language(options.get(key, ""))
        if languages_differ([language_of_name], [language]):
            problem = f"the name of the --{key} says {language_of_name}, and the models take {language} there"
            raise ConfigError(problem, options[key], advice="give the files the right way round, or rename them")
    if options.keys() == {"source"}:
        return read_sources(Path(options["source"]))
    pairs = read_pairs(parse_section(DataConfig, {**known_languages(languages), **options}), "train")
    for note in pairs.notes:
        say(note)
    return pairs
