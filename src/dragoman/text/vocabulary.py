"""A vocabulary: pieces (words, subwords or characters) and their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat

from dragoman.errors import ConfigError, counted
from dragoman.machine.json_files import to_json
from dragoman.text.invisible import has_joiners, unknown_joiners, without_joiners
from dragoman.text.special_ids import SpecialIds

MAX_WORDS = 10_000_000


class Vocabulary:
    """Words or other pieces, and their ids. No piece of a text has a special id: a word that is spelled "<pad>" has an
    id of its own, or is unknown.

    Args:
        words: in the order of their ids, each once.
        special_ids: the words have the other ids.

    Raises:
        ValueError: a word is there twice, or a special id is too large for so few words.
    """

    def __init__(self, words: Sequence[str], special_ids: SpecialIds = SpecialIds()) -> None:
        self.words = tuple(words)
        self.special_ids = special_ids
        special_ids.require_size(len(self))
        if len(set(self.words)) != len(self.words):
            raise ValueError("a word is there twice")

    @cached_property
    def _pieces(self) -> list[str]:
        """The name of each id."""
        pieces = list(self.words)
        for id, name in sorted(self.special_ids.names.items()):
            pieces.insert(id, name)
        return pieces

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The id of each word."""
        return {piece: id for id, piece in enumerate(self._pieces) if id not in self.special_ids.names}

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], min_count: int = 1) -> Vocabulary:
        """Return the words seen at least `min_count` times, most frequent first, equally frequent ones by code points.

        Raises:
            ConfigError: there are words, but none occurs `min_count` times.
        """
        kept = [word for word, count in counts.items() if count >= min_count]
        if counts and not kept:
            most = max(counts.values())
            raise ConfigError(
                f"nothing occurs {counted(min_count, 'time')}, {most:,} at most", advice="lower tokenizer.min_count"
            )
        return cls(sorted(kept, key=lambda word: (-counts[word], word)))

    @classmethod
    def from_ids(cls, ids: Mapping[str, int], special_ids: SpecialIds) -> Vocabulary:
        """Return the vocabulary of a table from pieces to ids, such as the `vocab.json` of Marian's models.

        Raises:
            ValueError: the ids are not 0, 1, 2 and so on, each once.
        """
        if sorted(ids.values()) != list(range(len(ids))):
            raise ValueError("the ids are not 0, 1, 2 and so on, each once")
        pieces = sorted(ids, key=ids.__getitem__)
        return cls([piece for piece in pieces if ids[piece] not in special_ids.names], special_ids)

    @classmethod
    def from_json(cls, value: object, special_ids: SpecialIds = SpecialIds()) -> Vocabulary:
        """Return the vocabulary that `to_bytes` wrote as {"words": value}.

        Raises:
            ValueError: the value is not a list of different, non-empty strings of Unicode text.
        """
        if not isinstance(value, list) or len(value) > MAX_WORDS:
            raise ValueError("the words are not a list of a reasonable length")
        if not all(isinstance(word, str) and word for word in value):
            raise ValueError("a word is not a string, or empty")
        try:
            "".join(value).encode()
        except UnicodeEncodeError:
            raise ValueError("a word has half of a surrogate pair, which JSON can spell but no text has") from None
        return cls(value, special_ids)

    def to_bytes(self) -> bytes:
        """Return JSON with the list of words, in the order of their ids."""
        return to_json({"words": list(self.words)})

    def __len__(self) -> int:
        return len(self.words) + len(self.special_ids.names)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def ids(self, words: Iterable[str]) -> list[int]:
        """Return the ids of words; unknown words have the unknown id."""
        return list(map(self._ids.get, words, repeat(self.special_ids.unknown)))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the words of ids, and the names of special ids.

        Raises:
            IndexError: an id lies outside the vocabulary.
        """
        pieces = self._pieces
        return [pieces[id] for id in ids]

    def without_unknown_joiners(self, text: str) -> str:
        """Remove the joiners that are in no word; a vocabulary without words is being learned, and keeps them."""
        return without_joiners(text, self._unknown_joiners) if self.words and has_joiners(text) else text

    def known_form(self, word: str) -> str:
        """Return a word without its joiners if the vocabulary has only that form."""
        if not has_joiners(word) or word in self:
            return word
        plain = without_joiners(word)
        return plain if plain in self else word

    @cached_property
    def _unknown_joiners(self) -> re.Pattern[str]:
        return unknown_joiners(self.words)
