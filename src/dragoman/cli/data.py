"""`dragoman data`: split text into training, validation and test, or write a known corpus as text files."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.clean import clean
from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import FileOptions, LanguageOptions, given_options
from dragoman.cli.options import Command, DropInvalid, Overwrite, SourceLang, TargetLang, option
from dragoman.cli.pair_files import pair_writer
from dragoman.cli.streams import refuse_output, say
from dragoman.cli.training_settings import data_settings

if TYPE_CHECKING:
    from dragoman.data.corpus import Split
    from dragoman.data.parallel_text import ParallelText
    from dragoman.settings.data_config import DataConfig

Folder = Annotated[Path, option("A folder.", "--output", "-o", show_default=False)]

_N_APART = "Pairs for {}. Default: 1,000, but at most a tenth of all."

data = typer.Typer(help="Clean your text, split it, or write a known corpus.")


@with_groups
def split(
    output: Folder,
    files: FileOptions,
    languages: LanguageOptions,
    validation: Annotated[int | None, option(_N_APART.format("validation"), min=0)] = None,
    test: Annotated[int | None, option(_N_APART.format("the test"), min=0)] = None,
    seed: Annotated[int, option("Another seed sets other pairs apart.")] = 1,
    invalid_utf8: DropInvalid = None,
    overwrite: Overwrite = False,
) -> None:
    """Split text into training, validation and test.

    Pairs with equal sources or equal targets stay together, so that the test has no sentence that was trained on. A
    large group of such pairs goes to training. It writes two files for each split, or one table if it read one file.

    \b
    dragoman data split --source my.en --target my.de -o my
    dragoman data split --pairs my.en-de.tsv --validation 500 --test 500 -o my
    """
    from dragoman.data.splitting import split_pairs

    if not (files.source or files.target or files.pairs):
        raise typer.BadParameter("give --source and --target, or --pairs")
    invalid = {} if invalid_utf8 is None else {"invalid_utf8": invalid_utf8}
    text, settings, langs = _read({**given_options(files, languages), **invalid})
    n_wanted = {"train": 1, "validation": validation, "test": test}
    paths = {split: places for split, places in _paths(settings, output, langs).items() if n_wanted[split] != 0}
    for path in filter(Path.exists, itertools.chain(*paths.values())):
        refuse_output(path, overwrite=overwrite, inputs=text.files.values())
    splitting = split_pairs(text, validation, test, seed)
    output.mkdir(parents=True, exist_ok=True)
    _write(paths, splitting.pairs(), overwrite=overwrite, is_quoted=splitting.is_quoted)
    if splitting.dropped.seen:
        say(f"left out: {splitting.dropped.reasons()}")
    if splitting.largest_group > 1:
        say(f"pairs with equal sources or targets are together; the largest group has {splitting.largest_group:,}")
    for line in splitting.checks.lines(*langs):
        say(line)
    if 2 * splitting.sizes["train"] < sum(splitting.sizes.values()):
        say("warning: less than half of the pairs are left for training; set --validation and --test lower")
    options = ("--pairs",) if settings.pairs is not None else ("--source", "--target")
    train = [*zip(options, paths["train"], strict=True)]
    if "validation" in paths:
        train += zip((f"--validation-{option[2:]}" for option in options), paths["validation"], strict=True)
    say(f"train: dragoman train {' '.join(f'{option} {shlex.quote(str(path))}' for option, path in train)}")


def _read(options: Mapping[str, str]) -> tuple[ParallelText, DataConfig, tuple[str, str]]:
    """Return the text that the options name, with its settings and languages."""
    from dragoman.data.corpus import languages, read_pairs

    settings = data_settings(options)
    text = read_pairs(settings, "train")
    for note in text.notes:
        say(note)
    return text, settings, languages(settings)


def _write(
    paths: Mapping[Split, Sequence[Path]],
    pairs: Iterable[tuple[Split, str, str]],
    *,
    overwrite: bool,
    is_quoted: bool = False,
) -> None:
    """Write the pairs of each split, and say how many there are."""
    sizes = dict.fromkeys(paths, 0)
    with contextlib.ExitStack() as stack:
        writers = {
            split: stack.enter_context(pair_writer(files, overwrite=overwrite, is_quoted=is_quoted))
            for split, files in paths.items()
        }
        for split, source, target in pairs:
            writers[split](source, target)
            sizes[split] += 1
    for split, files in paths.items():
        say(f"{sizes[split]:>7,} {'pair' if sizes[split] == 1 else 'pairs'}: {', '.join(map(str, files))}")


def _paths(settings: DataConfig, folder: Path, langs: tuple[str, str]) -> dict[Split, list[Path]]:
    """Return the paths of each split: two files, or a table."""
    from dragoman.data.splitting import SPLITS
    from dragoman.data.text_files.compression import uncompressed_name
    from dragoman.text.tags import UNKNOWN

    is_known = UNKNOWN not in langs
    suffixes: Sequence[str] = langs if is_known else ("source", "target")
    if settings.pairs is not None:
        kind = "jsonl" if uncompressed_name(settings.pairs).suffix in (".jsonl", ".ndjson") else "tsv"
        suffixes = [f"{'-'.join(langs)}.{kind}" if is_known else kind]
    return {split: [folder / f"{split}.{suffix}" for suffix in suffixes] for split in SPLITS}


def write_known(
    context: typer.Context,
    output: Folder,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    size: Annotated[int | None, option("Training pairs, made up.", min=1)] = None,
    seed: Annotated[int | None, option("Another seed makes another corpus.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a corpus known by name: train, validation and test, one sentence a line."""
    from dragoman.corpora.synthetic import in_direction, make_corpus
    from dragoman.data.corpus import languages, read_pairs
    from dragoman.data.splitting import SPLITS

    name = str(context.info_name)
    settings = data_settings({"corpus": name, "source_lang": source_lang, "target_lang": target_lang})
    langs = languages(settings)
    splits: dict[Split, Iterable[tuple[str, str]]] = {split: read_pairs(settings, split) for split in SPLITS}
    if size is not None or seed is not None:
        if name == "multi30k":
            raise typer.BadParameter("--size and --seed are for corpora that are made up")
        corpus = make_corpus(name, seed=1 if seed is None else seed, **({} if size is None else {"n_train": size}))
        splits = {split: in_direction(name, getattr(corpus, split), *langs) for split in SPLITS}
    paths = _paths(settings, output, langs)
    output.mkdir(parents=True, exist_ok=True)
    for path in itertools.chain(*paths.values()):
        refuse_output(path, overwrite=overwrite)  # before any is written
    _write(paths, ((split, *pair) for split, pairs in splits.items() for pair in pairs), overwrite=overwrite)


data.command(cls=Command)(clean)
data.command(cls=Command)(split)
for corpus, contents in (
    ("multi30k", "Multi30k, captions of pictures"),
    ("captions", "captions in English and German, made up"),
    ("captions-zh", "captions in English and Chinese, made up"),
    ("copy", "letters, and the same letters"),
    ("reverse", "letters, and the same backwards"),
    ("sort", "letters, and the same in order"),
):
    files = "The files are train, validation and test, with one sentence a line."
    data.command(corpus, cls=Command, help=f"Write {contents}.\n\n{files}")(write_known)
