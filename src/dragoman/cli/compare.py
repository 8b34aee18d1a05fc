"""`dragoman compare`: train variants of a recipe and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Device, Settings, option
from dragoman.cli.streams import print_result
from dragoman.cli.training_settings import (
    recipe_settings,
    require_extras,
    require_folder,
    require_readable,
    require_text,
)
from dragoman.errors import DragomanError

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.experiments.outcomes import Outcome

_AGAIN = "see what each said above; the same command tries them again"


def compare(
    recipe: Annotated[Path, typer.Argument(help="A YAML recipe, whose steps or epochs are the budget.")],
    vary: Annotated[
        list[str], option("Train each value; several --vary make all combinations.", metavar="KEY=VALUE,VALUE")
    ],
    one_at_a_time: Annotated[
        bool, option("Instead, the recipe and each single change of it.", "--one-at-a-time")
    ] = False,
    output: Annotated[Path, option("A folder for all the runs.", "--output", "-o")] = Path("runs/compare"),
    overrides: Settings = None,
    device: Device = "auto",
) -> None:
    """Train variants of a recipe and compare them.

    Quality, parameters, speed and memory of each in one table. Values of training.seed are repetitions, shown as
    mean and spread; results.json in the folder is for programs. The same command continues a stopped comparison.
    `inspect curves` draws its runs.

    \b
    dragoman compare recipe.yaml --vary model.norm=post,pre \\
        --vary training.seed=1,2,3
    """
    require_package("compare", "torch")
    settings = recipe_settings(recipe, overrides, {}, "name the pairs in a recipe: data.pairs")
    require_text(settings, recipe)
    require_extras(settings)
    require_folder(output)
    if not output.exists():  # runs that exist have their text already
        require_readable(settings)
    from dragoman.experiments.comparison import compare

    outcomes, failed = compare(settings, vary, output, one_at_a_time=one_at_a_time, device=device)
    print_result(_table(outcomes))
    if failed:
        raise DragomanError(f"variants that failed: {', '.join(failed)}", output, advice=_AGAIN)


def _table(outcomes: Sequence[Outcome]) -> Table:
    from rich.table import Table

    table = Table(title="best validation of each; BLEU of greedy translations")
    for column in ("variant", "BLEU", "loss", "parameters", "target tokens/s", "minutes", "peak MiB"):
        table.add_column(column, justify="left" if column == "variant" else "right")
    for outcome in outcomes:
        spread = "" if outcome.bleu_spread is None else f" ± {outcome.bleu_spread:.2f}"
        table.add_row(
            outcome.name + (f" ({outcome.n_seeds} seeds)" if outcome.n_seeds > 1 else ""),
            f"{outcome.bleu:.2f}{spread}",
            f"{outcome.loss:.3f}",
            f"{outcome.n_parameters:,}",
            f"{outcome.tokens_per_second:,.0f}",
            f"{outcome.seconds / 60:.1f}",
            "" if outcome.peak_memory is None else f"{outcome.peak_memory:,.0f}",
        )
    return table
