"""Learning a SentencePiece model from text."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sentencepiece

from dragoman.errors import ConfigError, ResourceError, is_out_of_memory
from dragoman.machine.workers import Workers
from dragoman.text.sentence_pieces import ERROR_LEVEL
from dragoman.text.special_ids import SpecialIds

#: Threads change the sums, and so the model, of unigram training; a fixed number gives equal models everywhere.
_TRAINING_THREADS = 16
_MAX_SENTENCE_BYTES = 100_000
_LESS_MEMORY = "use fewer pairs, or a machine with more memory"
_TOO_HIGH = re.compile(r"Vocabulary size too high \(\d+\)\. Please set it to a value <= (\d+)")
_TOO_LOW = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")


@dataclass(frozen=True)
class PieceRules:
    """The rules for the pieces of a model, and their number."""

    vocab_size: int  # special tokens, bytes, tags and reserved pieces included
    #: Raise an error if the texts do not allow `vocab_size`; otherwise, take the largest size that they allow.
    is_exact: bool
    byte_fallback: bool
    coverage: float  # share of the text that the characters of the model must make up
    split_digits: bool = False  # no piece has a digit and something else
    reserved: tuple[str, ...] = ()  # pieces that a text may have, and that are never cut
    tags: tuple[str, ...] = ()  # pieces that no text becomes
    required_characters: str = ""  # of the model, whatever `coverage` is

    def options(self) -> dict[str, Any]:
        """Return SentencePiece's options; those that are off are left out, because its models record them."""
        options: dict[str, Any] = {
            "vocab_size": self.vocab_size,
            "hard_vocab_limit": self.is_exact,
            "byte_fallback": self.byte_fallback,
            "character_coverage": self.coverage,
        }
        options |= {"split_digits": True} if self.split_digits else {}
        options |= {"user_defined_symbols": list(self.reserved)} if self.reserved else {}
        options |= {"control_symbols": list(self.tags)} if self.tags else {}
        return options | ({"required_chars": self.required_characters} if self.required_characters else {})


def learn_subword(texts: Iterable[str], kind: Literal["bpe", "unigram"], rules: PieceRules) -> bytes:
    """Learn a SentencePiece model and return it serialised; the same texts give the same bytes.

    Args:
        texts: cleaned, with single spaces between words; read once.

    Raises:
        ConfigError: the texts do not allow the vocabulary size; it states the largest or smallest size they do.
        ResourceError: RAM is too short.
    """
    options = {
        "model_type": kind,
        **rules.options(),
        "normalization_rule_name": "identity",
        "max_sentence_length": _MAX_SENTENCE_BYTES,
        "num_threads": _TRAINING_THREADS,
        "minloglevel": ERROR_LEVEL,
    }
    names = SpecialIds().names
    for name, id in zip(("pad", "unk", "bos", "eos"), sorted(names), strict=True):
        options |= {f"{name}_id": id, f"{name}_piece": names[id]}
    caller = os.getpid()

    def learn(_: None) -> bytes:
        if os.getpid() != caller:
            _abort_quietly()
        return _train(texts, rules.vocab_size, options)

    learner: Workers[None, bytes] = Workers(learn, 1, _LESS_MEMORY, is_apart=True)
    try:
        (model,) = learner.map([None])
    finally:
        learner.close()
    return model


def _abort_quietly() -> None:
    """Let this process, which SentencePiece aborts when RAM is short, print nothing and leave no dump of its memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _train(texts: Iterable[str], vocab_size: int, options: Mapping[str, Any]) -> bytes:
    """Learn in this process, and translate SentencePiece's errors."""
    model = io.BytesIO()
    stream = _Stream(texts)
    try:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(stream), model_writer=model, **options)
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            raise ResourceError("no RAM is left to learn the vocabulary", advice=_LESS_MEMORY) from None
        if stream.failure is None:
            raise _explain(str(error), vocab_size, is_empty=stream.is_empty) from None
    if stream.failure is not None:
        raise stream.failure
    return model.getvalue()


class _Stream:
    """Texts for SentencePiece. It hides an error in reading them, so this keeps the error."""

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
