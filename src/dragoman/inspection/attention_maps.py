"""The attention of a model over one sentence: every layer, every head, each of the three attentions.

It can be shown as a page for a browser, and as a table for a terminal.

L layers, H heads, S source tokens with the end mark, T target tokens with one mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import torch
from torch import Tensor

from dragoman.alignment.capture import KINDS, Kind, capture_attention
from dragoman.errors import ConfigError, printable
from dragoman.inspection.inputs import best_translation, read_source, single_model, target_ids
from dragoman.inspection.page import build_page
from dragoman.text.cleaning import sanitize
from dragoman.translator import Translator
from dragoman.translator.forced_in_torch import on_device
from dragoman.translator.options import LanguageOptions
from dragoman.translator.padding import pad_pairs
from dragoman.translator.searching import decoded_text


@dataclass(frozen=True)
class Attention:
    """The weights with which a model read a text and wrote a translation.

    At each of the T target positions the decoder reads one token (`read`, from the start mark on) and writes one
    (`written`, up to the end mark, unless the translation was cut at the model's greatest length).
    """

    source_text: str
    target_text: str
    source: tuple[str, ...]  # S
    read: tuple[str, ...]  # T
    written: tuple[str, ...]  # T
    #: (L, H, S, S): from each source token (row) to each source token.
    encoder: Tensor
    #: (L, H, T, T): from each target position to each token read; no layers (0, H, T, T) if the decoder is recurrent.
    decoder: Tensor
    #: (L, H, T, S): from each target position to each source token.
    cross: Tensor

    def weights(self, kind: Kind) -> Tensor:
        """Return the weights of one of the three attentions.

        Raises:
            ConfigError: the decoder has no self-attention.
        """
        weights = {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]
        if not len(weights):
            problem = "the decoder of this model has no self-attention: its layers are recurrent"
            raise ConfigError(problem, advice="look at the attention of the encoder, or at cross-attention")
        return weights

    def keys(self, kind: Kind) -> tuple[str, ...]:
        """Return the tokens attended to: the columns of `weights`."""
        return self.read if kind == "decoder" else self.source

    def queries(self, kind: Kind) -> tuple[str, ...]:
        """Return the tokens that attend: the rows of `weights`. In cross-attention, they are being written."""
        return {"encoder": self.source, "decoder": self.read, "cross": self.written}[kind]

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON. Weights are lists [layer][head][row][column] of numbers with six digits."""
        return {
            "source_text": self.source_text,
            "target_text": self.target_text,
            "source": self.source,
            "read": self.read,
            "written": self.written,
            "encoder": _rounded(self.encoder),
            "decoder": _rounded(self.decoder),
            "cross": _rounded(self.cross),
        }


def inspect_attention(
    translator: Translator, source: str, target: str | None = None, **languages: Unpack[LanguageOptions]
) -> Attention:
    """Return the attention of a translator's model over a sentence and its translation.

    Args:
        target: a translation; None is the best that the search finds. `translator.translate` gives the same unless
            the text is in capitals, or it masks a span or chooses another candidate to keep one.
        languages: see `Request`.

    Raises:
        ConfigError: the translator is an ensemble.
        DataError: a text is empty or longer than the model reads.
    """
    model, tokenizers = single_model(translator), translator.tokenizers
    read = read_source(translator, source, languages)
    ended = True
    if target is None:
        best = best_translation(translator, read)
        of_target, ended = list(best.ids), best.finished
        target = decoded_text(tokenizers.target, of_target)
    else:
        target = sanitize(target)
        of_target = target_ids(translator, target, read)
    special_ids = tokenizers.special_ids
    last_ids = of_target if ended else of_target[:-1]
    written = [*of_target, special_ids.target.end] if ended else of_target
    with torch.inference_mode(), capture_attention(model) as maps:
        model(*(on_device(model, ids) for ids in pad_pairs([(read.ids, last_ids)], special_ids)))
    encoder, cross = (maps[kind][:, 0].float().cpu() for kind in ("encoder", "cross"))
    if model.config.decoder_layer == "attention":
        decoder = maps["decoder"][:, 0].float().cpu()
    else:
        decoder = cross.new_empty(0, cross.size(1), cross.size(2), cross.size(2))
    return Attention(
        source_text=read.text,
        target_text=target,
        source=(*tokenizers.source.split(read.text), *tokenizers.source.pieces([special_ids.source.end])),
        read=tuple(map(printable, tokenizers.target.pieces([special_ids.target.start, *last_ids]))),
        written=tuple(map(printable, tokenizers.target.pieces(written))),
        encoder=encoder,
        decoder=decoder,
        cross=cross,
    )


def _rounded(weights: Tensor) -> list[Any]:
    """Return nested lists of numbers with six digits. JSON would write float32 with seventeen."""
    rounded: list[Any] = weights.double().round(decimals=6).tolist()
    return rounded


#: The page holds weights times this, as integers: half the bytes, and more digits than it shows.
SCALE = 10_000


def attention_page(attention: Attention, kind: Kind = "cross", layer: int = 0, head: int | None = None) -> bytes:
    """Return a page with every layer and head. It opens at these; head None is the mean of the layer's heads."""
    weights_of = {name: attention.weights(name) for name in KINDS if name != "decoder" or len(attention.decoder)}
    data = {
        "source_text": attention.source_text,
        "target_text": attention.target_text,
        "source": attention.source,
        "read": attention.read,
        "written": attention.written,
        "scale": SCALE,
        "weights": {name: (weights * SCALE).round().int().tolist() for name, weights in weights_of.items()},
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
