"""The tokenizer of subwords: it remembers the pieces of words, and samples segmentations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import Literal, Self

from sentencepiece import SentencePieceProcessor

from dragoman.text.cleaning import clean
from dragoman.text.invisible import has_joiners
from dragoman.text.sentence_pieces import SPACE, SentencePieces
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword_sampling import BpeDropout, Pieces, Sampler, UnigramSampling, remember
from dragoman.text.tags import TAG, split_tags
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.vocabulary import Vocabulary

#: The pieces of this many words are cached.
_MANY_WORDS = 1 << 16


class Subword(Tokenizer):
    """A tokenizer whose tokens are the pieces of a SentencePiece model.

    Args:
        segmenter: the model.
        kind: the algorithm that made it.
        special_ids: those among the model's own numbers; None takes them from the model.
        vocabulary: other numbers than the model's own.
        sampling: BPE-dropout's probability or unigram sampling's smoothing; 0 is off.
        reserved: pieces of the model that it never cuts.

    Tags (`>>de<<`) that the model has as control symbols, or the vocabulary alone, are read where a text begins with
    them.

    Raises:
        ValueError: an ordinary piece has a special id; a reserved piece is missing or cut; or sampling with a model
            that does not cut each word by itself.
    """

    segmenter: SentencePieces

    def __init__(
        self,
        segmenter: SentencePieces,
        kind: Literal["bpe", "unigram"],
        *,
        special_ids: SpecialIds | None = None,
        vocabulary: Vocabulary | None = None,
        sampling: float = 0.0,
        reserved: Sequence[str] = (),
    ) -> None:
        super().__init__(segmenter, segmenter.vocabulary(special_ids) if vocabulary is None else vocabulary)
        if sampling and not segmenter.cuts_words:
            raise ValueError("it does not split each word by itself, and cannot be sampled")
        self._kind = kind
        self._sampling = sampling
        self._own_list = vocabulary
        self._reserved = tuple(reserved)
        self._tags = frozenset(_tags(self.vocabulary, segmenter))
        self._known_words = _KnownWords(segmenter.processor, vocabulary)
        if problem := _reserved_problem(reserved, self.vocabulary, segmenter):
            raise ValueError(problem)

    def encode(self, text: str) -> list[int]:
        """Return the ids of the best segmentation."""
        tags, words = self._tags_and_words(text)
        ids = list(chain.from_iterable(map(self._known_words.__getitem__, words)))
        return self.vocabulary.ids(tags) + ids if tags else ids

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return the ids of a segmentation drawn with `key`; that of `encode` when sampling is off."""
        if not self._sampling:
            return self.encode(text)
        tags, words = self._tags_and_words(text)
        parts = [part for word in words for part in self._parts(SPACE + word)]
        return [*self.vocabulary.ids(tags), *self._sampler.sample(parts, key)]

    def split(self, text: str) -> list[str]:
        """Return the pieces of the best segmentation; an unknown one has the characters of the text."""
        tags, words = self._tags_and_words(text)
        return [*tags, *(piece for word in words for piece in self.segmenter.cut(word))]

    @property
    def tags(self) -> frozenset[str]:
        """The tags that a text may begin with."""
        return self._tags

    @property
    def reserved(self) -> tuple[str, ...]:
        """The pieces that are never cut."""
        return self._reserved

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without padding and the marks of its start and end."""
        if self._tags:
            ids = [id for id in ids if id not in self._tag_ids]
        if self.has_piece_list:
            return super().decode(ids)
        marks = self.special_ids.marks
        return self.segmenter.join_numbers([int(id) for id in ids if id not in marks])

    def lowercasing(self) -> Self:
        """Return the tokenizer with the same vocabulary that reads text of any case as lower case."""
        lowercasing = type(self)(
            self.segmenter.lowercasing(),
            self._kind,
            special_ids=self.special_ids,
            vocabulary=self._own_list,
            sampling=self._sampling,
            reserved=self._reserved,
        )
        lowercasing._tags = self._tags
        return lowercasing

    def without_tags(self) -> Self:
        """Return the tokenizer with the same vocabulary that reads tags as text."""
        if not self._tags:
            return self
        without = copy(self)
        without._tags = frozenset()
        return without

    @property
    def has_piece_list(self) -> bool:
        """True if the vocabulary numbers the pieces otherwise than the model."""
        return self._own_list is not None

    def files(self) -> dict[str, bytes]:
        """Return the content of the model's file, by its suffix."""
        return {"model": self.segmenter.model}

    def _tags_and_words(self, text: str) -> tuple[Sequence[str], list[str]]:
        """Return the tags that a text begins with, and the parts of the rest that are cut by themselves."""
        text = clean(text)
        tags, text = split_tags(text, self._tags) if self._tags else ((), text)
        return tags, self.segmenter.words(self.vocabulary.without_unknown_joiners(text) if has_joiners(text) else text)

    def _parts(self, word: str) -> list[str]:
        """Return the parts of a word that may be cut, and the reserved pieces between them."""
        if not self._reserved or not self._reserved_pattern.search(word):
            return [word]
        return [part for part in self._reserved_pattern.split(word) if part]

    @cached_property
    def _reserved_pattern(self) -> re.Pattern[str]:
        return re.compile(f"({'|'.join(map(re.escape, self._reserved))})")

    @cached_property
    def _tag_ids(self) -> frozenset[int]:
        return frozenset(self.vocabulary.ids(self._tags))

    @cached_property
    def _sampler(self) -> Sampler:
        pieces = _sampled_pieces(self.segmenter, self.vocabulary, frozenset(self._reserved))
        return BpeDropout(pieces, self._sampling) if self._kind == "bpe" else UnigramSampling(pieces, self._sampling)


class _KnownWords(dict[str, tuple[int, ...]]):
    """A cache of the ids of each word's pieces. Few words make most of a text, and a look-up is three times as fast
    as SentencePiece."""

    def __init__(self, processor: SentencePieceProcessor, vocabulary: Vocabulary | None) -> None:
        super().__init__()
        self._processor = processor
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> tuple[int, ...]:
        if self._vocabulary is None:
            ids = tuple(self._processor.encode(word))
        else:
            ids = tuple(self._vocabulary.ids(self._processor.encode(word, out_type=str)))
        remember(self, _MANY_WORDS, word, word, ids)
        return ids


def _tags(vocabulary: Vocabulary, segmenter: SentencePieces) -> set[str]:
    """Return the tags of a vocabulary that no text becomes: the model has no such piece, or as a control symbol."""
    tags = {word for word in vocabulary.words if word.startswith(">>") and TAG.fullmatch(word)}
    is_control = segmenter.processor.is_control
    return tags and tags - {piece for id, piece in enumerate(segmenter.pieces) if piece in tags and not is_control(id)}


def _reserved_problem(reserved: Sequence[str], vocabulary: Vocabulary, segmenter: SentencePieces) -> str | None:
    """Say why the reserved pieces are not pieces that the model never cuts; None if they are."""
    if missing := [piece for piece in reserved if piece not in vocabulary]:
        return f"the reserved piece {missing[0]} is missing"
    together = segmenter.cut("".join(reserved)) if reserved else []
    return None if [piece for piece in together if piece != SPACE] == [*reserved] else "it cuts its reserved pieces"


def _sampled_pieces(segmenter: SentencePieces, vocabulary: Vocabulary, reserved: frozenset[str]) -> Pieces:
    """Return the pieces that samples are made of."""
    processor, ids, byte_ids = segmenter.processor, {}, {}
    scores = {}
    for model_id, piece in enumerate(segmenter.pieces):
        if piece not in vocabulary or processor.is_control(model_id):
            continue
        (id,) = vocabulary.ids([piece])
        if processor.is_byte(model_id):
            byte_ids[int(piece[3:5], 16)] = id
        else:
            ids[piece], scores[piece] = id, processor.get_score(model_id)
    unknown_id = vocabulary.special_ids.unknown

    def spell(character: str) -> list[int]:
        return [byte_ids.get(byte, unknown_id) for byte in character.encode()] if byte_ids else [unknown_id]

    return Pieces(ids, scores, spell, unknown_id, reserved)
