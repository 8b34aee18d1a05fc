"""`dragoman data clean`: write the pairs of a corpus that training would keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import LanguageOptions, TextOptions, given_options
from dragoman.cli.options import DropInvalid, Overwrite, Recipe, Settings, option
from dragoman.cli.pair_files import language_columns, pair_writer, refuse_pair_file
from dragoman.cli.streams import refuse_output, say
from dragoman.cli.training_settings import recipe_settings, require_extras, require_readable, require_text
from dragoman.errors import ConfigError, DataError

if TYPE_CHECKING:
    from dragoman.data.filtering import Counts
    from dragoman.settings.config import Config

#: Of the files that can have both sides of each pair.
_SUFFIXES = (".tsv", ".tmx", ".jsonl")


@with_groups
def clean(
    text: TextOptions,
    languages: LanguageOptions,
    output: Annotated[
        list[Path],
        option(
            "The pairs: .tsv, .tmx or .jsonl. Give it twice for two text files, the source first.",
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
        ),
    ],
    recipe: Recipe = None,
    dropped: Annotated[
        Path | None, option("A table (TSV) for the other pairs, each with the reason and its line.", metavar="FILE")
    ] = None,
    overrides: Settings = None,
    invalid_utf8: DropInvalid = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the pairs that training would keep.

    Filters, limits and repairs are those of `train` with the same text and settings; nothing is held out for
    validation. Pairs that are too long are found with a vocabulary that is learned from the text, as `train` does.

    \b
    dragoman data clean --source my.en --target my.de \\
        -o clean.en -o clean.de --dropped dropped.tsv
    dragoman data clean --pairs my.tmx -o clean.tmx \\
        --set data.drop=copied,script,mojibake --set data.dedup=true
    """
    invalid = {} if invalid_utf8 is None else {"invalid_utf8": invalid_utf8}
    settings = recipe_settings(recipe, overrides, {**given_options(text, languages), **invalid})
    _check(settings, recipe)
    from dragoman.training.resolve import fill

    outputs = [*output, *([dropped] if dropped else [])]
    _refuse_outputs(settings, output, outputs, overwrite=overwrite)
    config, _ = fill(settings)
    counts = _write(config, output, dropped, overwrite=overwrite)
    say(f"{counts.kept:>9,} pairs: {', '.join(map(str, output))}")
    for reason, n_pairs, place in counts.rows():
        say(f"{n_pairs:>9,} dropped: {reason} ({place})")


def _check(settings: dict[str, Any], recipe: Path | None) -> None:
    """Refuse wrong settings and texts before slow imports."""
    from dragoman.settings.parsing import check_request

    if check_request(settings, recipe).data.corpora:
        problem = "these are several corpora, and one is cleaned at a time"
        raise ConfigError(problem, recipe, advice="name the files of one: --source and --target, or --pairs")
    require_text(settings, recipe)
    require_extras(settings, trains=False)
    require_readable(settings)


def _refuse_outputs(
    settings: Mapping[str, Any], output: Sequence[Path], outputs: Sequence[Path], *, overwrite: bool
) -> None:
    """Refuse outputs that cannot be written, before the work begins.

    Args:
        output: the file of the pairs, or those of the sides.
        outputs: all that are written.
    """
    from dragoman.data.corpus import languages
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    data = parse_section(DataConfig, settings["data"])
    if len(output) > 2:
        raise typer.BadParameter("--output names one file of pairs, or two text files")
    if len(output) == 1:
        refuse_pair_file(output[0], _SUFFIXES, languages(data))
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise typer.BadParameter("two outputs have the same name")
    for path in outputs:
        refuse_output(path, overwrite=overwrite, inputs=data.files("train"))


def _write(config: Config, output: Sequence[Path], dropped: Path | None, *, overwrite: bool) -> Counts:
    """Write the pairs of a corpus to their files, and count them.

    Raises:
        DataError: no pair is kept, or the text cannot be read.
    """
    from dragoman.data.corpus import languages
    from dragoman.data.filtering import Counts
    from dragoman.data.prepare import judge_corpus
    from dragoman.text.cleaning import sanitize

    counts, langs = Counts(), languages(config.data)
    selection, pairs = judge_corpus(config)
    with ExitStack() as stack:
        is_quoted, columns = selection.is_quoted, language_columns(langs)
        writer = pair_writer(output, langs, overwrite=overwrite, columns=columns, is_quoted=is_quoted)
        write = stack.enter_context(writer)
        write_dropped = None
        if dropped is not None:
            columns = ("reason", "line", "source", "target")
            writer = pair_writer([dropped], overwrite=overwrite, columns=columns, is_quoted=is_quoted)
            write_dropped = stack.enter_context(writer)
        for (line, *sides), reason in pairs:
            if reason is None:
                counts.kept += 1
                write(*sides)
                continue
            counts.drop(reason, line)
            if write_dropped is not None:
                texts = (sanitize(side) if isinstance(side, str) else "" for side in sides)
                write_dropped(reason, str(line), *texts)
        if not counts.kept:
            raise DataError(f"no pair is left ({counts.line()})", selection.text.name, advice="check the files")
    return counts
