"""`dragoman inspect alignment`: choose the cross-attention heads that align words best."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import DirectionOptions, TextOptions, given_options
from dragoman.cli.options import Device, OneModel, option
from dragoman.cli.streams import command_line, print_result, say
from dragoman.cli.training_settings import data_settings, known_languages, readable, require_folder

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.bundle.bundle import Bundle
    from dragoman.data.corpus import Split
    from dragoman.inspection.head_choice import Choice, Pair
    from dragoman.translator import Translator

#: Pairs that are measured, and pairs that the statistical model learns from.
N_MEASURED, N_LEARNED = 1_000, 50_000


@with_groups
def alignment(
    model: OneModel,
    text: TextOptions,
    direction: DirectionOptions,
    output: Annotated[
        Path | None, option("A copy of the model that aligns with the chosen heads.", "--output", "-o")
    ] = None,
    device: Device = "auto",
) -> None:
    """Choose the heads that align words best.

    Each head is compared with IBM model 1, trained in both directions. A corpus known by name is used with its training
    part and measured on its validation part. Of files the first 50,000 pairs are read, and the last 1,000 of them
    are used for measuring.

    \b
    dragoman inspect alignment -m runs/my --corpus multi30k -o my-aligned
    """
    if not given_options(text):
        raise typer.BadParameter("give --corpus, --source and --target, or --pairs")
    if output is not None:
        require_folder(output, new=True)
    from dragoman.bundle.bundle import load_bundle
    from dragoman.inspection.head_choice import choose_heads
    from dragoman.machine.devices import find_device
    from dragoman.translator import ComputeOptions, Translator

    bundle = load_bundle(model)
    translator = Translator([bundle.model], bundle.tokenizers, bundle.search, ComputeOptions(find_device(device)))
    learned, measured = _pairs(text, direction, translator)
    choice = choose_heads(translator, learned, measured)
    print_result(_table(choice))
    print_result(_heads(choice))
    if output is not None:
        _save(output, bundle, choice)


def _pairs(text: TextOptions, direction: DirectionOptions, translator: Translator) -> tuple[list[Pair], list[Pair]]:
    """Return pairs to learn from, and pairs to measure."""
    from dragoman.data.corpus import read_pairs

    known = known_languages(translator.tokenizers.languages)
    data = data_settings({**known, **given_options(text, direction)})

    def read(split: Split, most: int) -> list[Pair]:
        pairs = itertools.islice(readable(read_pairs(data, split)), most)
        return [(translator.tagged(source, **asdict(direction)), target) for source, target in pairs]

    pairs = read("train", N_LEARNED)
    if data.corpus is None:
        return pairs[:-N_MEASURED], pairs[-N_MEASURED:]
    return pairs, read("validation", N_MEASURED)


def _save(output: Path, bundle: Bundle, choice: Choice) -> None:
    """Write a copy of the model that aligns with the chosen heads."""
    from dragoman.alignment.heads import FACT
    from dragoman.bundle.bundle import write_bundle

    facts = {**bundle.facts, FACT: choice.heads.model_dump(mode="json")}
    write_bundle(output, replace(bundle, facts=facts))
    say(f"saved {output}; use it: {command_line('translate', '--align', '-m', output)}")


def _table(choice: Choice) -> Table:
    from rich.table import Table

    title = f"against {choice.n_links:,} links of IBM model 1 in {choice.n_pairs:,} pairs"
    table = Table(title=title, min_width=len(title) + 4)
    for column in ("alignment", "of these found", "error rate"):
        table.add_column(column, justify="left" if column == "alignment" else "right")
    for agreement in choice.agreements:
        table.add_row(agreement.name, f"{agreement.recall:.1%}", f"{agreement.error_rate:.3f}")
    return table


def _heads(choice: Choice) -> str:
    heads = ", ".join(f"layer {layer + 1} head {head + 1}" for layer, head in choice.heads.heads)
    return (
        f"chosen: {heads}, {'where a word has just been read' if choice.heads.shifted else 'where a word is written'}"
    )
