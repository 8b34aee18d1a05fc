"""`dragoman update`: train a model on what people have translated since, without forgetting."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Device, FromLang, IntoLang, OneModel
from dragoman.cli.streams import refuse_output, say
from dragoman.errors import counted

if TYPE_CHECKING:
    from dragoman.experiments.updating import Outcome


def update(
    model: OneModel,
    memory: Annotated[
        list[Path],
        typer.Option(
            "--memory", metavar="FILE", help="New translations: TMX, TSV, PO, JSONL; repeatable.", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the new model.", show_default=False)],
    source_lang: FromLang = None,
    target_lang: IntoLang = None,
    old_pairs: Annotated[
        Path | None, typer.Option("--old-pairs", help="Pairs of text that the model must not forget: TSV, TMX, ...")
    ] = None,
    old_source: Annotated[
        Path | None, typer.Option("--old-source", help="The same without translations: the model writes them itself.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Train a model on a translation memory, for some minutes.

    The model keeps what it knew. A tenth of the memory is held out. The new model is the one that translates it best
    and translates held-out old text as well as before. If none is better, the old weights are written.

    \b
    dragoman update -m everyday --memory agency.tmx -o runs/agency \\
        --source-lang en --target-lang fr --old-pairs old.tsv
    """
    require_package("update", "torch")
    refuse_output(output, overwrite=False)
    from dragoman.experiments.updating import update as update_model
    from dragoman.memories import TranslationMemory

    languages = _languages(model, source_lang, target_lang)
    old = _old_text(old_pairs, old_source, languages)
    units = TranslationMemory.open(*memory, source_lang=languages[0], target_lang=languages[1]).units()
    new = [(unit.source, unit.target) for unit in units]
    start = time.monotonic()
    outcome = update_model(model, new, output, languages, old=old, device=device)
    _tell(outcome, output, time.monotonic() - start)


def _old_text(pairs: Path | None, source: Path | None, languages: tuple[str, str]) -> list[tuple[str, str] | str]:
    """Return the text that the model must not forget.

    Raises:
        typer.BadParameter: there are two.
    """
    from dragoman.cli.streams import input_lines
    from dragoman.memories import open_units

    if pairs is not None and source is not None:
        raise typer.BadParameter("give either --old-pairs or --old-source")
    if pairs is not None:
        return [(unit.source, unit.target) for unit in open_units(pairs, languages)]
    if source is not None:
        return list(input_lines(source, "replace"))
    say("no old text: nothing tells what the model forgets; --old-pairs and --old-source give some")
    return []


def _languages(model: str, source_lang: str | None, target_lang: str | None) -> tuple[str, str]:
    """Return the direction of an update.

    Raises:
        typer.BadParameter: the model has several, and it is not named; or it has none of this language.
    """
    from dragoman.bundle.bundle import load_bundle
    from dragoman.text.tags import describe_directions

    directions = load_bundle(model).tokenizers.directions
    fitting = [
        direction
        for direction in directions
        if all(asked in (None, one) for asked, one in zip((source_lang, target_lang), direction, strict=True))
    ]
    if len(fitting) == 1:
        return fitting[0]
    if source_lang is not None and target_lang is not None:
        return source_lang, target_lang
    if not fitting:
        raise typer.BadParameter(f"the model translates {describe_directions(directions)}")
    raise typer.BadParameter("the model has several directions; say --source-lang and --target-lang")


def _tell(outcome: Outcome, output: Path, seconds: float) -> None:
    """Say what came of an update."""
    say(f"{counted(outcome.n_new, 'pair')}, {outcome.n_held_out:,} of them held out; {seconds / 60:.1f} minutes")
    if not outcome.is_better:
        say(f"no new weights were better (chrF {outcome.new_before:.2f}); {output} has the old ones")
        return
    say(f"held-out new text: chrF {outcome.new_before:.2f} before, {outcome.new_after:.2f} after")
    if outcome.old_before is not None and outcome.old_after is not None:
        say(f"held-out old text: chrF {outcome.old_before:.2f} before, {outcome.old_after:.2f} after")
    say(f"wrote {output}: {outcome.share:.0%} of the way from the old weights to the new ones")
