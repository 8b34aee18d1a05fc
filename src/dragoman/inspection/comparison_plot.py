"""The validation losses of several runs in one picture."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.errors import ConfigError
from dragoman.inspection.curves import Curve
from dragoman.inspection.pictures import COLOURS, new_figure

_LINE_STYLES = ("-", "--", ":")


def require_matplotlib() -> None:
    """Refuse to plot without it.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError("the plot needs matplotlib", advice='pip install "dragoman[plot]"')


def plot_validation_losses(curves: Mapping[str, Sequence[Curve]], path: Path) -> None:
    """Plot validation loss over steps: one line a run, one colour and kind of line a name.

    Args:
        curves: for each name, the curve of each run.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = new_figure(10, 5)
    axes = figure.subplots()
    for number, (name, runs) in enumerate(curves.items()):
        style = _LINE_STYLES[number // len(COLOURS) % len(_LINE_STYLES)]
        for run, curve in enumerate(runs):
            label = name if run == 0 else None
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(*zip(*curve, strict=True), color=colour, linestyle=style, label=label, marker=".")
    axes.set(xlabel="step", ylabel="validation loss, nats a token")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
