"""Tokens that a translation never has. Our search forbids them; other programs must be told."""

from __future__ import annotations

from dragoman.text.tokenizer import Tokenizers


def never_written(tokenizers: Tokenizers) -> list[int]:
    """Return the target ids of padding, start, and the reserved pieces, because nothing is masked elsewhere."""
    target = tokenizers.target
    marks = target.special_ids.marks - {target.special_ids.end}
    return sorted({*marks, *target.vocabulary.ids(tokenizers.reserved)})
