"""Which tokens have embeddings that point in nearly the same direction. V vocabulary, D model width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from dragoman.errors import ConfigError, DataError, printable
from dragoman.inspection.reading import single_model
from dragoman.text.cleaning import harmless
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.vocabulary import SPECIALS, UNK_ID
from dragoman.translator import Translator


@dataclass(frozen=True)
class Neighbours:
    """A token and those nearest to it."""

    token: str
    #: Tokens with the cosine of the angle between their embeddings and this token's, the nearest first.
    nearest: tuple[tuple[str, float], ...]


@torch.inference_mode()
def nearest_neighbours(
    translator: Translator, word: str, *, side: Literal["source", "target"] = "source", n: int = 10
) -> Neighbours:
    """The n nearest neighbours of a word among the embeddings of one side.

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
    similarities[[id, *range(len(SPECIALS))]] = -torch.inf
    values, ids = similarities.topk(min(n, max(0, tokenizer.vocab_size - len(SPECIALS) - 1)))
    names = map(printable, tokenizer.pieces(ids.tolist()))
    return Neighbours(printable(tokenizer.pieces([id])[0]), tuple(zip(names, values.tolist(), strict=True)))


def _token_id(tokenizer: Tokenizer, word: str) -> int:
    """The one id of a word."""
    ids = tokenizer.encode(harmless(word))
    if len(ids) == 1 and ids[0] != UNK_ID:
        return ids[0]
    names = tokenizer.pieces(range(len(SPECIALS), tokenizer.vocab_size))
    if word in names:
        return names.index(word) + len(SPECIALS)
    if not ids or UNK_ID in ids:
        raise DataError(f"the vocabulary does not have the word {word!r}", advice="try another form of it")
    pieces = " ".join(tokenizer.pieces(ids))
    raise DataError(f"the word {word!r} is {len(ids)} tokens: {pieces}", advice="ask for one of them")
