"""Figures of matplotlib (the extra `plot`): made, and turned into image files."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from dragoman.errors import ConfigError, install_advice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
