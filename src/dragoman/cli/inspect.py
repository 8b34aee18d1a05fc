"""`dragoman inspect`: look inside a trained model."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.inspect_alignment import alignment
from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import DirectionOptions
from dragoman.cli.options import BeamSize, Command, Device, EachModel, Models, OneModel, Overwrite, option
from dragoman.cli.streams import print_result, require_output, write_output

if TYPE_CHECKING:
    from dragoman.inspection.attention_maps import Attention

inspect = typer.Typer(help="Look inside a trained model.")

Text = Annotated[str, typer.Argument(metavar="TEXT", help="A sentence to translate.", show_default=False)]


@inspect.command("model", cls=Command)
def inspect_model(model: EachModel) -> None:
    """Print a model's languages, modules and shapes."""
    require_package("inspect model", "torch")
    from dragoman.bundle.bundle import load_bundle
    from dragoman.inspection.module_tree import module_tree

    for name in model:
        bundle = load_bundle(name)
        print_result(f"{bundle.describe()}\n{module_tree(bundle.model)}")


@inspect.command("attention", cls=Command)
@with_groups
def attention(
    text: Text,
    model: OneModel,
    direction: DirectionOptions,
    target: Annotated[str | None, option("A translation; default: the model's own.", "--target")] = None,
    output: Annotated[
        Path | None, option("A page (.html), picture (.png, .svg) or data (.json).", "--output", "-o")
    ] = None,
    overwrite: Overwrite = False,
    kind: Annotated[
        Literal["encoder", "decoder", "cross"], option("Attention in a picture, or first attention on a page.")
    ] = "cross",
    layer: Annotated[int | None, option("From 1. Default: all in a picture, otherwise the last.")] = None,
    head: Annotated[int | None, option("From 1. Default: all in a picture, otherwise their mean.")] = None,
    device: Device = "auto",
) -> None:
    """Show what a model attends to in a sentence.

    All layers and heads of the encoder's self-attention, the decoder's self-attention and cross-attention. Without
    --output, it prints a line for each token with the tokens that it attends to most.

    \b
    dragoman inspect attention -m everyday --target-lang de \\
        "Where is the station?" --output attention.html
    """
    require_package("inspect attention", "torch")
    if output is not None:
        require_output(output, (".html", ".png", ".svg", ".json"), overwrite=overwrite)
        if output.suffix.lower() in (".png", ".svg"):
            require_package("a picture", "matplotlib")
    from dragoman.inspection.attention_maps import inspect_attention, numbered_from_1
    from dragoman.translator import Translator

    translator = Translator.load(model, device=device)
    attention = inspect_attention(translator, text, target, **asdict(direction))
    n_layers, n_heads = attention.weights(kind).shape[:2]
    indices = numbered_from_1("layer", layer, n_layers), numbered_from_1("head", head, n_heads)
    if output is not None:
        write_output(output, _rendered(attention, output.suffix.lower(), kind, *indices))
        return
    from dragoman.inspection.attention_maps import attention_text

    print_result(attention_text(attention, kind, n_layers - 1 if indices[0] is None else indices[0], indices[1]))


def _rendered(
    attention: Attention, suffix: str, kind: Literal["encoder", "decoder", "cross"], layer: int | None, head: int | None
) -> bytes:
    if suffix == ".json":
        return _json(attention.to_dict())
    if suffix == ".html":
        from dragoman.inspection.attention_maps import attention_page

        return attention_page(attention, kind, len(attention.weights(kind)) - 1 if layer is None else layer, head)
    from dragoman.inspection.pictures import draw_attention, to_image

    return to_image(draw_attention(attention, kind, layer, head), suffix)


@inspect.command("search", cls=Command)
@with_groups
def search(
    text: Text,
    model: Models,
    direction: DirectionOptions,
    beam_size: BeamSize = None,
    output: Annotated[Path | None, option("A page (.html) or data (.json).", "--output", "-o")] = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
) -> None:
    """Show the search for a translation.

    All hypotheses with their scores, also those that were dropped. Each token has its probability and the next best
    tokens.

    \b
    dragoman inspect search -m everyday --target-lang de "Where is the station?"
    """
    if output is not None:
        require_output(output, (".html", ".json"), overwrite=overwrite)
    from dragoman.inspection.search_tree import inspect_search
    from dragoman.translator import Translator

    translator = Translator.load(*model, device=device)
    tree = inspect_search(translator, text, beam_size, **asdict(direction))
    if output is None:
        from dragoman.inspection.search_tree import search_text

        print_result(search_text(tree))
    elif output.suffix.lower() == ".json":
        write_output(output, _json(tree.to_dict()))
    else:
        from dragoman.inspection.page import build_page

        write_output(output, build_page("search", f"Search: {tree.source_text}", tree.to_dict()))


@inspect.command("neighbours", cls=Command)
def neighbours(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words, or tokens.", show_default=False)],
    model: OneModel,
    side: Annotated[Literal["source", "target"], option("Side of the embeddings.", "--side")] = "source",
    n: Annotated[int, option("Neighbours of each word.", "--n", min=1)] = 10,
) -> None:
    """Show the tokens nearest to words.

    They have the highest cosine similarity of embeddings."""
    require_package("inspect neighbours", "torch")
    from dragoman.errors import printable
    from dragoman.inspection.neighbours import nearest_neighbours
    from dragoman.translator import Translator

    translator = Translator.load(model, device="cpu")
    for neighbourhood in [nearest_neighbours(translator, word, side=side, n=n) for word in words]:
        nearest = (f"  {cosine:6.3f}  {printable(token)}" for token, cosine in neighbourhood.nearest)
        print_result("\n".join((printable(neighbourhood.token), *nearest)))


inspect.command("alignment", cls=Command)(alignment)


@inspect.command("curves", cls=Command)
def curves(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    output: Annotated[Path, option("A picture (.png, .svg).", "--output", "-o", show_default=False)],
    overwrite: Overwrite = False,
) -> None:
    """Draw the curves of runs.

    Loss, BLEU and learning rate over the steps, from the metrics.jsonl of each run."""
    require_output(output, (".png", ".svg"), overwrite=overwrite)
    require_package("a picture", "matplotlib")
    from dragoman.inspection.curves import read_curves
    from dragoman.inspection.pictures import draw_curves, to_image

    write_output(output, to_image(draw_curves([read_curves(run) for run in runs]), output.suffix.lower()))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
