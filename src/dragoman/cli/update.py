"""`dragoman update`: train a model on what people have translated since, without forgetting."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Device, FromLang, IntoLang, OneModel, Time
from dragoman.cli.streams import say
from dragoman.cli.training_settings import require_folder
from dragoman.errors import counted
from dragoman.settings.duration import duration_text, parse_duration

if TYPE_CHECKING:
    from dragoman.experiments.updating import Outcome

#: A gain with a larger p-value is not significant.
_SIGNIFICANT = 0.05


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
    max_loss: Annotated[
        float, typer.Option("--max-loss", min=0.0, max=100.0, help="Points of chrF that held-out old text may lose.")
    ] = 0.2,
    time_: Time = None,
    device: Device = "auto",
) -> None:
    """Train a model on a translation memory, for some minutes.

    A tenth of the memory is held out, at least 10 and at most 200 sources. Mixes of old and new weights are tried: the
    one is written that translates it best and loses at most --max-loss on held-out old text, or the old weights. Better
    ones that lose more are kept beside it, and a table shows all.

    \b
    dragoman update -m everyday --memory agency.tmx -o runs/agency \\
        --source-lang en --target-lang fr --old-pairs old.tsv
    """
    require_package("update", "torch")
    require_folder(output, new=True)
    from dragoman.experiments.updating import update as update_model
    from dragoman.memories import TranslationMemory

    languages = _languages(model, source_lang, target_lang)
    old = _old_text(old_pairs, old_source, languages)
    units = TranslationMemory.open(*memory, source_lang=languages[0], target_lang=languages[1]).units()
    new = [(unit.source, unit.target) for unit in units]
    start = time.monotonic()
    seconds = None if time_ is None else parse_duration(time_)
    outcome = update_model(model, new, output, languages, old=old, max_loss=max_loss, seconds=seconds, device=device)
    spent = duration_text(time.monotonic() - start)
    say(f"{counted(outcome.n_new, 'pair')}, {outcome.n_held_out:,} of them held out; {spent}")
    say("\n".join(report(outcome, output)))


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


def report(outcome: Outcome, output: Path) -> list[str]:
    """Return lines about an update: a table of all candidates, what was chosen, and what was refused."""
    before, chosen, better = outcome.before, outcome.chosen, outcome.better
    lines = ["chrF of held-out text, by the share of the new weights:"]
    for one in [*outcome.tried, before]:
        old = "" if one.old is None else f"   old text {one.old:6.2f}"
        notes = [f"written to {output}"] if one is chosen else []
        if not outcome.allows(one):
            notes.append(f"refused: loses {one.loss(before):.2f}, more than --max-loss {outcome.max_loss:g}")
        if one.share in outcome.refused:
            notes.append(f"kept in {outcome.refused[one.share]}")
        lines.append(f"  {one.share:3} %   new text {one.new:6.2f}{old}   {'; '.join(notes)}".rstrip())
    if chosen is before:
        best = max(one.new for one in outcome.tried)
        reason = "better weights were refused" if better else f"none translated new text better ({best:.2f} at best)"
        lines.append(f"{reason}; {output} has the old weights")
    else:
        lost = "" if before.old is None else f" and loses {chosen.loss(before):.2f} on old text"
        lines.append(f"{output} gains {chosen.new - before.new:.2f} on new text{lost}")
    if outcome.p_value is not None:
        doubt = "; the gain is not significant" if outcome.p_value > _SIGNIFICANT else ""
        probability = "p < 0.01" if outcome.p_value < 0.01 else f"p = {outcome.p_value:.2f}"
        pairs = counted(outcome.n_held_out, "pair")
        lines.append(f"on {pairs}, chance alone gives such a gain with {probability}{doubt}")
    if better:
        gain, loss = better[0].new - before.new, better[0].loss(before)
        least = math.ceil(10 * loss) / 10
        lines.append(
            f"refused: {gain:.2f} gained on new text for {loss:.2f} lost on old text; if you want that, use "
            f"{outcome.refused[better[0].share]}, or give --max-loss {least:g}"
        )
    return lines
