"""Texts without their final mark, as people type them."""

from __future__ import annotations

from numpy.random import Generator

from dragoman.data.augmentation.shared import Pair
from dragoman.data.perturbations.final_marks import drop_final_mark, final_mark

_QUESTION, _STATEMENT = "?？", ".。｡!！"


def change_punctuation(pair: Pair, generator: Generator) -> Pair:
    """Return the pair without its final marks: a translation ends as its source does.

    A question keeps its mark in the target. A pair whose marks are of two kinds stays.
    """
    source, target = pair
    marks = final_mark(source), final_mark(target)
    if all(mark and mark in _QUESTION for mark in marks):
        return drop_final_mark(source, generator), target
    if all(mark and mark in _STATEMENT for mark in marks):
        return drop_final_mark(source, generator), drop_final_mark(target, generator)
    return pair
