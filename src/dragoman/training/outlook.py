"""An estimate of what a longer training would bring, from the BLEU of the validations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

#: Validations in the later three quarters of the training without which nothing is said.
FEWEST_POINTS = 5
#: A rise of BLEU for a doubling of the training that is worth a line.
SMALLEST_RISE = 0.3
MOST_BLEU = 100.0


def describe_outlook(curve: Sequence[tuple[int, float]]) -> str | None:
    """Return a line about what twice the training may bring; None where the validations do not say.

    BLEU is fitted by a + b log2(step) over the later three quarters of the steps. The rise b of the last doubling is
    the most that the next one may bring, because learning curves flatten, and because the falling learning rate of
    most schedules lifts the end of the curve. Half of it is taken as the least. Nothing is said where the fit is no
    better than chance (b below two standard errors) while BLEU still moves, or would
    exceed 100 BLEU.

    Args:
        curve: (step, BLEU) of each validation, in order.
    """
    if not curve:
        return None
    n_steps = curve[-1][0]
    late = [(step, bleu) for step, bleu in curve if step >= n_steps / 4]
    if len(late) < FEWEST_POINTS:
        return None
    best_step, best = max(late, key=lambda point: (point[1], -point[0]))
    rise, error = _rise(late)
    if best_step < 0.75 * n_steps and best - late[-1][1] > 2 * SMALLEST_RISE:
        return (
            f"BLEU was best at step {best_step:,} and fell by {best - late[-1][1]:.1f} until the end: "
            "a longer training would not help; more text or more dropout might"
        )
    if best + rise > MOST_BLEU:
        return None
    if rise >= SMALLEST_RISE and rise > 2 * error:
        return (
            f"BLEU rose by about {rise:.1f} over the second half of the training: "
            f"twice the time may bring {rise / 2:.1f} to {rise:.1f} more"
        )
    if rise + 2 * error < 2 * SMALLEST_RISE:
        return "BLEU hardly rose over the second half of the training: more text may help, a longer training hardly"
    return None


def _rise(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return the rise of a fitted line for a doubling of the steps, and its standard error."""
    doublings = np.array([math.log2(step) for step, _ in points])
    bleu = np.array([value for _, value in points])
    x = doublings - doublings.mean()
    rise = float(x @ bleu / (x @ x))
    residuals = bleu - bleu.mean() - rise * x
    return rise, math.sqrt(float(residuals @ residuals) / (len(points) - 2) / float(x @ x))
