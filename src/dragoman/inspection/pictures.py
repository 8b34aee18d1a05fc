"""Pictures of attention, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dragoman.inspection.figures import new_figure
from dragoman.machine.arrays import Floats
from dragoman.text.sentence_pieces import SPACE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    from dragoman.alignment.capture import Kind
    from dragoman.inspection.attention_maps import Attention

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
