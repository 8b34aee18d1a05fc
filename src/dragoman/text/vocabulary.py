"""The special tokens, and a vocabulary of whole words or characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat

from dragoman.errors import ConfigError
from dragoman.text.invisible import has_joiners, unknown_joiners, without_joiners

PAD_ID, UNK_ID, SOS_ID, EOS_ID = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")

MAX_WORDS = 10_000_000


class Vocabulary:
    """Words and their ids. The special tokens have the first four ids, and no word of a text is ever one of them:
    a word that is spelled "<pad>" has an id of its own, or is unknown.

    Args:
        words: the words from id 4 on, each once.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: index for index, word in enumerate(self.words, start=len(SPECIALS))}
        if len(self._ids) != len(self.words):
            raise ValueError("a word is there twice")

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], min_count: int = 1) -> Vocabulary:
        """The words seen at least `min_count` times, most frequent first, equally frequent ones by code points.

        Raises:
            ConfigError: there are words, but none so often.
        """
        kept = [word for word, count in counts.items() if count >= min_count]
        if counts and not kept:
            most = max(counts.values())
            raise ConfigError(
                f"nothing occurs {min_count:,} times, {most:,} at most", advice="lower tokenizer.min_count"
            )
        return cls(sorted(kept, key=lambda word: (-counts[word], word)))

    @classmethod
    def from_json(cls, value: object) -> Vocabulary:
        """The vocabulary that `to_json` gave.

        Raises:
            ValueError: it is not a list of different, non-empty strings of Unicode text.
        """
        if not isinstance(value, list) or len(value) > MAX_WORDS:
            raise ValueError("the words are not a list of a reasonable length")
        if not all(isinstance(word, str) and word for word in value):
            raise ValueError("a word is not a string, or empty")
        try:
            "".join(value).encode()
        except UnicodeEncodeError:
            raise ValueError("a word has half of a surrogate pair, which JSON can spell but no text has") from None
        return cls(value)

    def to_json(self) -> list[str]:
        """The words from id 4 on."""
        return list(self.words)

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def ids(self, words: Iterable[str]) -> list[int]:
        """The ids of words; unknown words have `UNK_ID`."""
        return list(map(self._ids.get, words, repeat(UNK_ID)))

    def without_unknown_joiners(self, text: str) -> str:
        """Remove the joiners that are in no word; a vocabulary without words is being learned, and keeps them."""
        return without_joiners(text, self._unknown) if self.words and has_joiners(text) else text

    @cached_property
    def _unknown(self) -> re.Pattern[str]:
        return unknown_joiners(self.words)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The words of ids, special tokens by name.

        Raises:
            IndexError: an id is outside the vocabulary.
        """
        n_specials = len(SPECIALS)
        return [SPECIALS[each] if 0 <= each < n_specials else self.words[each - n_specials] for each in ids]
