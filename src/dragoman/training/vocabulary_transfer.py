"""A trained model with other vocabularies, from which a fine-tuning starts.

Method: vocabulary transfer (Gee et al. 2022, "Fast Vocabulary Transfer for Language Model Compression", section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace

import numpy as np

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout, Weight
from dragoman.machine.arrays import Floats
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers


def with_vocabularies(start: Bundle, tokenizers: Tokenizers) -> Bundle:
    """Return the model of `start` with the vocabularies of `tokenizers`; `start` itself if they are the same.

    Rows of tokens that the model knows stay. The row of any other token is the mean over the known tokens that make it
    up, the longest first: a greedy form of the paper's method. So embeddings (old size, d_model) become
    (new size, d_model), and the output's bias (old size,) becomes (new size,).
    """
    old, new = ((each.source, each.target) for each in (start.tokenizers, tokenizers))
    if all(_vocabulary(before) == _vocabulary(after) for before, after in zip(old, new, strict=True)):
        return start
    weights, layout = dict(start.weights), Layout(start.config)
    by_side: list[list[Weight | None]] = [
        [layout.source_embedding.tokens],
        [layout.target_embedding.tokens, layout.output.weight, layout.output.bias],
    ]
    for side, tensors in enumerate(by_side):
        parts = _parts(old[side], new[side])
        names = [tensor.name for tensor in tensors if tensor is not None and tensor.name not in layout.ties]
        weights |= {name: _means(weights[name], parts) for name in names}
    sizes = {"source_vocab_size": new[0].vocab_size, "target_vocab_size": new[1].vocab_size}
    config = start.config.model_copy(update=sizes)
    return replace(start, config=config, weights=weights, tokenizers=tokenizers)


def _vocabulary(tokenizer: Tokenizer) -> tuple[list[str], SpecialIds]:
    """Return the name of each id, and the special ids."""
    return tokenizer.pieces(range(tokenizer.vocab_size)), tokenizer.special_ids


def _parts(old: Tokenizer, new: Tokenizer) -> list[list[int]]:
    """Return for each id of `new` the ids of `old` that make it up."""
    (old_names, old_special), (new_names, new_special) = _vocabulary(old), _vocabulary(new)
    ids = {name: id for id, name in enumerate(old_names) if id not in old_special.names}
    special = dict(zip(astuple(new_special), astuple(old_special), strict=True))
    return [
        [special[id]] if id in special else _longest_first(name, ids, old_special.unknown)
        for id, name in enumerate(new_names)
    ]


def _longest_first(piece: str, ids: Mapping[str, int], unknown_id: int) -> list[int]:
    """Return the ids of the longest beginning that has one, then of the rest. A character that begins nothing is its
    bytes, or unknown where they have no ids.
    """
    found: list[int] = []
    while piece:
        length = next((length for length in range(len(piece), 0, -1) if piece[:length] in ids), 0)
        if length:
            found.append(ids[piece[:length]])
        else:
            length = 1
            found += (ids.get(f"<0x{byte:02X}>", unknown_id) for byte in piece[0].encode())
        piece = piece[length:]
    return found


def _means(rows: Floats, parts: list[list[int]]) -> Floats:
    """The mean of the rows (old size, ...) of each of the parts: (new size, ...)."""
    return np.stack([rows[ids].mean(axis=0) for ids in parts])
