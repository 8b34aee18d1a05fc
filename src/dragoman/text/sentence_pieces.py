"""Text as pieces of words: a SentencePiece model, byte-pair encoding or unigram.

The models that are learned here leave characters as they are (normalisation `identity`; `cleaning` has composed them),
so that case and full-width punctuation come back in translations. Others may normalise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import sentencepiece

from dragoman.text.cleaning import collapse_spaces, without_controls
from dragoman.text.special_ids import SpecialIds
from dragoman.text.vocabulary import Vocabulary

#: SentencePiece's mark of a space, U+2581. In a text, it is read as a space.
SPACE = "▁"
#: The lowest level that SentencePiece writes to standard error: its warnings would mix with our lines.
ERROR_LEVEL = 2


def split_words(text: str, lowercase: bool) -> list[str]:
    """Return the words of a cleaned text, each of which is cut into pieces by itself."""
    text = text.replace(SPACE, " ")
    return (text.lower() if lowercase else text).split()


class SentencePieces:
    """Cuts text into the pieces of a SentencePiece model.

    Args:
        model: the serialised model.
        lowercase: lower-case text first.

    Raises:
        ValueError: this is no SentencePiece model.
    """

    def __init__(self, model: bytes, *, lowercase: bool = False) -> None:
        self.model = model
        self.lowercase = lowercase
        self.processor = sentencepiece.SentencePieceProcessor()
        sentencepiece.set_min_log_level(ERROR_LEVEL)
        try:
            self.processor.LoadFromSerializedProto(model)
        except RuntimeError:
            raise ValueError("SentencePiece cannot read it") from None
        #: True if a piece has a space inside. To read the pieces raises a ValueError if one is not UTF-8.
        self._has_inner_space = any(SPACE in piece[1:] for piece in self.pieces)

    def __len__(self) -> int:
        """Return the number of pieces."""
        return int(self.processor.get_piece_size())

    @property
    def pieces(self) -> list[str]:
        """The pieces by SentencePiece's ids, made anew: with 256,000 of them a list takes 25 MB of RAM."""
        pieces: list[str] = self.processor.id_to_piece(list(range(len(self))))
        return pieces

    @cached_property
    def cuts_words(self) -> bool:
        """True if the model cuts each word by itself, so that no piece goes beyond one."""
        encode = self.processor.encode
        word = encode("a")
        is_apart = encode("a a") == encode(" a  a ") == [*word, *word]
        return is_apart and not self._has_inner_space

    @cached_property
    def algorithm(self) -> Literal["bpe", "unigram"]:
        """The algorithm that made the model: scores of byte pairs are their ranks, 0, -1, -2 and so on."""
        processor = self.processor
        numbers = range(len(self))
        ordinary = [id for id in numbers if not (processor.is_control(id) or processor.is_unknown(id))]
        scores = [processor.get_score(id) for id in ordinary if not (processor.is_byte(id) or processor.is_unused(id))]
        return "bpe" if all(score == int(score) for score in scores) else "unigram"

    @cached_property
    def special_ids(self) -> SpecialIds:
        """The special ids of the model; it may lack all but the unknown one.

        An end or padding that the model lacks follows the last of its pieces, and text starts with padding where the
        model has no start.
        """
        processor, size = self.processor, len(self)
        end = processor.eos_id() if processor.eos_id() >= 0 else size
        pad = processor.pad_id() if processor.pad_id() >= 0 else size + (end == size)
        start = processor.bos_id() if processor.bos_id() >= 0 else pad
        return SpecialIds(pad=pad, unknown=processor.unk_id(), start=start, end=end)

    def vocabulary(self, special_ids: SpecialIds | None = None) -> Vocabulary:
        """Return the vocabulary with the model's own numbers.

        Args:
            special_ids: None is those of the model.

        Raises:
            ValueError: an ordinary piece has a special id, or there are no others.
        """
        special_ids = special_ids or self.special_ids
        words = self.pieces
        marks = [id for id in sorted(special_ids.marks) if id < len(words)]
        if special_ids.unknown != self.processor.unk_id() or not all(map(self.processor.is_control, marks)):
            ids = [id for id in sorted(special_ids.names) if id < len(words)]
            names = " ".join(words[id] for id in ids)
            raise ValueError(f"its ids {', '.join(map(str, ids))} are {names}, not all special")
        for id in sorted(special_ids.names, reverse=True):
            del words[id : id + 1]
        if not words:
            raise ValueError("it has no pieces")
        return Vocabulary(words, special_ids)

    def words(self, text: str) -> list[str]:
        """Return the parts of a cleaned text that are cut by themselves."""
        if not self.cuts_words:
            return [text.lower() if self.lowercase else text] if text else []
        text = text.replace(SPACE, " ")  # `split_words`, without a call for each line of a corpus
        return (text.lower() if self.lowercase else text).split()

    def cut(self, word: str) -> list[str]:
        """Return the pieces of the best segmentation of a part; an unknown one has the characters of the text."""
        pieces: list[str] = self.processor.encode(word, out_type=str)
        return pieces

    def split(self, text: str) -> list[str]:
        """Return the pieces of a cleaned text."""
        return [piece for word in self.words(text) for piece in self.cut(word)]

    def join(self, pieces: Sequence[str | None]) -> str:
        """Return the text of pieces; bytes that are not UTF-8 are U+FFFD.

        A vocabulary of Marian's has pieces of the other side's model, whose spaces this one does not write as spaces.
        """
        unknown = self.processor.id_to_piece(self.processor.unk_id())
        text = self.processor.decode_pieces([unknown if piece is None else piece for piece in pieces])
        return _one_line(text.replace(SPACE, " "))

    def join_numbers(self, numbers: list[int]) -> str:
        """Return the text of pieces that are given by the model's own numbers; faster than `join`."""
        return _one_line(self.processor.decode(numbers))

    def lowercasing(self) -> SentencePieces:
        """Return the same, with text lower-cased first."""
        return SentencePieces(self.model, lowercase=True)


def _one_line(text: str) -> str:
    return collapse_spaces(without_controls(text))
