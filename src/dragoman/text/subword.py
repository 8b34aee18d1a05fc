"""Text as pieces of words: SentencePiece models, byte-pair encoding or unigram.

The models leave characters as they are (normalisation `identity`; `cleaning` has composed them), so that case and
full-width punctuation come back in translations. U+2581, SentencePiece's mark of a space, is read as a space.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal

import sentencepiece

from dragoman.errors import ConfigError, is_out_of_memory
from dragoman.machine.isolation import run_apart
from dragoman.text.cleaning import clean, collapse_spaces, without_controls
from dragoman.text.invisible import has_joiners, unknown_joiners, without_joiners
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword_sampling import BpeDropout, Pieces, Sampler, UnigramSampling, remember

SPACE = "▁"

#: So many words are remembered with their pieces.
_MANY_WORDS = 1 << 16

#: Threads change the sums, and so the model, of unigram training; a fixed number gives equal models everywhere.
_TRAINING_THREADS = 16
_MAX_SENTENCE_BYTES = 100_000
#: The level from which SentencePiece may write to standard error: its warnings are no lines of ours.
_ERRORS = 2
_LESS_MEMORY = "use fewer pairs, or a machine with more memory"
_TOO_HIGH = re.compile(r"Vocabulary size too high \(\d+\)\. Please set it to a value <= (\d+)")
_TOO_LOW = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")


class Subword:
    """A tokenizer whose tokens are the pieces of a SentencePiece model.

    Args:
        model: the serialised SentencePiece model.
        kind: which algorithm made it.
        sampling: BPE-dropout's probability or unigram sampling's smoothing; 0 is off.

    Raises:
        ValueError: this is not a SentencePiece model with our special tokens, or one that does not split each word of a
            sentence by itself.
    """

    def __init__(
        self, model: bytes, kind: Literal["bpe", "unigram"], *, lowercase: bool = False, sampling: float = 0.0
    ) -> None:
        self._model = model
        self._kind = kind
        self._lowercase = lowercase
        self._sampling = sampling
        self._processor = _load(model)
        self._known_words = _KnownWords(self._processor)
        self.vocab_size: int = self._processor.get_piece_size()
        self.special_ids = SpecialIds()

    @staticmethod
    def cleaned(text: str, lowercase: bool) -> str:
        """Text to learn pieces from."""
        return " ".join(_words(clean(text), lowercase))

    def encode(self, text: str) -> list[int]:
        """The ids of the best segmentation of each word: no piece goes beyond one."""
        return list(chain.from_iterable(map(self._known_words.__getitem__, self._words_of(text))))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """The ids of a segmentation drawn with `key`; that of `encode` when sampling is off."""
        if not self._sampling:
            return self.encode(text)
        return self._sampler.sample([SPACE + word for word in self._words_of(text)], key)

    def split(self, text: str) -> list[str]:
        """The pieces of the best segmentation; what is no piece stands as it is in the text."""
        return [piece for word in self._words_of(text) for piece in self._processor.encode(word, out_type=str)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; bytes that are not UTF-8 are U+FFFD."""
        shown = [int(id) for id in ids if id not in self.special_ids.marks]
        return collapse_spaces(without_controls(self._processor.decode(shown)))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as a piece; one that begins a word begins with U+2581."""
        return [self._all_pieces[each] for each in ids]

    @property
    def learned(self) -> bytes:
        """The SentencePiece model."""
        return self._model

    def _words_of(self, text: str) -> list[str]:
        """Return the cleaned words of a text, without the joiners that are in no piece."""
        text = clean(text)
        return _words(without_joiners(text, self._unknown) if has_joiners(text) else text, self._lowercase)

    @cached_property
    def _unknown(self) -> re.Pattern[str]:
        return unknown_joiners(self._all_pieces)

    @cached_property
    def _all_pieces(self) -> list[str]:
        pieces: list[str] = self._processor.id_to_piece(list(range(self._processor.get_piece_size())))
        return pieces

    @cached_property
    def _sampler(self) -> Sampler:
        pieces = _pieces(self._processor)
        if self._kind == "bpe":
            return BpeDropout(pieces, self._sampling)
        return UnigramSampling(pieces, self._sampling)


def _words(text: str, lowercase: bool) -> list[str]:
    """The words of a cleaned text, each of which is split into pieces by itself."""
    text = text.replace(SPACE, " ")
    return (text.lower() if lowercase else text).split()


class _KnownWords(dict[str, tuple[int, ...]]):
    """The ids of each word's pieces, remembered: few words make most of a text, and looking one up takes a third of the
    time that SentencePiece needs."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        super().__init__()
        self._processor = processor

    def __missing__(self, word: str) -> tuple[int, ...]:
        ids = tuple(self._processor.encode(word))
        remember(self, _MANY_WORDS, word, word, ids)
        return ids


def _load(model: bytes) -> sentencepiece.SentencePieceProcessor:
    processor = sentencepiece.SentencePieceProcessor()
    sentencepiece.set_min_log_level(_ERRORS)
    try:
        processor.LoadFromSerializedProto(model)
    except RuntimeError:
        raise ValueError("SentencePiece cannot read it") from None
    special_ids = SpecialIds()
    names = [name for _, name in sorted(special_ids.names.items())]
    if processor.get_piece_size() <= len(names):
        raise ValueError("it has no pieces")
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))  # a ValueError if one is not UTF-8
    found = pieces[: len(names)]
    controls = {id for id in range(len(names)) if processor.is_control(id)}
    if found != names or controls != special_ids.marks or not processor.is_unknown(special_ids.unknown):
        raise ValueError(f"its first ids are {' '.join(found)}, not {' '.join(names)}")
    one_word = processor.encode("a")
    if any(SPACE in piece[1:] for piece in pieces) or processor.encode("a a") != [*one_word, *one_word]:
        raise ValueError("it does not split each word by itself")
    return processor


def _pieces(processor: sentencepiece.SentencePieceProcessor) -> Pieces:
    ids, byte_ids, unknown_id = {}, {}, processor.unk_id()
    for each in range(processor.get_piece_size()):
        piece = processor.id_to_piece(each)
        if processor.is_byte(each):
            byte_ids[int(piece[3:5], 16)] = each
        elif not (processor.is_control(each) or processor.is_unknown(each)):
            ids[piece] = each
    scores = {piece: processor.get_score(each) for piece, each in ids.items()}

    def spell(character: str) -> list[int]:
        return [byte_ids.get(byte, unknown_id) for byte in character.encode()] if byte_ids else [unknown_id]

    return Pieces(ids, scores, spell, unknown_id)


def learn_subword(
    texts: Iterable[str],
    kind: Literal["bpe", "unigram"],
    vocab_size: int,
    *,
    exact: bool,
    byte_fallback: bool,
    coverage: float,
) -> bytes:
    """Learn a SentencePiece model and return it serialised; the same texts give the same bytes.

    Args:
        texts: what `Subword.cleaned` gave; read once.
        vocab_size: special tokens included.
        exact: whether another size than `vocab_size` is an error, or the largest that the texts allow is good.
        coverage: share of all characters' occurrences that the model's characters must make up.

    Raises:
        ConfigError: the texts do not allow `vocab_size`; it states the largest or smallest size they do.
        ResourceError: memory is too short.
    """
    options = {
        "model_type": kind,
        "vocab_size": vocab_size,
        "hard_vocab_limit": exact,
        "byte_fallback": byte_fallback,
        "character_coverage": coverage,
        "normalization_rule_name": "identity",
        "max_sentence_length": _MAX_SENTENCE_BYTES,
        "num_threads": _TRAINING_THREADS,
        "minloglevel": _ERRORS,
    }
    names = SpecialIds().names
    for name, id in zip(("pad", "unk", "bos", "eos"), sorted(names), strict=True):
        options |= {f"{name}_id": id, f"{name}_piece": names[id]}
    # Short of memory, SentencePiece aborts the process that it is in.
    work = partial(_train, texts, vocab_size, options)
    return run_apart(work, "the process that learns the vocabulary", _LESS_MEMORY)


def _train(texts: Iterable[str], vocab_size: int, options: Mapping[str, Any]) -> bytes:
    """Run SentencePiece's training in this process, and turn its errors into ours."""
    model = io.BytesIO()
    stream = _Stream(texts)
    try:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(stream), model_writer=model, **options)
    except RuntimeError as error:
        if stream.failure is None:
            if is_out_of_memory(error):
                raise MemoryError(str(error)) from None
            raise _explain(str(error), vocab_size, is_empty=stream.is_empty) from None
    if stream.failure is not None:
        raise stream.failure
    return model.getvalue()


class _Stream:
    """Texts on their way into SentencePiece, which has no text of its own for an error that happens in reading them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self.is_empty = True
        self.failure: BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            for text in self._texts:
                if text:
                    self.is_empty = False
                    yield text
        except BaseException as failure:
            self.failure = failure
            raise


def _explain(message: str, vocab_size: int, *, is_empty: bool) -> ConfigError:
    if is_empty:
        return ConfigError("there is no text to learn a vocabulary from", advice="check the corpus")
    high, low = _TOO_HIGH.search(message), _TOO_LOW.search(message)
    if high:
        return ConfigError(
            f"tokenizer.vocab_size {vocab_size} is more than the corpus allows",
            advice=f"the largest possible is {high[1]}; it may be left out",
        )
    if low:
        return ConfigError(
            f"tokenizer.vocab_size {vocab_size} is too small for the characters of the corpus",
            advice=f"the smallest possible is {low[1]}; it may be left out",
        )
    return ConfigError(f"SentencePiece could not learn a vocabulary ({message})", advice="check the corpus")
