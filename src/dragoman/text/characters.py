"""Text as Unicode characters, spaces included."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.text.cleaning import REPLACEMENT, clean, without_controls
from dragoman.text.special_ids import SpecialIds
from dragoman.text.vocabulary import Vocabulary


class Characters:
    """A tokenizer whose tokens are single characters (code points)."""

    def __init__(self, vocabulary: Vocabulary, *, lowercase: bool = False) -> None:
        self._vocabulary = vocabulary
        self._lowercase = lowercase

    @property
    def vocab_size(self) -> int:
        """Number of ids, special tokens included."""
        return len(self._vocabulary)

    @property
    def special_ids(self) -> SpecialIds:
        """Those of the vocabulary."""
        return self._vocabulary.special_ids

    def split(self, text: str) -> str:
        """The characters that `encode` looks up."""
        text = self._vocabulary.without_unknown_joiners(clean(text))
        return text.lower() if self._lowercase else text

    def encode(self, text: str) -> list[int]:
        """The id of each character."""
        return self._vocabulary.ids(self.split(text))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Characters have one segmentation only: the same as `encode`."""
        return self.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; an unknown character is U+FFFD."""
        shown = [id for id in ids if id not in self.special_ids.marks]
        pieces = zip(shown, self._vocabulary.pieces(shown), strict=True)
        return without_controls(
            "".join(REPLACEMENT if id == self.special_ids.unknown else piece for id, piece in pieces)
        )

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as a character."""
        return self._vocabulary.pieces(ids)

    @property
    def learned(self) -> Vocabulary:
        """The list of characters."""
        return self._vocabulary
