"""A trained model with other vocabularies: it keeps what it has learned, and training can go on.

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
    """Return the model of `start` for `tokenizers`, or `start` itself if the vocabularies are the same.

    A token that the model knows keeps its weights. Another token gets the mean over the known tokens that make it up,
    the longest first: a greedy form of the paper's method. So embeddings (old size, D) become (new size, D), and the
    bias of the output (old size,) becomes (new size,).
    """
    old, new = ((pair.source, pair.target) for pair in (start.tokenizers, tokenizers))
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
    """Return the ids of known pieces that make up `piece`, each the longest that fits.

    A character that begins no known piece becomes its bytes, or the unknown token where these have no ids.
    """
    parts: list[int] = []
    while piece:
        length = next((length for length in range(len(piece), 0, -1) if piece[:length] in ids), 0)
        if length:
            parts.append(ids[piece[:length]])
        else:
            length = 1
            parts += (ids.get(f"<0x{byte:02X}>", unknown_id) for byte in piece[0].encode())
        piece = piece[length:]
    return parts


def _means(rows: Floats, parts: list[list[int]]) -> Floats:
    """Return the mean of the rows (old size, ...) that each of the parts names: (new size, ...)."""
    return np.stack([rows[ids].mean(axis=0) for ids in parts])
