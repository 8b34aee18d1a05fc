"""`dragoman score`: print the probability of given translations, or their estimated quality."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.line_progress import with_progress
from dragoman.cli.option_groups import DirectionOptions, FileOptions, given_options
from dragoman.cli.options import AsJson, BatchSize, Device, InvalidUtf8, Models, Overwrite, Utf8, option
from dragoman.cli.streams import input_lines, result_lines, say, stdin_is_file
from dragoman.cli.training_settings import data_settings, known_languages, readable
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.translator import Translator
    from dragoman.translator.options import ScoreOptions

#: Pairs that are scored before the first score is printed.
CHUNK = 1000


@with_groups
def score(
    model: Models,
    files: FileOptions,
    direction: DirectionOptions,
    output: Annotated[Path | None, option("Default: standard output.", "--output", "-o")] = None,
    overwrite: Overwrite = False,
    qe: Annotated[bool, option("Print an estimate of the quality, from 0 to 1, without a reference.", "--qe")] = False,
    as_json: AsJson = False,
    batch_size: BatchSize = None,
    device: Device = "auto",
    invalid_utf8: Utf8 = "error",
) -> None:
    """Print the probability of given translations.

    It is the natural-log probability of each target given its source, not normalised by length. Without --source and
    --target, or --pairs, lines of source, tab, target are read from standard input. A model's own translation may get
    another score here than during the search, because the same text can be split into other subwords.

    With --qe, the number is the geometric mean of the probabilities of a token, from 0 to 1: those of the target, and
    with half the weight those of the source given the target, if the model translates both ways and both languages
    are named.

    \b
    dragoman score -m runs/my --source text.en --target text.de
    """
    _refuse_contradictions(files, invalid_utf8)
    inputs = [files.source, files.target, files.pairs]
    with result_lines(output, overwrite=overwrite, inputs=inputs) as write:
        from dragoman.translator import Translator

        translator = Translator.load(*model, device=device)
        pairs = _pairs(files, direction, invalid_utf8, translator)
        options: ScoreOptions = {
            "source_lang": direction.source_lang,
            "target_lang": direction.target_lang,
            "batch_size": batch_size,
        }
        name = files.source or files.pairs or "standard input"
        if qe and not translator.reads_back(direction.source_lang, direction.target_lang):
            why = "it needs --source-lang and --target-lang, and a model of both ways"
            say(f"nothing is read back, so this is the quality by one direction alone: {why}")
        from_file = any(inputs) or stdin_is_file()
        shown = "quality" if qe else "log_prob"
        scores = _scores(translator, pairs, options, name=name, has_quality=qe)
        for values in with_progress(scores, from_file=from_file, output=output):
            write(json.dumps(values, ensure_ascii=False) if as_json else f"{values[shown]:.6f}")


def _refuse_contradictions(files: FileOptions, invalid_utf8: InvalidUtf8) -> None:
    if (files.source is None) != (files.target is None):
        raise typer.BadParameter("--source and --target belong together")
    if files.pairs is not None and (files.source is not None or invalid_utf8 != "error"):
        raise typer.BadParameter("use --pairs without --source, --target and --invalid-utf8")
    if files.pairs is None and files.columns is not None:
        raise typer.BadParameter("--columns has no effect without --pairs")


def _pairs(
    files: FileOptions, direction: DirectionOptions, invalid_utf8: InvalidUtf8, translator: Translator
) -> Iterator[tuple[str, str]]:
    if files.pairs is not None:
        return _in_pair_file(files.pairs, files.columns, given_options(direction), translator)
    if files.source is not None and files.target is not None:
        return _paired(Path(files.source), Path(files.target), invalid_utf8)
    return _tabbed(input_lines(None, invalid_utf8))


def _scores(
    translator: Translator, pairs: Iterator[tuple[str, str]], options: ScoreOptions, *, name: str, has_quality: bool
) -> Iterator[dict[str, Any]]:
    """Yield what is known of each pair: its quality alone, or its score."""
    from dragoman.translator.options import languages_of

    number, languages = 0, languages_of(options)
    while chunk := list(itertools.islice(pairs, CHUNK)):
        for line, pair in enumerate(chunk, number + 1):
            if not translator.fits(*pair, **languages):
                problem = f"a sentence is longer than the {translator.max_length} tokens of the model"
                raise DataError(problem, name, line=line, advice="leave this pair out")
        sources, targets = map(list, zip(*chunk, strict=True))
        if has_quality:
            yield from ({"quality": each} for each in translator.quality(sources, targets, **options))
        else:
            scores = translator.score(sources, targets, **options)
            yield from ({**asdict(each), "per_token": each.per_token} for each in scores)
        number += len(chunk)


def _paired(source: Path, target: Path, invalid_utf8: InvalidUtf8) -> Iterator[tuple[str, str]]:
    sides = input_lines(source, invalid_utf8), input_lines(target, invalid_utf8)
    counts = [0, 0]
    for pair in itertools.zip_longest(*sides):
        counts = [count + (line is not None) for count, line in zip(counts, pair, strict=True)]
        if counts[0] == counts[1]:
            yield pair
    if counts[0] != counts[1]:
        from dragoman.data.formats.two_files import LineCountError

        raise LineCountError((counts[0], counts[1]), source, target)


def _in_pair_file(
    path: str, columns: str | None, languages: dict[str, str], translator: Translator
) -> Iterator[tuple[str, str]]:
    """Read the pairs of a file in the given languages, or in those of the model."""
    from dragoman.data.corpus import read_pairs

    settings = known_languages(translator.tokenizers.languages) | languages
    settings |= {"pairs": path} | ({} if columns is None else {"columns": columns})
    return readable(read_pairs(data_settings(settings), "train"))


def _tabbed(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        source, tab, target = line.partition("\t")
        if not tab or "\t" in target:
            raise DataError(
                "not one source, a tab and one target", "standard input", line=number, advice="mend the line"
            )
        yield source, target
