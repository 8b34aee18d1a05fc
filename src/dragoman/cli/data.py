"""`dragoman data`: a corpus known by name as plain text files, to look at or to use elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from dragoman.cli.options import Overwrite, SourceLang, TargetLang
from dragoman.cli.streams import refuse_place, result_lines, say

SPLITS: tuple[Literal["train", "validation", "test"], ...] = ("train", "validation", "test")


def data(
    name: Annotated[str, typer.Argument(help="captions, copy, reverse, sort, or multi30k.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.", show_default=False)],
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    size: Annotated[
        int | None, typer.Option("--size", min=1, help="Training pairs of a corpus that is made (not multi30k).")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of a corpus that is made.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a known corpus as plain text files.

    Its parts train, validation and test, one sentence a line."""
    from dragoman.config import DataConfig
    from dragoman.data.corpus import UNKNOWN_LANGUAGE, languages, read_pairs, turned
    from dragoman.data.synthetic import TASKS, make_corpus
    from dragoman.sections import parse_section

    settings = parse_section(DataConfig, {"corpus": name, "source_lang": source_lang, "target_lang": target_lang})
    found = languages(settings)
    suffixes = ("source", "target") if UNKNOWN_LANGUAGE in found else found
    if name in TASKS and (size is not None or seed is not None):
        made = make_corpus(name, seed=1 if seed is None else seed, **({} if size is None else {"n_train": size}))
        splits: dict[str, Iterable[tuple[str, str]]] = {
            split: turned(name, getattr(made, split), *found) for split in SPLITS
        }
    elif size is not None or seed is not None:
        raise typer.BadParameter(f"--size and --seed are for {', '.join(TASKS)}")
    else:
        splits = {split: read_pairs(settings, split) for split in SPLITS}
    output.mkdir(parents=True, exist_ok=True)
    places = {split: [output / f"{split}.{suffix}" for suffix in suffixes] for split in splits}
    for path in itertools.chain(*places.values()):
        refuse_place(path, overwrite=overwrite)  # before any is written
    for split, pairs in splits.items():
        paths = places[split]
        with (
            result_lines(paths[0], overwrite=overwrite) as write_source,
            result_lines(paths[1], overwrite=overwrite) as write_target,
        ):
            n_pairs = 0
            for source, target in pairs:
                write_source(source)
                write_target(target)
                n_pairs += 1
        say(f"{n_pairs:>7,} pairs: {paths[0]}, {paths[1]}")
