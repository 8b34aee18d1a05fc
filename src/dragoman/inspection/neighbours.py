"""Tokens whose embeddings point in nearly the same direction. V vocabulary, D model width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from dragoman.errors import ConfigError, DataError, printable
from dragoman.inspection.inputs import single_model
from dragoman.text.cleaning import sanitize
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator import Translator


@dataclass(frozen=True)
class Neighbours:
    """A token and its nearest neighbours."""

    token: str
    #: Tokens with the cosine of the angle between their embeddings and this token's, the nearest first.
    nearest: tuple[tuple[str, float], ...]


@torch.inference_mode()
def nearest_neighbours(
    translator: Translator, word: str, *, side: Literal["source", "target"] = "source", n: int = 10
) -> Neighbours:
    """Return the n nearest neighbours of a word among the embeddings of one side.

    Args:
        word: a word that is one token, or a token as the tokenizer writes it.

    Raises:
        ConfigError: the translator is an ensemble, or n is less than 1.
        DataError: the word is unknown, or several tokens.
    """
    if n < 1:
        raise ConfigError(f"{n} neighbours", advice="ask for at least 1")
    model = single_model(translator)
    embedding = model.source_embedding if side == "source" else model.target_embedding
    tokenizer = translator.tokenizers.source if side == "source" else translator.tokenizers.target
    id = _token_id(tokenizer, word)
    directions = F.normalize(embedding.tokens.weight.float(), dim=-1)  # (V, D)
    similarities = directions @ directions[id]
    special_ids = tokenizer.special_ids.names
    similarities[[id, *special_ids]] = -torch.inf
    values, ids = similarities.topk(min(n, max(0, tokenizer.vocab_size - len(special_ids) - 1)))
    names = map(printable, tokenizer.pieces(ids.tolist()))
    return Neighbours(printable(tokenizer.pieces([id])[0]), tuple(zip(names, values.tolist(), strict=True)))


def _token_id(tokenizer: Tokenizer, word: str) -> int:
    """Return the only id of a word."""
    ids, special_ids = tokenizer.encode(sanitize(word)), tokenizer.special_ids
    if len(ids) == 1 and ids[0] != special_ids.unknown:
        return ids[0]
    for id, name in enumerate(tokenizer.pieces(range(tokenizer.vocab_size))):
        if name == word and id not in special_ids.names:
            return id
    if not ids or special_ids.unknown in ids:
        raise DataError(f"the vocabulary does not have the word {word!r}", advice="try another form of it")
    pieces = " ".join(tokenizer.pieces(ids))
    raise DataError(f"the word {word!r} is {len(ids)} tokens: {pieces}", advice="ask for one of them")
