"""The text that each token of a vocabulary adds to a translation, for rules about words of any segmentation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dragoman.machine.arrays import Ints
from dragoman.text.segmenter import Characters, Segmenter
from dragoman.text.sentence_pieces import SPACE
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.words import Words

_BYTE = re.compile("<0x([0-9A-F]{2})>")
_FINAL = re.compile(r" ?[.!?…。！？]+")
#: The first character for a lone byte beyond ASCII; UTF-8 has no such character.
_LONE = 0xDC00


class Surfaces:
    """The texts of all tokens. A space is written before a word; a byte of UTF-8 is half of a surrogate pair.

    Args:
        texts: by id; special tokens have none.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        #: The ids of texts; of equal ones the first.
        self.ids = {text: id for id, text in reversed(list(enumerate(texts))) if text}

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Surfaces:
        """Return the texts of a tokenizer's tokens."""
        special, segmenter = tokenizer.special_ids.names, tokenizer.segmenter
        pieces = enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))
        return cls(["" if id in special else _text(piece, segmenter) for id, piece in pieces])

    @cached_property
    def final_marks(self) -> Ints:
        """The ids of the marks that end a sentence."""
        return np.array([id for id, text in enumerate(self.texts) if _FINAL.fullmatch(text)], dtype=np.int64)

    def beginning_with(self, text: str, most: int) -> list[int]:
        """Return the lowest ids whose texts begin with a text and go on, at most so many."""
        ordered = self._ordered
        first = bisect_left(ordered, text)
        last = bisect_left(ordered, text + chr(0x10FFFF))
        return sorted(self.ids[each] for each in ordered[first:last] if each != text)[:most]

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.ids)


def _text(piece: str, segmenter: Segmenter) -> str:
    if isinstance(segmenter, Characters):
        return piece
    if isinstance(segmenter, Words):
        return f" {piece}"
    if byte := _BYTE.fullmatch(piece):
        value = int(byte[1], 16)
        return chr(value) if value < 0x80 else chr(_LONE + value)
    return piece.replace(SPACE, " ")
