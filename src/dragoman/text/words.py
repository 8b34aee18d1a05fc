"""Text as whole words, found by spaCy's rules for the language and written back by Moses' rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dragoman.errors import ConfigError
from dragoman.text.cleaning import clean, without_controls
from dragoman.text.invisible import has_joiners, is_blank, is_one_emoji, without_joiners
from dragoman.text.languages import base_language
from dragoman.text.special_ids import SpecialIds
from dragoman.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer
    from spacy.tokens import Token

#: What spaCy splits off and Moses' rules do not join again: "ca n't".
_JOINED_LEFT = ("n't", "n’t")
#: What spaCy splits off in French: "a -t -il".
_FRENCH_INVERSION = re.compile(r"-[^\W\d]")
#: How Moses writes a hyphen inside a word.
_INNER_HYPHEN = "@-@"


class Words:
    """A tokenizer whose tokens are words and punctuation marks.

    Args:
        vocabulary: the words that are known.
        language: its rules split the text; a code that spaCy does not know has the rules common to all languages.
        output_language: its rules join words again; the same unless one vocabulary serves two languages.
    """

    def __init__(
        self, vocabulary: Vocabulary, language: str, *, output_language: str | None = None, lowercase: bool = False
    ) -> None:
        self._vocabulary = vocabulary
        self._language = language
        self._output_language = language if output_language is None else output_language
        self._lowercase = lowercase

    @property
    def vocab_size(self) -> int:
        """Number of ids, special tokens included."""
        return len(self._vocabulary)

    @property
    def special_ids(self) -> SpecialIds:
        """Those of the vocabulary."""
        return self._vocabulary.special_ids

    @cached_property
    def _rules(self) -> Callable[[str], Iterable[Token]]:
        return load_rules(self._language)

    @cached_property
    def _detokenizer(self) -> MosesDetokenizer:
        from sacremoses import MosesDetokenizer  # its import takes long, and most models never need it

        return MosesDetokenizer(lang=base_language(self._output_language))

    def split(self, text: str) -> list[str]:
        """The words that `encode` looks up."""
        text = self._vocabulary.without_unknown_joiners(clean(text))
        words = [token.text for token in self._rules(text.strip())]
        return [self._known_form(word.lower() if self._lowercase else word) for word in words]

    def encode(self, text: str) -> list[int]:
        """The id of each word.

        Raises:
            ConfigError: spaCy is not installed.
        """
        return self._vocabulary.ids(self.split(text))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Words have one segmentation only: the same as `encode`."""
        return self.encode(text)

    def _known_form(self, word: str) -> str:
        """Return the word without its joiners, where the vocabulary has it only so."""
        if not has_joiners(word) or word in self._vocabulary:
            return word
        plain = without_joiners(word)
        return plain if plain in self._vocabulary else word

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence of ids, with spaces where the language has them."""
        pieces = self._vocabulary.pieces(id for id in ids if id not in self.special_ids.marks)
        is_french = base_language(self._output_language) == "fr"
        words: list[str] = []
        for position, piece in enumerate(pieces):
            if words and (is_one_emoji(words[-1], piece) or _is_joined_left(piece, is_french)):
                words[-1] += piece
            elif piece == "-" and _is_inner(pieces, position):
                words.append(_INNER_HYPHEN)
            elif not is_blank(piece):
                words.append(piece.strip())
        sentence: str = self._detokenizer.detokenize(words, unescape=False)
        return without_controls(sentence)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as a word."""
        return self._vocabulary.pieces(ids)

    @property
    def learned(self) -> Vocabulary:
        """The list of words."""
        return self._vocabulary


def _is_joined_left(piece: str, is_french: bool) -> bool:
    """True if a piece is the end of the word before it."""
    return piece in _JOINED_LEFT or (is_french and _FRENCH_INVERSION.match(piece) is not None)


def _is_inner(pieces: Sequence[str], position: int) -> bool:
    """Whether the hyphen at `position` stands between two words, and so inside one ("t-shirt")."""
    if not 0 < position < len(pieces) - 1:
        return False
    return pieces[position - 1][-1:].isalnum() and pieces[position + 1][:1].isalnum()


def load_rules(language: str) -> Callable[[str], Iterable[Token]]:
    """spaCy's rules for a language, from an empty pipeline: nothing is downloaded.

    Raises:
        ConfigError: spaCy, or a package that its rules for this language stand on, is not installed.
    """
    try:
        import spacy
    except ImportError:
        raise ConfigError(
            "tokenizer.kind 'words' needs spaCy, which is not installed",
            advice='pip install "dragoman[words]"',
        ) from None
    code = base_language(language)
    known = re.fullmatch("[a-z]{2,3}", code) is not None and find_spec(f"spacy.lang.{code}") is not None
    try:
        return spacy.blank(code if known else "xx").tokenizer
    except ImportError as error:
        reason = str(error).strip().split("\n")[0]
        raise ConfigError(
            f"spaCy cannot split the language {code!r} into words ({reason})",
            advice="use tokenizer.kind bpe or characters",
        ) from None
