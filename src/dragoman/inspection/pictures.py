"""Pictures of attention, and of runs over their steps, drawn by matplotlib (the extra `plot`)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dragoman.errors import ConfigError, install_advice
from dragoman.inspection.curves import Curve, RunCurves
from dragoman.machine.arrays import Floats
from dragoman.text.sentence_pieces import SPACE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    from dragoman.alignment.capture import Kind
    from dragoman.inspection.attention_maps import Attention
#: Colours that people with any kind of colour vision can tell apart (Okabe and Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Fonts with scripts that matplotlib's own lacks, tried in this order where they are installed.
FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "WenQuanYi Zen Hei", "Noto Sans")


def require_matplotlib() -> None:
    """Check that pictures can be drawn.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ConfigError("pictures need matplotlib", advice=install_advice("plot")) from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def to_image(figure: Figure, suffix: str) -> bytes:
    """Return the figure as an image file of the kind that `suffix` (".png", ".svg") names."""
    from matplotlib import font_manager
    from matplotlib.text import Text

    installed = {font.name for font in font_manager.fontManager.ttflist}
    families = ["DejaVu Sans", *(name for name in FONTS if name in installed)]
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontfamily(families)
    image = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # matplotlib draws a box
        figure.savefig(image, format=suffix.removeprefix("."), dpi=150)
    return image.getvalue()


#: With more tokens than this, labels would overlap, and numbers would be too small to read.
MOST_LABELS, MOST_NUMBERS = 60, 16
NAMES: Mapping[Kind, tuple[str, str, str]] = {
    "encoder": ("Encoder self-attention", "source token", "source token attended to"),
    "decoder": ("Decoder self-attention", "token just read", "token attended to"),
    "cross": ("Cross-attention", "token being written", "source token attended to"),
}


def draw_attention(attention: Attention, kind: Kind, layer: int | None = None, head: int | None = None) -> Figure:
    """Draw maps of attention, from rows to columns: of one head, of all heads of a layer, or of all layers."""
    weights = attention.weights(kind).numpy()
    layers = range(len(weights)) if layer is None else [layer]
    heads = range(weights.shape[1]) if head is None else [head]
    queries, keys = (_names(tokens) for tokens in (attention.queries(kind), attention.keys(kind)))
    is_single = len(layers) * len(heads) == 1
    width = min(12.0, max(2.2, (0.5 if is_single else 0.19) * len(keys)))
    height = width * len(queries) / len(keys)
    figure = new_figure(width * len(heads) + 1.6, height * len(layers) + 1.6)
    grid = figure.subplots(len(layers), len(heads), squeeze=False, sharex=True, sharey=True)
    for row, grid_row in zip(layers, grid, strict=True):
        for column, axes in zip(heads, grid_row, strict=True):
            image = axes.imshow(weights[row, column], cmap="Blues", norm=_spread(), aspect="auto")
            axes.set_title(f"layer {row + 1}, head {column + 1}", fontsize="small")
            if is_single and len(keys) <= MOST_NUMBERS:
                _write_numbers(axes, weights[row, column])
    _label(grid[0, 0], queries, keys)
    for axes in grid.flat:
        axes.tick_params(labelsize="small")
        axes.tick_params(axis="x", labelrotation=90)
    name, rows, columns = NAMES[kind]
    figure.suptitle(name)
    figure.supylabel(rows, fontsize="small")
    figure.supxlabel(columns, fontsize="small")
    figure.colorbar(image, ax=grid, ticks=[0, 0.05, 0.25, 0.5, 1], format="%g", aspect=40, label="weight")
    return figure


def _spread() -> Normalize:
    """Return a scale by square roots. It spreads the small weights, because most weights are small."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=1)


def _names(tokens: Sequence[str]) -> list[str]:
    """Return tokens without SentencePiece's mark of a space, and with $ escaped: matplotlib would read a formula."""
    return [(token.removeprefix(SPACE) or SPACE).replace("$", r"\$") for token in tokens]


def _label(axes: Axes, queries: Sequence[str], keys: Sequence[str]) -> None:
    if len(keys) <= MOST_LABELS:
        axes.set_xticks(range(len(keys)), keys)
    if len(queries) <= MOST_LABELS:
        axes.set_yticks(range(len(queries)), queries)


def _write_numbers(axes: Axes, values: Floats) -> None:
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.005:
            colour = "white" if value > 0.35 else "black"
            axes.text(
                column,
                row,
                f"{value:.2f}"[1:] if value < 0.995 else "1",
                ha="center",
                va="center",
                color=colour,
                fontsize="x-small",
            )


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


def _plot(axes: Axes, curve: Curve, **style: Any) -> None:
    if curve:
        axes.plot(*zip(*curve, strict=True), **style)


def _finish(axes: Axes, *, legend: bool) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if legend and axes.get_lines():
        axes.legend(fontsize="small")
