"""The spelling in which models have learned to read text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dragoman.text.abbreviations import without_abbreviations
from dragoman.text.contractions import with_apostrophes
from dragoman.text.shouting import calm
from dragoman.text.spelling import Spelling
from dragoman.text.tokenizer import Tokenizer

#: Pieces that an unknown one counts as, where the form of a word is chosen.
_UNKNOWN_COST = 9


@dataclass(frozen=True)
class Respelling:
    """Changes of a source text into what a model has seen in training."""

    #: That of the source language.
    tokenizer: Tokenizer
    #: The words of the training text.
    spelling: Spelling

    def respelled(self, text: str, language: str, *, is_shouted: bool, kept: Collection[str]) -> str:
        """Return a text without shouting and typing errors, with apostrophes, and with words for abbreviations.

        Args:
            language: its code.
            is_shouted: it is in capitals.
            kept: words in small letters that have no typing errors.
        """
        spelled = with_apostrophes(calm(text, language, self._cost) if is_shouted else text, language)
        if self.spelling.knows(language):
            spelled = without_abbreviations(spelled, language)
        return self.spelling.repaired(spelled, language, kept)

    def _cost(self, word: str) -> int:
        """Return the number of a word's pieces; an unknown one counts as many."""
        ids = self.tokenizer.encode(word)
        return len(ids) + _UNKNOWN_COST * ids.count(self.tokenizer.special_ids.unknown)
