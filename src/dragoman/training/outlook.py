"""The end of a training in words: if it failed, why and what to do; and what a longer one would bring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dragoman.training.validation import MEANINGFUL_BLEU

#: Validations in the later three quarters of the training without which nothing is said.
FEWEST_POINTS = 5
#: A rise of BLEU for a doubling of the training that is worth a line.
SMALLEST_RISE = 0.3
MOST_BLEU = 100.0


def describe_failure(
    bleu: Mapping[str, float], n_epochs: float, usual_epochs: int, *, is_fine_tuning: bool
) -> str | None:
    """Return what to do about a model that does not translate; None if BLEU is at least 5 everywhere.

    Args:
        bleu: of the best model, by the names of its directions; the name of an only one is empty.
        n_epochs: passes over the corpus that were made.
        usual_epochs: passes that `train` chooses for such a corpus.
        is_fine_tuning: the training started from a trained model.
    """
    low = {name: value for name, value in bleu.items() if value < MEANINGFUL_BLEU}
    if not low:
        return None
    scores = ", ".join(f"{name} {value:.2f}".strip() for name, value in low.items())
    seen = f"it has seen each pair {n_epochs:.1f} times"
    remedies = ["" if is_fine_tuning else "start from a trained model of these languages (--init-from)"]
    if n_epochs < usual_epochs:
        seen += f", and a corpus of this size usually needs {usual_epochs}"
        remedies += ["train longer (--time)", "train one direction alone" if len(bleu) > 1 else ""]
    else:
        remedies += [
            "give more text of the kind that you want to translate",
            "look for faults (dragoman prepare --dry-run)",
        ]
    what = "; or ".join(filter(None, remedies))
    return f"BLEU {scores} is below {MEANINGFUL_BLEU:g}: this model does not translate yet; {seen}. What helps: {what}"


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
