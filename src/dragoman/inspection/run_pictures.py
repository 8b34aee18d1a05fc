"""Pictures of runs: their losses, BLEU and learning rates over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dragoman.inspection.curves import Curve, RunCurves
from dragoman.inspection.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_curves(runs: Sequence[RunCurves]) -> Figure:
    """Draw loss, BLEU and learning rate over the steps, one colour a run."""
    figure = new_figure(13, 4.2)
    loss, bleu, rate = figure.subplots(1, 3)
    for number, run in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        _plot(loss, run.training_loss, color=colour, alpha=0.35, linewidth=1, label=f"{run.name}, training")
        _plot(loss, run.validation_loss, color=colour, marker=".", label=f"{run.name}, validation")
        _plot(bleu, run.validation_bleu, color=colour, marker=".", label=run.name)
        _plot(rate, run.learning_rate, color=colour, label=run.name)
    loss.set(title="Loss without label smoothing, nats a token", xlabel="step")
    bleu.set(title="BLEU of the validation set, greedy", xlabel="step", ylim=(0, None))
    rate.set(title="Learning rate", xlabel="step", ylim=(0, None))
    rate.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)
    _finish(loss, legend=True)
    _finish(bleu, legend=len(runs) > 1)
    _finish(rate, legend=len(runs) > 1)
    return figure


def draw_losses(variants: Sequence[tuple[str, Sequence[Curve]]]) -> Figure:
    """Draw validation losses over the steps, one line a run, with one colour and kind of line for each variant."""
    figure = new_figure(10, 5)
    axes = figure.subplots()
    for number, (name, curves) in enumerate(variants):
        style = ("-", "--", ":")[number // len(COLOURS) % 3]
        for repetition, curve in enumerate(curves):
            label = None if repetition else name
            _plot(axes, curve, color=COLOURS[number % len(COLOURS)], linestyle=style, label=label, marker=".")
    axes.set(xlabel="step", ylabel="validation loss, nats a token")
    _finish(axes, legend=False)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


def _plot(axes: Axes, curve: Curve, **style: Any) -> None:
    if curve:
        axes.plot(*zip(*curve, strict=True), **style)


def _finish(axes: Axes, *, legend: bool) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if legend and axes.get_lines():
        axes.legend(fontsize="small")
