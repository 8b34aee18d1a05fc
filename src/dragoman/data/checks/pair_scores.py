"""Scores of lines as translations of each other, when one side is shifted by some lines.

A score is a log-likelihood ratio: of the features of two lines if one translates the other, and if they are any two
lines of the corpus. The likelihoods are learned from the corpus, so nothing depends on the languages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dragoman.data.checks.line_features import LineFeatures

Scores = NDArray[np.float64]
#: Function of a shift: the score of each source line with the target line that many lines further down.
ShiftScores = Callable[[int], Scores]

#: Shifts so large that hardly any line meets its translation.
FAR_SHIFTS = (41, -53, 97)
_BINS = 24
_MIN_WIDTH = 0.25
_MAX_SCORE = 3.0
_WORD_DOUBT = 4.0


def fit_scores(source: LineFeatures, target: LineFeatures, shifts: NDArray[np.int64]) -> ShiftScores:
    """Learn from lines and their likely translations.

    Args:
        shifts: lines by which the translation of each source line is likely to be further down: int64 (n,).
    """
    likely_lines = np.clip(np.arange(len(source)) + shifts, 0, len(target) - 1)
    by_counts = _count_scores(_own_counts(source), _own_counts(target), likely_lines)
    by_words = _word_scores(source, target, likely_lines)
    raw = _cached(lambda shift: by_counts(shift) + by_words(shift))
    aligned = np.zeros(len(source))
    for shift in np.unique(shifts):
        is_here = shifts == shift
        aligned[is_here] = raw(int(shift))[is_here]
    apart = np.concatenate([raw(shift) for shift in FAR_SHIFTS])
    edges = _apart(np.quantile(np.concatenate([aligned, apart]), np.linspace(0, 1, _BINS)[1:-1]))
    together, by_chance = (
        np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1) for scores in (aligned, apart)
    )
    ratio = np.log((together + 1) / (len(aligned) + _BINS)) - np.log((by_chance + 1) / (len(apart) + _BINS))
    ratio = np.clip(ratio, -_MAX_SCORE, _MAX_SCORE)
    return _cached(lambda shift: ratio[np.searchsorted(edges, raw(shift))])


def _count_scores(
    left: NDArray[np.float32], right: NDArray[np.float32], likely_lines: NDArray[np.int64]
) -> ShiftScores:
    """Return scores from lengths and marks: the ratio of two normal densities, with and without correlation."""
    correlations = np.clip((left * right[likely_lines]).mean(0), 0, 0.99)
    correlations[correlations < 3 / np.sqrt(len(left))] = 0
    used = correlations > 0
    r, left, right = correlations[used], left[:, used], right[:, used]

    def scores(shift: int) -> Scores:
        x, y = left, np.roll(right, -shift, axis=0)
        exponent = (r * r * (x * x + y * y) - 2 * r * x * y) / (2 * (1 - r * r))
        log_ratio: Scores = np.clip(-0.5 * np.log(1 - r * r) - exponent, -2 * _MAX_SCORE, _MAX_SCORE).sum(1)
        return log_ratio

    return scores


def _own_counts(side: LineFeatures) -> NDArray[np.float32]:
    """Return standardised features; only the length is compared with that of the neighbours.

    The mean of the neighbours would give a mark to lines that have none.
    """
    own = (side.counts - side.counts.mean(0)) / np.maximum(side.counts.std(0), 1e-6)
    special = side.special
    counts: NDArray[np.float32] = np.where(special.any(0), np.clip(own, -4, 4), 0).astype(np.float32)
    counts[:, 0] = special[:, 0]
    return counts


def _apart(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges without those close to the one before, so that nearly equal scores share a bin."""
    spread: list[float] = []
    for edge in edges.tolist():
        if not spread or edge - spread[-1] >= _MIN_WIDTH:
            spread.append(edge)
    return np.array(spread)


def _word_scores(source: LineFeatures, target: LineFeatures, likely_lines: NDArray[np.int64]) -> ShiftScores:
    """Return scores from words written the same on both sides, weighted by how reliably each is translated so."""
    n_lines = len(source)
    ours, theirs = distinct(source.words), distinct(target.words)
    shared = ours[np.isin(ours, theirs, assume_unique=True)]
    if not len(shared):
        return lambda shift: np.zeros(n_lines)
    size = len(shared)
    left, right = (distinct(_keys(side, shared)) for side in (source, target))
    lines, words = np.divmod(left, size)

    def present(shift_of: NDArray[np.int64]) -> NDArray[np.bool_]:
        key = shift_of[lines] * size + words
        at = np.minimum(np.searchsorted(right, key), len(right) - 1)
        is_present: NDArray[np.bool_] = right[at] == key
        return is_present

    translated, seen = np.bincount(words[present(likely_lines)], minlength=size), np.bincount(words, minlength=size)
    usual = translated.sum() / max(1, seen.sum())
    share = np.clip((translated + _WORD_DOUBT * usual) / (seen + _WORD_DOUBT), 1e-3, 1 - 1e-3)
    chance = np.clip(np.bincount(right % size, minlength=size) / n_lines, 1e-3, 1 - 1e-3)
    gain = np.clip(np.log(share / chance), -_MAX_SCORE, _MAX_SCORE)
    missing = np.clip(np.log((1 - share) / (1 - chance)), -_MAX_SCORE, _MAX_SCORE)
    is_useful = (share > 2 * chance)[words]
    lines, words = lines[is_useful], words[is_useful]

    def scores(shift: int) -> Scores:
        weights = np.where(present((np.arange(n_lines) + shift) % n_lines), gain[words], missing[words])
        totals: Scores = np.bincount(lines, weights=weights, minlength=n_lines).astype(float)
        return totals

    return scores


Whole = TypeVar("Whole", np.uint32, np.int64)


def distinct(numbers: NDArray[Whole]) -> NDArray[Whole]:
    """Return the different numbers in order; several times as fast as `np.unique` with its hash table."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered


@dataclass(frozen=True)
class ShiftCorrelations:
    """Correlations of the features of both sides; `values[s]` is that of shift s, negative ones included."""

    values: NDArray[np.float64]

    def strength(self, shift: int) -> float:
        """Return the standard deviations by which the correlation of a shift exceeds those of others."""
        middle = np.median(self.values)
        spread = 1.4826 * np.median(np.abs(self.values - middle))
        return float((self.values[shift] - middle) / max(spread, 1e-9))

    def peaks(self, strength: float, most: int) -> list[int]:
        """Return at most `most` shifts whose correlation has at least this strength, the strongest first."""
        order = [int(index) for index in np.argsort(-self.values)[:most]]
        shifts = [index if index <= len(self.values) // 2 else index - len(self.values) for index in order]
        return [shift for shift in shifts if self.strength(shift) >= strength]


def shift_correlations(source: LineFeatures, target: LineFeatures) -> ShiftCorrelations:
    """Compute the correlations of all shifts at once, by Fourier transforms.

    Each frequency counts the same (phase correlation). So patterns that recur in a corpus, such as captions in groups
    of five from short to long, do not make one shift look like another.
    """
    left, right = (np.fft.rfft(side.special, axis=0) for side in (source, target))
    cross = left.conj() * right
    size = np.abs(cross)
    phases = np.where(size > 1e-6, cross / np.maximum(size, 1e-6), 0)
    return ShiftCorrelations(np.fft.irfft(phases.sum(1), n=len(source)))


class LengthCorrelation:
    """Correlation of the lengths of both sides over all lines of a corpus."""

    #: Lengths of translations correlate more than this, in any two languages; with fewer lines, chance decides.
    _MIN_CORRELATION, _MIN_LINES = 0.05, 2000
    #: With a smaller standard deviation of their logarithms, lengths show nothing.
    _MIN_SPREAD = 0.15

    def __init__(self) -> None:
        self._n_lines = 0
        self._sums, self._products = np.zeros(2), np.zeros((2, 2))

    def add(self, source: LineFeatures, target: LineFeatures) -> None:
        """Take the next lines."""
        lengths = np.stack((source.counts[:, 0], target.counts[:, 0])).astype(float)
        self._n_lines += len(source)
        self._sums += lengths.sum(1)
        self._products += lengths @ lengths.T

    def are_unrelated(self) -> bool:
        """Return True if the lengths vary and do not correlate."""
        if self._n_lines < self._MIN_LINES:
            return False
        means = self._sums / self._n_lines
        covariance = self._products / self._n_lines - np.outer(means, means)
        spreads = np.sqrt(np.maximum(np.diag(covariance), 0))
        return bool(spreads.min() > self._MIN_SPREAD and covariance[0, 1] < self._MIN_CORRELATION * spreads.prod())


def _keys(side: LineFeatures, shared: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return a number for each pair of a line and a shared word in it."""
    at = np.minimum(np.searchsorted(shared, side.words), len(shared) - 1)
    is_shared = shared[at] == side.words
    keys: NDArray[np.int64] = side.lines[is_shared] * len(shared) + at[is_shared]
    return keys


def _cached(compute: ShiftScores) -> ShiftScores:
    cache: dict[int, Scores] = {}

    def scores(shift: int) -> Scores:
        if shift not in cache:
            cache[shift] = compute(shift)
        return cache[shift]

    return scores
