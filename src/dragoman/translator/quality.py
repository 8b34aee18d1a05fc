"""The quality of translations, estimated without references: how probable each side is as a translation of the other.

A translator knows most faults of its own translations by their probabilities (Fomicheva et al. 2020, section 3.1). What
it left out shows only in the other direction, where nothing written explains the missing words; so both are combined,
as Yee et al. (2019, section 2) do to choose among candidates with a noisy channel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from dragoman.errors import DataError
from dragoman.text.tags import Direction
from dragoman.translator.directions import Directions
from dragoman.translator.options import LanguageOptions, ScoreOptions
from dragoman.translator.results import Score
from dragoman.translator.scoring import PairScorer

#: The weight of the probability of the source given the translation; that of the translation is 1. A half serves best
#: on the validation text of `everyday`: `benchmarks/quality_estimation.py`.
BACK = 0.5


class BackPair(NamedTuple):
    """A source and its translation, in a direction."""

    source: str
    translation: str
    direction: Direction


def joint(forward: float, back: float) -> float:
    """Return the weighted mean of the log-probabilities of a token in both directions."""
    return (forward + BACK * back) / (1 + BACK)


class QualityEstimator:
    """Estimator of the quality of translations, by the model that may have made them.

    Args:
        scorer: of given translations, by the same model.
        directions: those of the model.
    """

    def __init__(self, scorer: PairScorer, directions: Directions) -> None:
        self._scorer = scorer
        self._directions = directions

    def quality(
        self, sources: str | Sequence[str], targets: str | Sequence[str], options: ScoreOptions
    ) -> float | list[float]:
        """See `Translator.quality`."""
        scores = self._scorer.score(sources, targets, options)
        direction = self._directions.both_ways(options.get("source_lang"), options.get("target_lang"))
        if isinstance(scores, Score):
            return self._estimates([scores], [str(sources)], [str(targets)], direction, options)[0]
        return self._estimates(scores, sources, targets, direction, options)

    def _estimates(
        self,
        scores: Sequence[Score],
        sources: Sequence[str],
        targets: Sequence[str],
        direction: Direction | None,
        options: ScoreOptions,
    ) -> list[float]:
        forward = [score.per_token for score in scores]
        if direction is None:
            return [math.exp(each) for each in forward]
        pairs = [BackPair(*pair, direction) for pair in zip(sources, targets, strict=True)]
        back = self.back(pairs, options.get("batch_size"))
        for number, each in enumerate(back, 1):
            if each == -math.inf:
                raise DataError(f"pair {number} is too long to be read back", advice="leave it out")
        return [math.exp(joint(*both)) for both in zip(forward, back, strict=True)]

    def back(self, pairs: Sequence[BackPair], batch_size: int | None = None) -> list[float]:
        """Return the log-probability of each source given its translation, divided by its tokens.

        A pair that is too long for the model has minus infinity.

        Args:
            batch_size: tokens that are scored at once; None is a default for the device.
        """
        found = [-math.inf] * len(pairs)
        in_order = sorted(range(len(pairs)), key=lambda row: pairs[row].direction)
        for direction, group in groupby(in_order, key=lambda row: pairs[row].direction):
            source_lang, target_lang = direction
            languages: LanguageOptions = {"source_lang": target_lang, "target_lang": source_lang}
            rows = [row for row in group if self._scorer.fits(pairs[row].translation, pairs[row].source, languages)]
            texts = [pairs[row].translation for row in rows], [pairs[row].source for row in rows]
            scores = self._scorer.score_lists(*texts, {**languages, "batch_size": batch_size})
            for row, score in zip(rows, scores, strict=True):
                found[row] = score.per_token
        return found
