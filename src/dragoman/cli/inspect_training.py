"""`dragoman inspect positions`, `schedule` and `curves`: pictures of position tables, learning rates and runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Overwrite, Settings
from dragoman.cli.streams import require_output, write_output
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dragoman.inspection.curves import Curve
    from dragoman.settings.config import Config

#: Points of a drawn schedule.
N_POINTS = 2000

Picture = Annotated[Path, typer.Option("--output", "-o", help="A picture (.png, .svg).", show_default=False)]


def positions(
    output: Picture,
    d_model: Annotated[int, typer.Option("--d-model", min=2, max=10_000, help="Dimensions.")] = 20,
    n_positions: Annotated[int, typer.Option("--positions", min=1, max=10_000, help="Rows of the table.")] = 100,
    overwrite: Overwrite = False,
) -> None:
    """Draw the table of sinusoidal positions.

    Four of its dimensions as waves, the whole table as an image, and the dot products between positions."""
    require_output(output, (".png", ".svg"), overwrite=overwrite)
    require_package("a picture", "matplotlib")
    from dragoman.inspection.pictures import draw_positions

    _save(draw_positions(n_positions, d_model), output)


def schedule(
    recipes: Annotated[list[Path], typer.Argument(metavar="RECIPE...", help="YAML recipes, or run folders.")],
    output: Picture,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=1, help="Default: those of the run, or the recipe's training.max_steps."),
    ] = None,
    overrides: Settings = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the learning rate of recipes over their steps.

    Settings that a recipe leaves open have the paper's values here. A run may choose others to fit its corpus, and
    saves them in its folder."""
    require_output(output, (".png", ".svg"), overwrite=overwrite)
    require_package("a picture", "matplotlib")
    from dragoman.inspection.pictures import draw_schedules
    from dragoman.settings.parsing import parse_config
    from dragoman.settings.recipe import read_recipe
    from dragoman.training.length import steps_of_run

    curves = []
    for path in recipes:
        file = path / "config.yaml" if path.is_dir() else path
        config = parse_config(read_recipe(file, overrides or ()), file)
        n_steps = steps or (steps_of_run(config, path) if path.is_dir() else _steps_of_recipe(config, path))
        curves.append((path.resolve().name if path.is_dir() else path.stem, _rates(config, n_steps)))
    _save(draw_schedules(curves), output)


def _steps_of_recipe(config: Config, path: Path) -> int:
    """Return the steps of a recipe. A schedule without an end is drawn for ten times its warm-up."""
    training = config.training
    if training.max_steps is None and training.schedule in ("cosine", "linear"):
        problem = f"the schedule {training.schedule!r} ends with the training, whose steps depend on the corpus"
        raise ConfigError(problem, path, advice="give --steps, or the run folder instead of the recipe")
    return training.max_steps or 10 * max(1, training.warmup_steps)


def _rates(config: Config, n_steps: int) -> Curve:
    """Return points (step, rate) of the schedule."""
    from dragoman.training.schedule import learning_rate

    training = config.training
    steps = {1 + number * (n_steps - 1) // N_POINTS for number in range(N_POINTS + 1)}
    steps |= {min(max(1, training.warmup_steps), n_steps)}
    return [(step, learning_rate(step, training, config.model.d_model, n_steps)) for step in sorted(steps)]


def curves(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    output: Picture,
    overwrite: Overwrite = False,
) -> None:
    """Draw the curves of runs.

    Loss, BLEU and learning rate over the steps, from the metrics.jsonl of each run."""
    require_output(output, (".png", ".svg"), overwrite=overwrite)
    require_package("a picture", "matplotlib")
    from dragoman.inspection.curves import read_curves
    from dragoman.inspection.pictures import draw_curves

    _save(draw_curves([read_curves(run) for run in runs]), output)


def _save(figure: Figure, path: Path) -> None:
    from dragoman.inspection.pictures import to_image

    write_output(path, to_image(figure, path.suffix))
