"""`dragoman distill`: text that trained models write, for another model to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.options import (
    BatchSize,
    BeamSize,
    Columns,
    Corpus,
    Device,
    LengthPenalty,
    Models,
    Pairs,
    Precision,
    Sample,
    SampleSeed,
    Sentences,
    Source,
    Target,
    Temperature,
    Workers,
)
from dragoman.cli.streams import command_line, say
from dragoman.cli.training_settings import refuse_unused, require_folder
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.corpus import ParallelText


def distill(
    model: Models,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the new text.", show_default=False)],
    source: Source = None,
    target: Target = None,
    pairs: Pairs = None,
    columns: Columns = None,
    corpus: Corpus = None,
    each: Annotated[
        bool, typer.Option("--each", help="Each model writes translations of its own, instead of an ensemble's.")
    ] = False,
    backward: Annotated[
        list[str] | None,
        typer.Option(
            "--backward", metavar="MODEL", help="A model of the other direction: it writes sources. May be repeated."
        ),
    ] = None,
    beam_size: BeamSize = None,
    n_best: Annotated[int | None, typer.Option("--n-best", help="Translations of each sentence.")] = None,
    length_penalty: LengthPenalty = None,
    sentences: Sentences = None,
    sample: Sample = False,
    temperature: Temperature = None,
    seed: SampleSeed = None,
    batch_size: BatchSize = None,
    workers: Workers = None,
    precision: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Write training text with trained models.

    The text is translated by an ensemble (or by --each model, and by --backward ones), and its own pairs are written
    with all that is new: a model that learns from both comes close to the ensemble. Of a --source alone only the
    translations are written. The same command continues what was stopped.

    \b
    dragoman distill -m runs/1 -m runs/2 --source train.en --target train.de -o distilled
    dragoman train --source distilled/train.en --target distilled/train.de
    """
    origin = {"corpus": corpus, "source": source, "target": target, "pairs": pairs, "columns": columns}
    if not (source or target or pairs or corpus):
        raise typer.BadParameter("give --source (and --target), --pairs or --corpus")
    if backward and source and not target:
        raise typer.BadParameter("--backward translates targets: give --target too")
    require_folder(output)
    from dragoman.experiments.distillation import Teacher, distill
    from dragoman.machine.devices import all_cores

    groups = [[name] for name in model] if each else [model]
    jobs = [(names, False) for names in groups] + [([name], True) for name in backward or []]
    teachers = [
        Teacher.load(names, backward=back, device=device, workers=workers or all_cores(), precision=precision)
        for names, back in jobs
    ]
    drawing = {"--temperature": temperature, "--seed": seed}
    refuse_unused(drawing, beam_size, samples=sample or all(teacher.translator.search.sample for teacher in teachers))
    files = distill(
        teachers,
        _text(origin, teachers[0].languages),
        output,
        options={
            "beam_size": beam_size,
            "n_best": n_best,
            "length_penalty": length_penalty,
            "sample": sample or None,
            "temperature": temperature,
            "seed": seed,
        },
        sentences=sentences,
        batch_size=batch_size,
    )
    command = command_line("train", "--source", files[0], "--target", files[1])
    say(f"train on it, and validate on text of people: {command} --validation-source ...")


def _text(origin: Mapping[str, str | None], languages: tuple[str, str]) -> ParallelText:
    """The pairs to translate; the targets are empty where there are only sources."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE, ParallelText, are_others, read_pairs
    from dragoman.data.formats.file_names import file_language
    from dragoman.data.text_files.file_signatures import refuse_documents
    from dragoman.data.text_files.lines import check_text_file, read_lines
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    given = {key: value for key, value in origin.items() if value is not None}
    for key, language in zip(("source", "target"), languages, strict=True):
        found = file_language(given.get(key, ""))
        if are_others([found], [language]):
            what = f"the name of the --{key} says {found}, and the models take {language} there"
            raise ConfigError(what, given[key], advice="give the files the right way round, or rename them")
    if given.keys() == {"source"}:
        path = Path(given["source"])
        check_text_file(path)
        refuse_documents(path)
        return ParallelText(str(path), lambda: ((line, "") for line in read_lines(path)), {"source": path})
    keys = zip(("source_lang", "target_lang"), languages, strict=True)
    known = {key: language for key, language in keys if language != UNKNOWN_LANGUAGE}
    text = read_pairs(parse_section(DataConfig, {**known, **given}), "train")
    for note in text.notes:
        say(note)
    return text
