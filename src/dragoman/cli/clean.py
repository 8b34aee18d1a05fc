"""`dragoman data clean`: write the pairs of a corpus that training would keep."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
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
    from dragoman.settings.data_config import DataConfig


class _NothingKeptError(Exception):
    """No pair is kept, so there is no output; the dropped ones are written all the same."""


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
        Path | None,
        option(
            "A table (TSV) for the other pairs, each with the reason and its line; all cells are in quotes.",
            metavar="FILE",
        ),
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
        --set data.drop=copied,language,mojibake --set data.dedup=true
    """
    invalid = {} if invalid_utf8 is None else {"invalid_utf8": invalid_utf8}
    settings = recipe_settings(recipe, overrides, {**given_options(text, languages), **invalid})
    data = _check(settings, recipe)
    _refuse_outputs(data, output, dropped, overwrite=overwrite)
    from dragoman.training.resolve import fill

    counts = _write(fill(settings)[0], output, dropped, overwrite=overwrite)
    say(f"{counts.kept:>9,} kept: {', '.join(map(str, output))}")
    for reason, n_pairs, place in counts.rows():
        say(f"{n_pairs:>9,} dropped: {reason} ({place})")


def _check(settings: dict[str, Any], recipe: Path | None) -> DataConfig:
    """Refuse wrong settings and texts before slow imports; return the settings of the text."""
    from dragoman.settings.parsing import check_request

    data = check_request(settings, recipe).data
    if data.corpora:
        problem = "these are several corpora, and one is cleaned at a time"
        raise ConfigError(problem, recipe, advice="name the files of one: --source and --target, or --pairs")
    require_text(settings, recipe)
    require_extras(settings, trains=False)
    require_readable(settings)
    return data


def _refuse_outputs(data: DataConfig, output: Sequence[Path], dropped: Path | None, *, overwrite: bool) -> None:
    """Refuse outputs that cannot be written, before the work begins."""
    from dragoman.data.corpus import languages

    if len(output) > 2:
        raise typer.BadParameter("--output names one file of pairs, or two text files")
    if len(output) == 1:
        refuse_pair_file(output[0], (".tsv", ".tmx", ".jsonl"), languages(data))
    if dropped is not None:
        refuse_pair_file(dropped, (".tsv",), languages(data))
    outputs = [*output, *([dropped] if dropped else [])]
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise typer.BadParameter("two outputs have the same name")
    inputs = [*data.files("train"), *data.files("validation"), *data.files("test")]
    for path in outputs:
        refuse_output(path, overwrite=overwrite, inputs=inputs)


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
    columns = ("reason", "line", "source", "target")
    with ExitStack() as stack:
        write_dropped = dropped and stack.enter_context(
            pair_writer([dropped], overwrite=overwrite, columns=columns, is_quoted=True)
        )
        kept = pair_writer(
            output, langs, overwrite=overwrite, columns=language_columns(langs), is_quoted=selection.is_quoted
        )
        with suppress(_NothingKeptError), kept as write:
            for (line, *sides), reason in pairs:
                if reason is None:
                    counts.kept += 1
                    write(*sides)
                    continue
                counts.drop(reason, line)
                if write_dropped:
                    texts = (sanitize(side) if isinstance(side, str) else "" for side in sides)
                    write_dropped(reason, str(line), *texts)
            if not counts.kept:
                raise _NothingKeptError
    if not counts.kept:
        advice = f"look at {dropped}" if dropped else "--dropped FILE shows them"
        raise DataError(f"no pair is left ({counts.line()})", selection.text.name, advice=advice)
    return counts
