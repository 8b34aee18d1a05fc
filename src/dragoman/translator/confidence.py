"""The confidence in a translation: how near to a human one such translations were on validation text.

A model's probabilities put its translations in a good order, but say little by themselves. So a calibration maps the
log-probability of a translation, divided by its tokens, to the mean chrF2 that translations of such probability had,
from 0 to 1. The map never falls, so it keeps the order (isotonic regression; Zadrozny and Elkan 2002, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field

from dragoman.errors import BundleError, ConfigError
from dragoman.settings.sections import Section, parse_section
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.tags import Direction

#: The key of the calibrations in the facts of a bundle.
FACT = "confidence"
#: The chrF2 below which a translation is more often wrong than right, as people judge it, in languages with spaces
#: between words and in others: `benchmarks/marks.py`.
_LEAST, _LEAST_UNSPACED = 0.55, 0.3
#: Points of a calibration at most.
MOST_POINTS = 100

LogProb = Annotated[float, Field(le=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Calibration(Section):
    """The calibration of a model in one direction."""

    log_probs: Annotated[tuple[LogProb, ...], Field(min_length=1, max_length=MOST_POINTS)]
    """Log-probabilities of translations, each divided by its tokens and the end of the sentence; they rise."""
    chrf: Annotated[tuple[Share, ...], Field(min_length=1, max_length=MOST_POINTS)]
    """The mean chrF2 of translations of these, as a share; it never falls."""
    doubtful_below: LogProb
    """Of the words with a token of this log-probability, one in three is in the reference; below, fewer."""
    n_sentences: Annotated[int, Field(ge=1)]
    """Pairs that it was learned from."""
    error: Share
    """The mean distance of confidence and chrF2, in ten groups of sentences that it was not learned from."""
    correlation: Annotated[float, Field(ge=-1, le=1)]
    """Pearson's, of the confidence in these sentences with their chrF2."""

    def contradictions(self) -> Iterator[str]:
        """Report values that are not in their order."""
        if len(self.log_probs) != len(self.chrf):
            yield f"{len(self.log_probs)} log-probabilities but {len(self.chrf)} scores"
        if any(low >= high for low, high in zip(self.log_probs, self.log_probs[1:], strict=False)):
            yield "log-probabilities that do not rise"
        if list(self.chrf) != sorted(self.chrf):
            yield "scores that fall"

    def confidence(self, log_prob: float, n_tokens: int) -> float:
        """Return the confidence in the translation of a segment, 0 to 1.

        Args:
            n_tokens: of the translation, its end included.
        """
        return round(float(np.interp(log_prob / n_tokens, self.log_probs, self.chrf)), 4)

    def doubtful(self, word_log_probs: Mapping[int, float]) -> tuple[int, ...]:
        """Return the numbers of the doubtful words, given the log-probability of each word's least probable token."""
        return tuple(sorted(word for word, log_prob in word_log_probs.items() if log_prob < self.doubtful_below))


class Calibrations(Section):
    """The calibrations of a model, as its bundle has them."""

    measure: Literal["chrF2"] = "chrF2"
    """The score that the confidence is calibrated to."""
    directions: dict[str, Calibration]
    """By the direction, such as en-de."""

    @classmethod
    def of_bundle(cls, facts: Mapping[str, Any], name: str | Path) -> Self | None:
        """Return the calibrations of a bundle; None if it has none.

        Raises:
            BundleError: they are malformed.
        """
        if FACT not in facts:
            return None
        try:
            return parse_section(cls, facts[FACT] if isinstance(facts[FACT], Mapping) else {})
        except ConfigError as error:
            raise BundleError(f"its calibration is wrong ({error.message})", name) from None

    def of(self, source_lang: str | None, target_lang: str) -> Calibration | None:
        """Return the calibration of a direction; where the source is unknown, the first that ends in the target."""
        if source_lang is not None:
            return self.directions.get(direction_key((source_lang, target_lang)))
        return next((one for key, one in self.directions.items() if key.endswith(f"-{target_lang}")), None)


def direction_key(direction: Direction) -> str:
    """Return the name of a direction in a bundle: en-de."""
    return "-".join(direction)


def least_confidence(target_lang: str) -> float:
    """Return the confidence below which a translation into a language is probably wrong."""
    return _LEAST_UNSPACED if base_language(target_lang) in WITHOUT_SPACES else _LEAST
