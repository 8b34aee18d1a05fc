"""A trained model with other vocabularies: what it has learned goes on from there, whatever text they fit.

Method: vocabulary transfer (Gee et al. 2022, "Fast Vocabulary Transfer for Language Model Compression", section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dragoman.bundle import Bundle
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import SPECIALS, UNK_ID
from dragoman.weights import Floats

_OF_SOURCE = ("source_embedding.tokens.weight",)
_OF_TARGET = ("target_embedding.tokens.weight", "output_projection.weight", "output_projection.bias")


def with_vocabularies(start: Bundle, tokenizers: Tokenizers) -> Bundle:
    """The model of `start` for what `tokenizers` make of text; itself where they have the same vocabularies.

    What belongs to a token that the model knows stays. That of any other is the mean over the tokens it knows that
    make it up, the longest first; of "<unk>" where it knows none.
    """
    weights = dict(start.weights)
    for names, old, new in (
        (_OF_SOURCE, start.tokenizers.source, tokenizers.source),
        (_OF_TARGET, start.tokenizers.target, tokenizers.target),
    ):
        parts = _parts(old, new)
        weights |= {name: _means(weights[name], parts) for name in names if name in weights}
    sizes = {"source_vocab_size": tokenizers.source.vocab_size, "target_vocab_size": tokenizers.target.vocab_size}
    config = start.config.model_copy(update=sizes)
    return replace(start, config=config, weights=weights, tokenizers=tokenizers)


def _parts(old: Tokenizer, new: Tokenizer) -> list[list[int]]:
    """For each id of `new` the ids of `old` that make it up."""
    first = len(SPECIALS)
    ids = {piece: first + index for index, piece in enumerate(old.pieces(range(first, old.vocab_size)))}
    others = (_longest_first(piece, ids) or [UNK_ID] for piece in new.pieces(range(first, new.vocab_size)))
    return [*([special] for special in range(first)), *others]


def _longest_first(piece: str, ids: Mapping[str, int]) -> list[int]:
    """The ids of the longest beginning that has one, then of the rest; a character that begins nothing is left out."""
    found: list[int] = []
    while piece:
        length = next((length for length in range(len(piece), 0, -1) if piece[:length] in ids), 0)
        if length:
            found.append(ids[piece[:length]])
        piece = piece[length or 1 :]
    return found


def _means(rows: Floats, parts: list[list[int]]) -> Floats:
    """The mean of the rows (old size, ...) of each of the parts: (new size, ...)."""
    return np.stack([rows[ids].mean(axis=0) for ids in parts])
