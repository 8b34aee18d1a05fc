"""Places where the two sides of a corpus are not translations of each other, as after a line that one file lost.

A corpus is read in windows, so that RAM stays flat. Each source line is compared with the target lines around its own.
If for many lines together another one fits much better, that is a misfit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dragoman.data.checks.line_pairs import LinePairs, Scores, ShiftScores

#: Lines of a window, except the last one, which has up to twice as many.
_WINDOW = 1 << 15
#: Fewest lines that can prove something: of a corpus, of a run with another shift, of a corpus in another order.
_MIN_LINES, _MIN_SHIFTED, _MIN_UNORDERED = 60, 15, 300
#: Evidence that lines are shifted, and the cost of each change of the shift (natural logarithms of likelihoods).
_PROOF, _CHANGE = 30.0, 14.0
_NEAR_SHIFTS = range(-3, 4)
#: A correlation this many standard deviations above those of other shifts proves the shift; below the second number, it
#: shows none.
_SHOWN, _NOT_SHOWN = 5.0, 3.0
_MAX_SHIFTS = 8
#: With this many lines, a correlation shows if they are translations.
_MANY = 2000
_ROUNDS = 4


@dataclass(frozen=True)
class Misfit:
    """Consecutive lines whose sides do not belong together."""

    #: The first line and the last, counted from 1.
    first: int
    last: int
    #: Lines by which the translations are further down; None if they are nowhere near.
    shift: int | None

    def __len__(self) -> int:
        """Return the number of lines."""
        return self.last - self.first + 1


class AlignmentCheck:
    """Takes the lines of a corpus in order, then finds misfits."""

    def __init__(self) -> None:
        self._texts: tuple[list[str], list[str]] = ([], [])
        self._n_before = 0
        self._misfits: list[Misfit] = []

    def add(self, source: str, target: str) -> None:
        """Take the next line of both sides."""
        for texts, text in zip(self._texts, (source, target), strict=True):
            texts.append(text)
        if len(self._texts[0]) >= 2 * _WINDOW:
            self._search(_WINDOW)

    def find(self) -> list[Misfit]:
        """Return the misfits in order."""
        self._search(len(self._texts[0]))
        return _joined(self._misfits)

    def _search(self, n_lines: int) -> None:
        sources, targets = (texts[:n_lines] for texts in self._texts)
        start = self._n_before
        self._misfits += (
            replace(misfit, first=misfit.first + start, last=misfit.last + start)
            for misfit in find_misfits(sources, targets)
        )
        self._texts = self._texts[0][n_lines:], self._texts[1][n_lines:]
        self._n_before += n_lines


def find_misfits(sources: Sequence[str], targets: Sequence[str]) -> list[Misfit]:
    """Return the misfits of one window, in order."""
    n_lines = len(sources)
    if n_lines < _MIN_LINES or not (any(sources) and any(targets)):
        return []
    lines = LinePairs(sources, targets)
    strengths = lines.strengths()
    likely = [shift for shift, strength in strengths[:_MAX_SHIFTS] if strength >= _SHOWN]
    is_long = n_lines >= _MANY
    is_unordered = dict(strengths)[0] < (_SHOWN if is_long else _NOT_SHOWN)
    unfit = [Misfit(1, n_lines, None)] if n_lines > _MIN_UNORDERED and is_unordered and lines.vary() else []
    if not likely:
        return unfit
    assigned = np.full(n_lines, likely[0])
    shifts = list(dict.fromkeys((*_NEAR_SHIFTS, *likely)))
    for _ in range(_ROUNDS):
        scores = lines.fit_scores(assigned)
        if not assigned.any() and not _may_misfit(scores, likely):
            return []
        runs = _proven(_runs(_most_likely(scores, n_lines, shifts), shifts), scores)
        before, assigned = assigned, np.repeat([run.shift or 0 for run in runs], list(map(len, runs)))
        if (assigned == before).all():
            break
    misfits = [run for run in runs if run.shift != 0]
    return unfit if is_long and not misfits else misfits  # too many places have lost a line to prove a shift


def _may_misfit(scores: ShiftScores, likely: Sequence[int]) -> bool:
    """Return True if some lines together fit better when shifted: a fast test that most corpora pass."""
    gains = [scores(shift) - scores(0) for shift in {1, -1, *likely[:3]}]
    return any(_largest_run(gain) >= _PROOF for gain in gains)


def _largest_run(gains: Scores) -> float:
    """Return the largest sum of consecutive numbers."""
    sums = np.concatenate(([0.0], np.cumsum(gains)))
    return float((sums - np.minimum.accumulate(sums)).max())


def _most_likely(scores: ShiftScores, n_lines: int, shifts: Sequence[int]) -> NDArray[np.int64]:
    """Return for each line the index of its shift (Viterbi 1967): int64 (n_lines,). A change costs `_CHANGE`."""
    table = np.stack([scores(shift) for shift in shifts], axis=1)
    came_from = np.empty(table.shape, np.int64)
    best, own = np.zeros(len(shifts)), np.arange(len(shifts))
    for line, gains in enumerate(table):
        leader = best.argmax()
        stays = best >= best[leader] - _CHANGE
        came_from[line] = np.where(stays, own, leader)
        best = np.where(stays, best, best[leader] - _CHANGE) + gains
    states = np.empty(n_lines, np.int64)
    state = int(best.argmax())
    for line in range(n_lines - 1, -1, -1):
        states[line] = state
        state = came_from[line, state]
    return states


def _proven(runs: Sequence[Misfit], scores: ShiftScores) -> list[Misfit]:
    """Return the runs, joined; one without proof of its shift has that of its neighbours, or none."""
    judged: list[Misfit] = []
    for index, run in enumerate(runs):
        shift = run.shift or 0
        gain = (scores(shift) - scores(0))[run.first - 1 : run.last].sum()
        if shift and (len(run) < _MIN_SHIFTED or gain < _PROOF):
            around = {runs[other].shift for other in (index - 1, index + 1) if 0 <= other < len(runs)}
            run = replace(run, shift=around.pop() if len(around) == 1 else 0)
        judged.append(run)
    return _joined(judged)


def _runs(states: NDArray[np.int64], shifts: Sequence[int]) -> list[Misfit]:
    """Return the runs of lines of one state, including those that fit."""
    changes = np.flatnonzero(np.diff(states)) + 1
    bounds = [0, *changes.tolist(), len(states)]
    return [Misfit(a + 1, b, shifts[states[a]]) for a, b in itertools.pairwise(bounds)]


def _joined(runs: Sequence[Misfit]) -> list[Misfit]:
    """Join neighbouring runs of the same shift."""
    joined: list[Misfit] = []
    for run in runs:
        if joined and joined[-1].shift == run.shift and joined[-1].last + 1 == run.first:
            run = replace(run, first=joined.pop().first)
        joined.append(run)
    return joined
