"""The parts that texts are translated in, decided before any search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.errors import ConfigError
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import harmless
from dragoman.text.learned_text import LearnedText
from dragoman.text.sentences import harmless_paragraphs
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import UNK_ID
from dragoman.translator.cutting import Limits, Part, cut
from dragoman.translator.results import Flag, merge_flags


@dataclass(frozen=True)
class Request:
    """The options of one call."""

    search: SearchConfig
    batch_size: int
    align: bool
    #: Cut texts into their sentences; None is as the model learned.
    sentences: bool | None


@dataclass(frozen=True)
class Plan:
    """A text, ready to be searched."""

    #: Without control characters.
    text: str
    parts: Sequence[Part]
    #: The beginning of its translation: as text before a part that is copied, else as ids.
    prefix: str
    prefix_ids: Sequence[int]

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Flags that are known before the search."""
        return merge_flags(part.flag for part in self.parts if part.flag is not None)

    @property
    def searched(self) -> list[tuple[list[int], list[int]]]:
        """The parts that are searched: ids, and the ids that their translation begins with."""
        return [
            (part.ids, [] if place else list(self.prefix_ids))
            for place, part in enumerate(self.parts)
            if not part.is_copied
        ]

    def copy(self, place: int) -> str:
        """The translation of a copied part: its text, after the prefix if it comes first."""
        text = self.parts[place].text
        return f"{self.prefix} {text}" if self.prefix and not place else text


class Planner:
    """Cuts texts for a model.

    Args:
        tokenizers: those of the model.
        max_length: tokens of the longest source that it reads.
        max_target: tokens of the longest translation that it writes, the end mark included.
        learned: the kind of text that it learned from, if known.
    """

    def __init__(self, tokenizers: Tokenizers, max_length: int, max_target: int, learned: LearnedText | None) -> None:
        self._tokenizers = tokenizers
        self._max_length = max_length
        self._max_target = max_target
        self._learned = learned

    def plan(self, text: str, prefix: str, number: int, request: Request) -> Plan:
        """Cut a text.

        Args:
            prefix: the beginning of its translation.
            number: of the text, for messages.

        Raises:
            ConfigError: the prefix cannot be the beginning of a translation.
        """
        text = harmless_paragraphs(text)
        parts = cut(text, self._tokenizers.source.encode, self._limits(request))
        prefix_ids = self._prefix_ids(harmless(prefix), number, request) if prefix else []
        return Plan(text, parts, harmless(prefix).strip(), prefix_ids)

    def _limits(self, request: Request) -> Limits:
        learned, sentences = self._learned, 1 if request.sentences else None
        if learned is None:
            return Limits(self._max_length, sentences)
        if request.sentences is None:
            sentences = learned.known_sentences
        copies_marks = not learned.knows_marks
        return Limits(self._max_length, sentences, learned.long_tokens, learned.usual_tokens, copies_marks)

    def _prefix_ids(self, prefix: str, number: int, request: Request) -> list[int]:
        first = self._tokenizers.target.encode(prefix)
        if UNK_ID in first:
            raise ConfigError(f"the prefix of text {number} has what the vocabulary lacks", advice="leave it out")
        most = min(request.search.max_length or self._max_target, self._max_target)
        if len(first) >= most:
            what = f"the prefix of text {number} has {len(first)} tokens, but its translation may have {most - 1}"
            raise ConfigError(what, advice="shorten it, or raise max_length")
        return first
