"""The names of our ids in vocabularies of other programs: pieces, and the usual names of special ids."""

from __future__ import annotations

from typing import NamedTuple

from dragoman.text.tokenizer import Tokenizer, Tokenizers


class PieceNames(NamedTuple):
    """The name of each source and target id, and those of the special ids, which both sides share."""

    source: list[str]
    target: list[str]
    start: str
    pad: str
    unknown: str
    end: str


def piece_names(tokenizers: Tokenizers, usual: tuple[str, str, str, str]) -> PieceNames:
    """Return the names.

    Args:
        usual: names of start, padding, unknown token and end. One that a piece has, too, is made longer. A start that
            is the padding has the name of the padding.
    """
    words = {*tokenizers.source.vocabulary.words, *tokenizers.target.vocabulary.words}
    names = [_free(name, words) for name in usual]
    source, target = (_with_names(tokenizer, names) for tokenizer in (tokenizers.source, tokenizers.target))
    return PieceNames(source, target, target[tokenizers.target.special_ids.start], *names[1:])


def _free(name: str, words: set[str]) -> str:
    while name in words:
        name = f"{name}_"
    return name


def _with_names(tokenizer: Tokenizer, names: list[str]) -> list[str]:
    ids, pieces = tokenizer.special_ids, tokenizer.pieces(range(tokenizer.vocab_size))
    start, pad, unknown, end = names
    for id, name in ((ids.start, start), (ids.unknown, unknown), (ids.end, end), (ids.pad, pad)):
        pieces[id] = name
    return pieces


def never_written(tokenizers: Tokenizers) -> list[int]:
    """Return the target ids that a translation never has: padding, start, and the reserved pieces.

    Our search forbids them; other programs must be told. They mask nothing, so that reserved pieces have no use there.
    """
    target = tokenizers.target
    marks = target.special_ids.marks - {target.special_ids.end}
    return sorted({*marks, *target.vocabulary.ids(tokenizers.reserved)})
