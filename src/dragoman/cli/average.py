"""`dragoman average`: a model whose weights are the mean of several models' weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.options import NewFolder, option
from dragoman.cli.streams import command_line, say
from dragoman.cli.training_settings import require_folder


def average(
    models: Annotated[list[str], typer.Argument(help="Bundles or run folders; with --last one run folder.")],
    output: NewFolder,
    last: Annotated[
        int | None,
        option("The N newest checkpoints of the run (their moving averages, if it keeps them).", min=1, metavar="N"),
    ] = None,
) -> None:
    """Average the weights of models into a new one.

    They must have equal configurations and tokenizers."""
    if last is None and len(models) == 1:
        raise typer.BadParameter("give at least two models, or --last with a run folder")
    if last is not None and len(models) > 1:
        raise typer.BadParameter("--last takes one run folder")
    require_folder(output, new=True)
    if last is None:
        from dragoman.bundle.averaging import average_bundles

        average_bundles(models, output)
        inputs = f"{len(models)} models"
    else:
        from dragoman.training.run_folder import RunFolder

        inputs = RunFolder(Path(models[0])).average(last, output)
    say(f"averaged {inputs} into {output}; use it: {command_line('translate', '-m', output)}")
