"""The attention of a model over one sentence: every layer, every head, each of the three attentions.

L layers, H heads, S source tokens with the end mark, T target tokens with one mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dragoman.alignment.capture import KINDS, Kind, capture_attention
from dragoman.errors import printable
from dragoman.inspection.inputs import best_translation, single_model, source_ids, target_ids
from dragoman.text.cleaning import sanitize
from dragoman.translator import Translator
from dragoman.translator.forced_in_torch import on_device
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
    #: (L, H, T, T): from each target position to each token read.
    decoder: Tensor
    #: (L, H, T, S): from each target position to each source token.
    cross: Tensor

    def weights(self, kind: Kind) -> Tensor:
        """Return the weights of one of the three attentions."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

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


def inspect_attention(translator: Translator, source: str, target: str | None = None) -> Attention:
    """Return the attention of a translator's model over a sentence and its translation.

    Args:
        target: a translation; None is the best that the search finds. `translator.translate` gives the same unless
            the text is in capitals, or it masks a span or chooses another candidate to keep one.

    Raises:
        ConfigError: the translator is an ensemble.
        DataError: a text is empty or longer than the model reads.
    """
    model, tokenizers = single_model(translator), translator.tokenizers
    source = sanitize(source)
    of_source = source_ids(translator, source)
    ended = True
    if target is None:
        best = best_translation(translator, of_source)
        of_target, ended = list(best.ids), best.finished
        target = decoded_text(tokenizers.target, of_target)
    else:
        target = sanitize(target)
        of_target = target_ids(translator, target)
    special_ids = tokenizers.special_ids
    last_ids = of_target if ended else of_target[:-1]
    written = [*of_target, special_ids.target.end] if ended else of_target
    with torch.inference_mode(), capture_attention(model) as maps:
        model(*(on_device(model, ids) for ids in pad_pairs([(of_source, last_ids)], special_ids)))
    encoder, decoder, cross = (maps[kind][:, 0].float().cpu() for kind in KINDS)
    return Attention(
        source_text=source,
        target_text=target,
        source=(*tokenizers.source.split(source), *tokenizers.source.pieces([special_ids.source.end])),
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
