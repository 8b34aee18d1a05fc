"""Lines of two sides, and how well each fits as the translation of another, in any two languages.

A score is a log-likelihood ratio: of the features of two lines if one translates the other, and if they are any two
lines of the corpus. Features are the length, the numbers of question marks, digits and the like, and words written the
same in both languages, such as names. The likelihoods are learned from the lines. n lines, F features.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dragoman.text.languages import UNSPACED

Scores = NDArray[np.float64]
#: Function of a shift: the score of each source line with the target line that many lines further down.
ShiftScores = Callable[[int], Scores]

#: Classes of marks that translations tend to keep, each with its forms in several scripts; digits, and capitals.
_CLASSES = (
    "?？؟⁇;",
    "!！¡",
    ",，、،;；",
    "'\"“”„«»「」『』‘’‹›",
    "()（）[]【】",
    ":：",
    "-–—―",
    "%％$€£°+=<>&*/_{}@#",
    "…",
)
_CLASS_OF = {mark: number for number, marks in enumerate(_CLASSES, start=1) for mark in marks}
_DIGITS, _CAPITALS = len(_CLASSES) + 1, len(_CLASSES) + 2
_MARK = re.compile(rf"[{re.escape(''.join(_CLASSES))}\dA-ZÀ-ÞА-ЯΑ-Ω]")
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
#: Characters of a line whose marks and words are examined.
_MOST_CHARACTERS = 400
#: A length is compared with those of so many lines on either side. So a corpus sorted by length does not look aligned
#: just because both sides grow.
_NEIGHBOURS = 25
#: Marks in a smaller share of the lines are left out.
_MIN_SHARE = 0.01
#: With a smaller standard deviation of their logarithms, lengths of neighbouring lines show nothing.
_MIN_VARIATION = 0.15
#: Shifts so large that hardly any line meets its translation.
_FAR_SHIFTS = (41, -53, 97)
_BINS, _MAX_SCORE = 16, 3.0


class LinePairs:
    """The features of both sides."""

    def __init__(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        self._n_lines = len(sources)
        (self._source, spread), (self._target, other_spread) = _features(sources), _features(targets)
        self._spreads = np.minimum(spread, other_spread)
        self._words = _shared_words(sources, targets)

    def vary(self) -> bool:
        """Return True if neighbouring lines differ enough in length or question marks to show something."""
        return bool(self._spreads[:2].max() > _MIN_VARIATION)

    def strengths(self) -> list[tuple[int, float]]:
        """Return all shifts by the strength of their correlation, in standard deviations above the usual one.

        Fourier transforms compute all correlations at once. Each frequency counts the same (phase correlation). So
        patterns that recur, such as captions in groups of five from short to long, do not make one shift look like
        another.
        """
        left, right = (np.fft.rfft(side, axis=0) for side in (self._source, self._target))
        cross = left.conj() * right
        size = np.abs(cross)
        phases = np.where(size > 1e-6, cross / np.maximum(size, 1e-6), 0)
        values = np.fft.irfft(phases.sum(1), n=self._n_lines)
        middle = np.median(values)
        strengths = (values - middle) / max(1.4826 * np.median(np.abs(values - middle)), 1e-9)
        half = self._n_lines // 2
        order = np.argsort(-strengths).tolist()
        return [(at if at <= half else at - self._n_lines, float(strengths[at])) for at in order]

    def fit_scores(self, shifts: NDArray[np.int64]) -> ShiftScores:
        """Learn from lines and their likely translations.

        Args:
            shifts: lines by which the translation of each source line is likely to be further down: int64 (n,).
        """
        by_counts, by_words = self._count_scores(shifts), self._word_scores(shifts)
        raw = cache(lambda shift: by_counts(shift) + by_words(shift))
        aligned = np.zeros(self._n_lines)
        for shift in np.unique(shifts).tolist():
            aligned[shifts == shift] = raw(shift)[shifts == shift]
        apart = np.concatenate([raw(shift) for shift in _FAR_SHIFTS])
        edges = np.unique(np.quantile(np.concatenate([aligned, apart]), np.linspace(0, 1, _BINS)[1:-1]).round(1))
        together, by_chance = (
            np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1) for scores in (aligned, apart)
        )
        ratio = np.log((together + 1) / (len(aligned) + _BINS)) - np.log((by_chance + 1) / (len(apart) + _BINS))
        ratio = np.clip(ratio, -_MAX_SCORE, _MAX_SCORE)
        return cache(lambda shift: ratio[np.searchsorted(edges, raw(shift))])

    def _likely_lines(self, shifts: NDArray[np.int64]) -> NDArray[np.int64]:
        lines: NDArray[np.int64] = np.clip(np.arange(self._n_lines) + shifts, 0, self._n_lines - 1)
        return lines

    def _count_scores(self, shifts: NDArray[np.int64]) -> ShiftScores:
        """Return scores from lengths and marks: the ratio of two normal densities, with and without correlation."""
        correlations = np.clip((self._source * self._target[self._likely_lines(shifts)]).mean(0), 0, 0.99)
        used = correlations >= 3 / np.sqrt(self._n_lines)
        r, left, right = correlations[used], self._source[:, used], self._target[:, used]

        def scores(shift: int) -> Scores:
            x, y = left, np.roll(right, -shift, axis=0)
            exponent = (r * r * (x * x + y * y) - 2 * r * x * y) / (2 * (1 - r * r))
            log_ratio: Scores = np.clip(-0.5 * np.log(1 - r * r) - exponent, -2 * _MAX_SCORE, _MAX_SCORE).sum(1)
            return log_ratio

        return scores

    def _word_scores(self, shifts: NDArray[np.int64]) -> ShiftScores:
        """Return scores from words written the same on both sides; one that is rare in the targets says more."""
        n_lines, (left, right, n_words) = self._n_lines, self._words
        lines, words = np.divmod(left, max(1, n_words))

        def present(line_of: NDArray[np.int64]) -> NDArray[np.bool_]:
            return np.isin(line_of[lines] * n_words + words, right)

        share = np.clip(present(self._likely_lines(shifts)).mean() if len(left) else 0, 1e-3, 1 - 1e-3)
        chance = np.clip(np.bincount(right % max(1, n_words), minlength=n_words) / n_lines, 1e-3, 1 - 1e-3)
        gain, missing = np.log(share / chance)[words], np.log((1 - share) / (1 - chance))[words]
        is_useful = (share > 2 * chance)[words]

        def scores(shift: int) -> Scores:
            weights = np.where(present((np.arange(n_lines) + shift) % n_lines), gain, missing) * is_useful
            totals: Scores = np.bincount(lines, weights=weights, minlength=n_lines).astype(float)
            return totals

        return scores


def _features(texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return standardised features of each line, (n, F), and their standard deviations before, (F,)."""
    features = np.zeros((len(texts), _CAPITALS + 1))
    for row, text in zip(features, texts, strict=True):
        row[0] = len(text)
        for mark, count in Counter(_MARK.findall(text[:_MOST_CHARACTERS])).items():
            row[_CLASS_OF.get(mark) or (_DIGITS if mark.isdigit() else _CAPITALS)] += count
    features = np.log1p(features)
    is_common = (features > 0).mean(0) > _MIN_SHARE  # a rare mark says nothing about most lines
    lines, sums = np.arange(len(texts)), np.concatenate(([0.0], np.cumsum(features[:, 0])))
    first, last = np.maximum(lines - _NEIGHBOURS, 0), np.minimum(lines + _NEIGHBOURS + 1, len(texts))
    features[:, 0] -= (sums[last] - sums[first]) / (last - first)
    features[:, 1:] -= features[:, 1:].mean(0)
    spreads = features.std(0)
    return np.clip(features / np.maximum(spreads, 1e-6), -4, 4) * is_common, spreads


def _shared_words(sources: Sequence[str], targets: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return (line * number of words + word) of each word of a line that both sides have, and the number of words."""
    sides = [[set(_WORD.findall(text[:_MOST_CHARACTERS])) for text in texts] for texts in (sources, targets)]
    vocabularies = [set().union(*side) for side in sides]
    number = {word: at for at, word in enumerate(sorted(vocabularies[0] & vocabularies[1]))}
    keys = (
        [line * len(number) + number[word] for line, words in enumerate(side) for word in words & number.keys()]
        for side in sides
    )
    left, right = (np.array(side, np.int64) for side in keys)
    return left, right, len(number)
