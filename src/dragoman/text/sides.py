"""The two sides of a pair of tokenizers: the rules of the settings for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.segmenter import Characters, Segmenter
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword import Subword
from dragoman.text.tags import Direction, reserved_names
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.vocabulary import Vocabulary
from dragoman.text.words import Words


@dataclass(frozen=True)
class Learned:
    """A vocabulary as it is learned from a corpus or read from files: a SentencePiece model, or words or characters.

    With both, the vocabulary numbers the pieces of the model otherwise than the model does.
    """

    model: bytes | None = None
    vocabulary: Vocabulary | None = None
    special_ids: SpecialIds | None = None  # among the model's own numbers; None is what the model says


@dataclass(frozen=True)
class Side:
    """One side of a pair: the rules by which its text is read and written."""

    config: TokenizerConfig
    index: Literal[0, 1]  # of its text in a pair
    lowercase: bool
    language: str  # whose rules split words
    output_language: str  # whose rules join them

    @property
    def vocabulary_name(self) -> str:
        """The name of the files of its vocabulary, without suffix."""
        return "joint" if self.config.is_joint else ("source", "target")[self.index]

    def segmenter(self) -> Segmenter:
        """Return what cuts text into words or characters."""
        if self.config.kind == "characters":
            return Characters(self.lowercase)
        return Words(self.language, output_language=self.output_language, lowercase=self.lowercase)

    def tokenizer(self, learned: Learned) -> Tokenizer:
        """Return the tokenizer with a vocabulary.

        Raises:
            ValueError: this is no such vocabulary.
        """
        if learned.model is None:
            return Tokenizer(self.segmenter(), learned.vocabulary or Vocabulary([]))
        return Subword(
            SentencePieces(learned.model, lowercase=self.lowercase),
            self.config.subword_kind,
            special_ids=learned.special_ids,
            vocabulary=learned.vocabulary,
            sampling=self.config.sampling,
            reserved=reserved_names(self.config.reserved),
        )


def sides_of(config: TokenizerConfig, directions: Sequence[Direction]) -> tuple[Side, Side]:
    """Return the source and the target. Where both share a vocabulary, words are split by rules for all languages."""
    source_lang, target_lang = directions[0]  # of the only direction, where words are split by rules
    source, target = ("xx", "xx") if config.is_joint else (source_lang, target_lang)
    output = target_lang if config.is_joint else source_lang
    return (
        Side(config, 0, config.lowercases_source, source, output),
        Side(config, 1, config.lowercase, target, target_lang),
    )


def build_both(sides: tuple[Side, Side], build: Callable[[Side], Tokenizer]) -> tuple[Tokenizer, Tokenizer]:
    """Build the tokenizers of the source and of the target, or one for both if they would be the same."""
    source, target = sides
    first = build(source)
    is_same = source.vocabulary_name == target.vocabulary_name and source.lowercase == target.lowercase
    second = first if is_same else build(target)
    return first, second if target.config.tags == "both" else second.without_tags()  # else a tag in a target is text
