"""Text as whole words, found by spaCy's rules for the language and written back by Moses' rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dragoman.errors import ConfigError, install_advice
from dragoman.text.cleaning import without_controls
from dragoman.text.invisible import is_blank, is_one_emoji
from dragoman.text.languages import base_language

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer
    from spacy.tokens import Token

#: Endings that spaCy splits off and Moses' rules do not join again: "ca n't".
_JOINED_LEFT = ("n't", "n’t")
#: Endings that spaCy splits off in French: "a -t -il".
_FRENCH_INVERSION = re.compile(r"-[^\W\d]")
#: The form of a hyphen inside a word in Moses.
_INNER_HYPHEN = "@-@"


class Words:
    """Cuts text into words and punctuation marks.

    Args:
        language: its rules split the text; a code that spaCy does not know has the rules common to all languages.
        output_language: its rules join words again; the same unless one vocabulary serves two languages.
    """

    def __init__(self, language: str, *, output_language: str | None = None, lowercase: bool = False) -> None:
        self._language = language
        self._output_language = language if output_language is None else output_language
        self._lowercase = lowercase

    @cached_property
    def _rules(self) -> Callable[[str], Iterable[Token]]:
        return load_rules(self._language)

    @cached_property
    def _detokenizer(self) -> MosesDetokenizer:
        from sacremoses import MosesDetokenizer  # its import takes long, and most models never need it

        return MosesDetokenizer(lang=base_language(self._output_language))

    def split(self, text: str) -> list[str]:
        """Return the words of a cleaned text.

        Raises:
            ConfigError: spaCy is not installed.
        """
        words = [token.text for token in self._rules(text.strip())]
        return [word.lower() for word in words] if self._lowercase else words

    def join(self, pieces: Sequence[str | None]) -> str:
        """Return the sentence of words, with spaces where the language has them; an unknown word is "<unk>"."""
        texts = ["<unk>" if piece is None else piece for piece in pieces]
        is_french = base_language(self._output_language) == "fr"
        words: list[str] = []
        for index, piece in enumerate(texts):
            if words and (is_one_emoji(words[-1], piece) or _is_joined_left(piece, is_french)):
                words[-1] += piece
            elif piece == "-" and _is_inner(texts, index):
                words.append(_INNER_HYPHEN)
            elif not is_blank(piece):
                words.append(piece.strip())
        sentence: str = self._detokenizer.detokenize(words, unescape=False)
        return without_controls(sentence)

    def lowercasing(self) -> Words:
        """Return the same, with words lower-cased once the text is cut."""
        return Words(self._language, output_language=self._output_language, lowercase=True)


def _is_joined_left(piece: str, is_french: bool) -> bool:
    """Return True if a piece is the end of the word before it."""
    return piece in _JOINED_LEFT or (is_french and _FRENCH_INVERSION.match(piece) is not None)


def _is_inner(pieces: Sequence[str], index: int) -> bool:
    """Return True if the hyphen at `index` stands between two words, and so inside one ("t-shirt")."""
    if not 0 < index < len(pieces) - 1:
        return False
    return pieces[index - 1][-1:].isalnum() and pieces[index + 1][:1].isalnum()


def load_rules(language: str) -> Callable[[str], Iterable[Token]]:
    """Return spaCy's rules for a language, from an empty pipeline: nothing is downloaded.

    Raises:
        ConfigError: spaCy, or a package that its rules for this language stand on, is not installed.
    """
    try:
        import spacy
    except ImportError:
        raise ConfigError("tokenizer.kind 'words' needs spaCy", advice=install_advice("words")) from None
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
