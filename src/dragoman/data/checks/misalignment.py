"""Places where the two sides of a corpus are not translations of each other, as after a line that one file lost.

A corpus is read in windows, so that RAM stays flat. Each source line is compared with the target lines around its own.
If for many lines together another one fits much better, or none fits, that is a misfit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dragoman.data.checks.line_features import LineFeatures, concatenate, line_features
from dragoman.data.checks.pair_scores import LengthCorrelation, ShiftScores, fit_scores, shift_correlations

#: Lines of a window, except the last one, which has up to twice as many.
_WINDOW = 1 << 15
_BLOCK = 2048
#: Fewest lines that can prove something: of a corpus, of a run with another shift, of a run that fits nowhere.
_MIN_LINES, _MIN_SHIFTED, _MIN_STRAYS = 60, 15, 150
#: Evidence that lines are shifted, and the cost of each change of the shift (natural logarithms of likelihoods).
_PROOF, _CHANGE = 30.0, 14.0
_NEAR_SHIFTS = range(-3, 4)
#: A correlation this many standard deviations above those of other shifts proves the shift; below the second number, it
#: shows none.
_SHOWN, _NOT_SHOWN = 5.0, 3.0
_MAX_SHIFTS = 8
#: With this many lines, a correlation shows if they are translations.
_MANY = 2000
_STEP = 8
_ROUNDS = 4
#: With a smaller standard deviation of the logarithm, lengths show nothing.
_MIN_VARIATION = 0.15


@dataclass(frozen=True)
class Misfit:
    """Consecutive lines whose sides do not belong together."""

    #: The first line and the last, counted from 1.
    first: int
    last: int
    #: Lines by which the translations are further down; None if they are nowhere near.
    shift: int | None
    #: The lines alone are no proof, because their lengths hardly vary; the whole corpus decides.
    is_doubtful: bool = False

    def __len__(self) -> int:
        """Return the number of lines."""
        return self.last - self.first + 1


class AlignmentCheck:
    """Takes the lines of a corpus in order, then finds misfits."""

    def __init__(self) -> None:
        self._texts: tuple[list[str], list[str]] = ([], [])
        self._blocks: list[tuple[LineFeatures, LineFeatures]] = []
        self._lengths = LengthCorrelation()
        self._n_before = 0
        self._misfits: list[Misfit] = []

    def add(self, source: str, target: str) -> None:
        """Take the next line of both sides."""
        self._texts[0].append(source)
        self._texts[1].append(target)
        if len(self._texts[0]) >= _BLOCK:
            self._close_block()
            if len(self._blocks) * _BLOCK >= 2 * _WINDOW:
                self._search(_WINDOW // _BLOCK)

    def find(self) -> list[Misfit]:
        """Return the misfits in order."""
        self._close_block()
        self._search(len(self._blocks))
        is_proven = self._lengths.are_unrelated()
        return _joined(
            [replace(misfit, is_doubtful=False) for misfit in self._misfits if is_proven or not misfit.is_doubtful]
        )

    def _close_block(self) -> None:
        sources, targets = self._texts
        if sources:
            self._blocks.append((line_features(sources), line_features(targets)))
            self._texts = ([], [])

    def _search(self, n_blocks: int) -> None:
        blocks, self._blocks = self._blocks[:n_blocks], self._blocks[n_blocks:]
        if blocks:
            source, target = (concatenate(side) for side in zip(*blocks, strict=True))
            self._lengths.add(source, target)
            start = self._n_before
            self._misfits += (
                replace(misfit, first=misfit.first + start, last=misfit.last + start)
                for misfit in find_misfits(source, target)
            )
            self._n_before += len(source)


def find_misfits(source: LineFeatures, target: LineFeatures) -> list[Misfit]:
    """Return the misfits of one window, in order."""
    n_lines = len(source)
    if n_lines < _MIN_LINES or not (source.counts.any() and target.counts.any()):  # too few, or all blank
        return []
    correlations = shift_correlations(source, target)
    likely = correlations.peaks(_SHOWN, _MAX_SHIFTS)
    unfit: list[Misfit] = []
    is_long = n_lines >= _MANY
    if n_lines > 2 * _MIN_STRAYS and correlations.strength(0) < (_SHOWN if is_long else _NOT_SHOWN):
        unfit = [Misfit(1, n_lines, None, is_doubtful=not _varies(source, target))]
    if not likely:
        return unfit
    assigned = np.full(n_lines, likely[0])
    shifts = list(dict.fromkeys((*_NEAR_SHIFTS, *likely)))
    for _ in range(_ROUNDS):
        scores = fit_scores(source, target, assigned)
        if not assigned.any() and not _may_misfit(scores, likely):
            return []
        runs = _runs(_most_likely(scores, n_lines, shifts), shifts)
        runs, more = _judged(runs, scores, source, target, correlations.strength(likely[0]))
        before, assigned = assigned, _assigned(runs, likely[0])
        if not more and (assigned == before).all():
            break
        shifts += more
    misfits = [run for run in runs if run.shift != 0]
    return unfit if is_long and not misfits else misfits  # too many places have lost a line to prove a shift


def _judged(
    runs: Sequence[Misfit], scores: ShiftScores, source: LineFeatures, target: LineFeatures, strength: float
) -> tuple[list[Misfit], list[int]]:
    """Return the runs with proof, joined, and shifts that may explain lines which seem to fit nowhere.

    Args:
        strength: that of the correlation of the whole window.
    """
    judged: list[Misfit] = []
    more: list[int] = []
    proven: list[bool] = []
    for run in runs:
        shift, lines = run.shift, slice(run.first - 1, run.last)
        is_proven = shift == 0
        if shift is None:
            if len(run) >= _MIN_STRAYS and strength * np.sqrt(len(run) / len(source)) > _SHOWN + 2:
                correlations = shift_correlations(source[lines], target[lines])
                more += [peak for peak in correlations.peaks(_SHOWN, 1) if peak]
                is_proven = correlations.strength(0) < _NOT_SHOWN
        elif shift:
            is_proven = len(run) >= _MIN_SHIFTED and (scores(shift) - scores(0))[lines].sum() >= _PROOF
        judged.append(run)
        proven.append(is_proven)
    for index, is_proven in enumerate(proven):
        if not is_proven:
            around = {runs[other].shift for other in (index - 1, index + 1) if 0 <= other < len(runs)}
            judged[index] = replace(judged[index], shift=around.pop() if len(around) == 1 else 0)
    return _joined(judged), more


def _assigned(runs: Sequence[Misfit], default: int) -> NDArray[np.int64]:
    """Return the shift of each line: int64 (n_lines,)."""
    shifts = [default if run.shift is None else run.shift for run in runs]
    return np.repeat(shifts, list(map(len, runs)))


def _varies(source: LineFeatures, target: LineFeatures) -> bool:
    """Return True if neighbouring sentences differ enough in length or question marks to show something."""
    spreads = np.minimum(*(side.local.std(0) for side in (source, target)))
    return bool(spreads[:2].max() > _MIN_VARIATION)


def _most_likely(scores: ShiftScores, n_lines: int, shifts: Sequence[int]) -> NDArray[np.int64]:
    """Return for each line the index of its shift, or `len(shifts)` if it fits nowhere: int64 (n_lines,)."""
    table = np.zeros((n_lines, len(shifts) + 1))
    for column, shift in enumerate(shifts):
        table[:, column] = scores(shift)
    return _viterbi(table)


def _may_misfit(scores: ShiftScores, likely: Sequence[int]) -> bool:
    """Return True if some lines together fit better when shifted, or do not fit: a fast test that most corpora pass."""
    gains = [-scores(0), *(scores(shift) - scores(0) for shift in {1, -1, *likely[:3]})]
    return any(_largest_run(gain) >= _PROOF for gain in gains)


def _largest_run(gains: NDArray[np.float64]) -> float:
    """Return the largest sum of consecutive numbers."""
    sums = np.concatenate(([0.0], np.cumsum(gains)))
    return float((sums - np.minimum.accumulate(sums)).max())


def _viterbi(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most likely state of each line (Viterbi 1967), first for blocks of `_STEP` lines.

    A change of states costs `_CHANGE`.
    """
    starts = np.arange(0, len(table), _STEP)
    blocks = np.add.reduceat(table, starts)
    came_from = np.empty(blocks.shape, np.int64)
    best = np.zeros(table.shape[1])
    own = np.arange(table.shape[1])
    for block, gains in enumerate(blocks):
        leader = best.argmax()
        stays = best >= best[leader] - _CHANGE
        came_from[block] = np.where(stays, own, leader)
        best = np.where(stays, best, best[leader] - _CHANGE) + gains
    of_block = np.empty(len(blocks), np.int64)
    state = int(best.argmax())
    for block in range(len(blocks) - 1, -1, -1):
        of_block[block] = state
        state = came_from[block, state]
    return _sharpened(np.repeat(of_block, np.diff(np.append(starts, len(table)))), table)


def _sharpened(states: NDArray[np.int64], table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Move each change of states to the line where it is most likely."""
    for change in (np.flatnonzero(np.diff(states)) + 1).tolist():
        before, after = states[change - 1], states[change]
        first, last = max(change - 2 * _STEP, 0), min(change + 2 * _STEP, len(states))
        first += int((states[first:change] != before).sum())  # lines of these two states only
        last -= int((states[change:last] != after).sum())
        gains = np.concatenate(([0.0], np.cumsum((table[:, before] - table[:, after])[first:last])))
        middle = first + int(gains.argmax())
        states[first:middle], states[middle:last] = before, after
    return states


def _runs(states: NDArray[np.int64], shifts: Sequence[int]) -> list[Misfit]:
    """Return the runs of lines of one state, including those that fit."""
    changes = np.flatnonzero(np.diff(states)) + 1
    bounds = [0, *changes.tolist(), len(states)]
    names = [*shifts, None]
    return [Misfit(a + 1, b, names[states[a]]) for a, b in itertools.pairwise(bounds)]


def _joined(runs: Sequence[Misfit]) -> list[Misfit]:
    """Join neighbouring runs of the same shift."""
    joined: list[Misfit] = []
    for run in runs:
        if joined and joined[-1].shift == run.shift and joined[-1].last + 1 == run.first:
            run = replace(run, first=joined.pop().first)
        joined.append(run)
    return joined
