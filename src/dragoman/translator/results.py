"""What a Translator returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

#: A reason to read a translation with care:
#: `repetition`: a stretch of it is written again and again, and the text has no such stretch;
#: `length`: it is far longer or shorter than translations of such texts are;
#: `copied`: a part of the text was copied, because no model can translate it;
#: `unusual`: the text is longer than what the model learned from.
Flag = Literal["repetition", "length", "copied", "unusual"]


def merge_flags(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Return each flag once, in the order of `Flag`."""
    found = set(flags)
    return tuple(flag for flag in get_args(Flag) if flag in found)


@dataclass(frozen=True)
class Alternative:
    """One of the translations found for a text."""

    text: str
    #: What it is ranked by: `log_prob`, divided by the length penalty if the search has one.
    score: float
    #: Natural-log probability, the end of the sentence included; not normalised by length.
    log_prob: float
    #: The target tokens, as the tokenizer writes them.
    tokens: tuple[str, ...]
    #: Which word of the text (from 0) each word of the translation comes from, as `dragoman.alignment.words` numbers
    #: them: (source word, target word). None when it was not asked for.
    alignment: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class Translation:
    """The best translation of a text, with the others when more were asked for."""

    text: str
    #: As in `Alternative`; the sum over the parts if the text was translated in parts.
    score: float
    tokens: tuple[str, ...]
    #: The n best, the best first; empty for an empty text.
    alternatives: tuple[Alternative, ...] = ()
    #: As in `Alternative`.
    alignment: tuple[tuple[int, int], ...] | None = None
    #: How many parts the text was cut into.
    n_parts: int = 1
    #: Reasons to read it with care, each once, in the order of `Flag`.
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Score:
    """How probable a model finds a given translation."""

    #: Natural-log probability, the end of the sentence included; not normalised by length.
    log_prob: float
    #: The same for each token; the last is the end of the sentence.
    token_log_probs: tuple[float, ...]
    tokens: tuple[str, ...]

    @property
    def per_token(self) -> float:
        """`log_prob` divided by the number of tokens, the end of the sentence included."""
        return self.log_prob / len(self.tokens)
