"""The results of a Translator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from dragoman.memories import MemoryMatch

#: A reason to read a translation with care:
#: `repetition`: a sequence is repeated again and again, and the text has no such sequence;
#: `length`: it is far longer or shorter than translations of such texts;
#: `copied`: a part of the text was copied, because no model, or not this one, can read it; or all of it, because of a
#: message of ICU;
#: `unusual`: the text is longer than the lines of the training text;
#: `span`: an address, a placeholder, an emoji, a quotation mark or the like is missing, changed or repeated;
#: `number`: a number, a month, a weekday, a time or its half of the day, a minus sign, a unit or a currency is missing,
#: changed or invented;
#: `script`: it has letters that its language does not use, and that are not in the text;
#: `term_missing`: it has none of the translations that are demanded of a term (`Translation.missing_terms`);
#: `low_confidence`: it is probably wrong, by its confidence (`dragoman.translator.confidence.least_confidence`);
#: `unsure`: its confidence is below `min_confidence`, so that the text itself stands in its place.
Flag = Literal[
    "repetition", "length", "copied", "unusual", "span", "number", "script", "term_missing", "low_confidence", "unsure"
]


def merge_flags(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Return each flag once, in the order of `Flag`."""
    raised = set(flags)
    return tuple(flag for flag in get_args(Flag) if flag in raised) if raised else ()


class PartTranslation(NamedTuple):
    """The translation of a part of a text that the model read at once: usually a sentence."""

    #: With the white space before it.
    text: str
    #: As in `Alternative`.
    score: float


@dataclass(frozen=True)
class Alternative:
    """One of the translations found for a text."""

    text: str
    #: The value that ranks it: `log_prob`, divided by the length penalty if the search has one.
    score: float
    #: Natural-log probability, the end of the sentence included; not normalised by length.
    log_prob: float
    #: The target tokens, as the tokenizer writes them.
    tokens: tuple[str, ...]
    #: The translations that `text` consists of; none if the model read the text at once.
    parts: tuple[PartTranslation, ...] = ()
    #: Pairs of a word of the text and a word of the translation, numbered from 0 by `dragoman.alignment.word_spans`.
    #: None if the request has no `align`.
    alignment: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class FirstStep:
    """A translation into the language in the middle, which a second step has translated on."""

    language: str
    text: str
    score: float
    confidence: float | None

    @classmethod
    def of(cls, language: str, translation: Translation) -> Self:
        """Return what is told of a translation."""
        return cls(language, translation.text, translation.score, translation.confidence)


@dataclass(frozen=True)
class Translation:
    """The best translation of a text, and its alternatives."""

    text: str
    #: As in `Alternative`; the sum over the segments if there are several.
    score: float
    tokens: tuple[str, ...]
    #: The n best, the best first; none for an empty text. A candidate that keeps spans and numbers comes before those
    #: of higher scores that do not.
    alternatives: tuple[Alternative, ...] = ()
    #: As in `Alternative`.
    alignment: tuple[tuple[int, int], ...] | None = None
    #: Segments that the text was cut into.
    n_parts: int = 1
    #: Reasons to read it with care, each once, in the order of `Flag`.
    flags: tuple[Flag, ...] = ()
    #: Translations of equal and similar texts in the request's memory, the best first. The translation is the first of
    #: them if its score is 1, and then `score` is 0 and `tokens` is empty.
    memory: tuple[MemoryMatch, ...] = ()
    #: The matches that it was taken from: one for the whole text, or one for each of its sentences that the memory has;
    #: the model has translated the others.
    recalled: tuple[MemoryMatch, ...] = ()
    #: The sources of the terms of which it has no translation.
    missing_terms: tuple[str, ...] = ()
    #: What a second search has mended: checks by their names, as in `Request.off`, "terms", "repetition" and
    #: "length", as flags have them, and "unfinished", if the end of the sentence was missing.
    repairs: tuple[str, ...] = ()
    #: The chrF2 that such translations have on average, from 0 to 1 (see `dragoman.translator.confidence`); of several
    #: segments, that of the least sure one. None if the model is not calibrated for the direction.
    confidence: float | None = None
    #: The numbers of doubtful words, as in alignments. None if the request has no `doubts`.
    doubtful: tuple[int, ...] | None = None
    #: What the search on a CUDA device cannot do, so that it ran in Python, more slowly: "sampling", for example. None
    #: if it ran on the device, and on other devices.
    fallback: str | None = None
    #: The translation into the language in the middle, if there were two steps. `score`, `confidence` and `alignment`
    #: are those of both.
    pivot: FirstStep | None = None


@dataclass(frozen=True)
class Score:
    """The probability of a given translation."""

    #: Natural-log probability, the end of the sentence included; not normalised by length.
    log_prob: float
    #: The same for each token; the last is the end of the sentence.
    token_log_probs: tuple[float, ...]
    tokens: tuple[str, ...]

    @property
    def per_token(self) -> float:
        """`log_prob` divided by the number of tokens, the end of the sentence included."""
        return self.log_prob / len(self.tokens)
