"""Places where the two sides of a corpus stop being translations of each other, as after a line that one file lost.

A corpus is read in windows, so that memory stays flat. In each, every source line is compared with the target lines
close to its own; if for many lines together another one fits much better, or none fits, that is found, with its first
line.
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
#: Fewer lines prove nothing: as a corpus, as a place with another shift, as a place where nothing fits.
_FEWEST, _FEWEST_SHIFTED, _FEWEST_STRAYS = 60, 15, 150
#: How much likelier lines must be shifted than as they are, and what each change costs (natural logarithms).
_PROOF, _CHANGE = 30.0, 14.0
_NEAR_SHIFTS = range(-3, 4)
#: Standard deviations of a correlation above those of other shifts: so many prove one, and less than so many show none.
_SHOWN, _NOT_SHOWN = 5.0, 3.0
_MOST_SHIFTS = 8
#: So many lines of translations show that they are.
_MANY = 2000
_STEP = 8
_ROUNDS = 4
#: Below it the lengths of sentences vary so little that they show nothing.
_LEAST_VARIATION = 0.15


@dataclass(frozen=True)
class Misfit:
    """Consecutive lines of which the sides do not belong together."""

    #: The first line and the last, counted from 1.
    first: int
    last: int
    #: How many lines further down the translations of the source lines are; None if nowhere near.
    shift: int | None
    #: The lines alone prove nothing, since their lengths hardly vary; it counts if the whole corpus shows the same.
    is_doubtful: bool = False


class AlignmentCheck:
    """Takes the lines of a corpus in order, then tells where its sides do not belong together."""

    def __init__(self) -> None:
        self._texts: tuple[list[str], list[str]] = ([], [])
        self._blocks: list[tuple[LineFeatures, LineFeatures]] = []
        self._lengths = LengthCorrelation()
        self._n_before = 0
        self._found: list[Misfit] = []

    def add(self, source: str, target: str) -> None:
        """Take the next line of both sides; one that cannot be read is taken as empty."""
        self._texts[0].append(source)
        self._texts[1].append(target)
        if len(self._texts[0]) >= _BLOCK:
            self._close_block()
            if len(self._blocks) * _BLOCK >= 2 * _WINDOW:
                self._search(_WINDOW // _BLOCK)

    def find(self) -> list[Misfit]:
        """Return the places found, in order."""
        self._close_block()
        self._search(len(self._blocks))
        is_proven = self._lengths.are_unrelated()
        return _joined([replace(each, is_doubtful=False) for each in self._found if is_proven or not each.is_doubtful])

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
            self._found += (
                replace(each, first=each.first + start, last=each.last + start) for each in find_misfits(source, target)
            )
            self._n_before += len(source)


def find_misfits(source: LineFeatures, target: LineFeatures) -> list[Misfit]:
    """Return the places of one window, in order."""
    n_lines = len(source)
    if n_lines < _FEWEST or not (source.counts.any() and target.counts.any()):  # too few, or all blank
        return []
    correlations = shift_correlations(source, target)
    likely = correlations.peaks(_SHOWN, _MOST_SHIFTS)
    unfit: list[Misfit] = []
    is_long = n_lines >= _MANY
    if n_lines > 2 * _FEWEST_STRAYS and correlations.strength(0) < (_SHOWN if is_long else _NOT_SHOWN):
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
    found = [each for each in runs if each.shift != 0]
    return unfit if is_long and not found else found  # lost at so many places that no shift can be proven


def _judged(
    runs: Sequence[Misfit], scores: ShiftScores, source: LineFeatures, target: LineFeatures, strength: float
) -> tuple[list[Misfit], list[int]]:
    """Return the runs of which there is proof, joined, and shifts that explain lines which seem to fit nowhere.

    Args:
        strength: that of the correlation of the whole window.
    """
    judged: list[Misfit] = []
    more: list[int] = []
    proven: list[bool] = []
    for each in runs:
        shift, lines = each.shift, slice(each.first - 1, each.last)
        n_lines = each.last - each.first + 1
        is_proven = shift == 0
        if shift is None:
            if n_lines >= _FEWEST_STRAYS and strength * np.sqrt(n_lines / len(source)) > _SHOWN + 2:
                correlations = shift_correlations(source[lines], target[lines])
                more += [peak for peak in correlations.peaks(_SHOWN, 1) if peak]
                is_proven = correlations.strength(0) < _NOT_SHOWN
        elif shift:
            is_proven = n_lines >= _FEWEST_SHIFTED and (scores(shift) - scores(0))[lines].sum() >= _PROOF
        judged.append(each)
        proven.append(is_proven)
    for place, is_proven in enumerate(proven):
        if not is_proven:
            around = {runs[other].shift for other in (place - 1, place + 1) if 0 <= other < len(runs)}
            judged[place] = replace(judged[place], shift=around.pop() if len(around) == 1 else 0)
    return _joined(judged), more


def _assigned(runs: Sequence[Misfit], default: int) -> NDArray[np.int64]:
    """Return the shift of each line: int64 (n_lines,)."""
    lengths = [each.last - each.first + 1 for each in runs]
    return np.repeat([default if each.shift is None else each.shift for each in runs], lengths)


def _varies(source: LineFeatures, target: LineFeatures) -> bool:
    """True if neighbouring sentences differ enough, in length or in being questions, to show something."""
    spreads = np.minimum(*(side.local.std(0) for side in (source, target)))
    return bool(spreads[:2].max() > _LEAST_VARIATION)


def _most_likely(scores: ShiftScores, n_lines: int, shifts: Sequence[int]) -> NDArray[np.int64]:
    """Return for each line the index of its shift, or `len(shifts)` if it fits nowhere: int64 (n_lines,)."""
    table = np.zeros((n_lines, len(shifts) + 1))
    for column, shift in enumerate(shifts):
        table[:, column] = scores(shift)
    return _viterbi(table)


def _may_misfit(scores: ShiftScores, likely: Sequence[int]) -> bool:
    """True if some lines together fit better when shifted, or do not fit; a quick look, enough for most corpora."""
    gains = [-scores(0), *(scores(shift) - scores(0) for shift in {1, -1, *likely[:3]})]
    return any(_largest_run(each) >= _PROOF for each in gains)


def _largest_run(gains: NDArray[np.float64]) -> float:
    """Return the largest sum of consecutive numbers."""
    sums = np.concatenate(([0.0], np.cumsum(gains)))
    return float((sums - np.minimum.accumulate(sums)).max())


def _viterbi(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most likely state of each line, if a change of states costs `_CHANGE`: a few lines at a time first."""
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
        place = first + int(gains.argmax())
        states[first:place], states[place:last] = before, after
    return states


def _runs(states: NDArray[np.int64], shifts: Sequence[int]) -> list[Misfit]:
    """Return consecutive lines of one state, those that fit too."""
    changes = np.flatnonzero(np.diff(states)) + 1
    bounds = [0, *changes.tolist(), len(states)]
    names = [*shifts, None]
    return [Misfit(a + 1, b, names[states[a]]) for a, b in itertools.pairwise(bounds)]


def _joined(found: Sequence[Misfit]) -> list[Misfit]:
    """Join places of the same shift that windows have cut."""
    joined: list[Misfit] = []
    for each in found:
        if joined and joined[-1].shift == each.shift and joined[-1].last + 1 == each.first:
            each = replace(each, first=joined.pop().first)
        joined.append(each)
    return joined
