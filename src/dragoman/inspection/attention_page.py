"""The attention of one sentence, as a page for a browser and as a table for a terminal."""

from __future__ import annotations

from torch import Tensor

from dragoman.alignment.capture import KINDS, Kind
from dragoman.errors import ConfigError, printable
from dragoman.inspection.attention_maps import Attention
from dragoman.inspection.page import build_page

#: The page holds weights times this, as integers: half the bytes, and more digits than it shows.
SCALE = 10_000


def attention_page(attention: Attention, kind: Kind = "cross", layer: int = 0, head: int | None = None) -> bytes:
    """Return a page with every layer and head. It opens at these; head None is the mean of the layer's heads."""
    data = {
        "source_text": attention.source_text,
        "target_text": attention.target_text,
        "source": attention.source,
        "read": attention.read,
        "written": attention.written,
        "scale": SCALE,
        "weights": {name: (attention.weights(name) * SCALE).round().int().tolist() for name in KINDS},
        "open": {"kind": kind, "layer": layer, "head": "mean" if head is None else head},
    }
    return build_page("attention", f"Attention: {attention.source_text}", data)


def attention_text(attention: Attention, kind: Kind, layer: int, head: int | None = None, n_most: int = 4) -> str:
    """Return a line for each token that attends, with the tokens that it attends to most, and their weights.

    Head None is the mean of the layer's heads.
    """
    weights = attention.weights(kind)[layer]
    mean: Tensor = weights.mean(dim=0) if head is None else weights[head]
    heads = "mean of the heads" if head is None else f"head {head + 1}"
    queries, keys = attention.queries(kind), attention.keys(kind)
    width = max(map(len, queries))
    lines = [attention.source_text, attention.target_text, "", f"{kind} attention, layer {layer + 1}, {heads}"]
    for query, row in zip(queries, mean, strict=True):
        values, columns = row.topk(min(n_most, len(keys)))
        most = zip(values.tolist(), (keys[column] for column in columns.tolist()), strict=True)
        lines.append(
            "  ".join([f"{query:{width}}", *(f"{weight:.3f} {key}" for weight, key in most if weight >= 0.0005)])
        )
    return "\n".join(map(printable, lines))


def numbered_from_1(part: str, number: int | None, count: int) -> int | None:
    """Turn the number of a layer or head, counted from 1, into an index.

    Raises:
        ConfigError: there is no such number.
    """
    if number is not None and not 1 <= number <= count:
        raise ConfigError(f"there is no {part} {number}", advice=f"choose one of 1 to {count}")
    return None if number is None else number - 1
