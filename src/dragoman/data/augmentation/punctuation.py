"""Final marks, quotes, dashes and spaces as people type them."""

from __future__ import annotations

from numpy.random import Generator

from dragoman.data.augmentation.shared import Pair
from dragoman.data.perturbations.final_marks import double_final_mark, drop_final_mark, final_mark
from dragoman.data.perturbations.picking import pick
from dragoman.data.perturbations.quotes_and_spaces import other_dashes, other_quotes, other_spaces

_QUESTION, _STATEMENT = "?？", ".。｡!！"
_OTHER = (double_final_mark, double_final_mark, other_quotes, other_dashes, other_spaces, other_spaces)
#: The share of pairs whose final mark is dropped; the others get one of the other changes if it applies.
_DROPPED_SHARE = 0.5


def change_punctuation(pair: Pair, generator: Generator) -> Pair:
    """Return the pair with other punctuation.

    A final mark is dropped on both sides: a translation ends as its source does. But a question keeps its mark in the
    target. Other changes are made to the source alone, whose translation is written with care.
    """
    source, target = pair
    if generator.random() >= _DROPPED_SHARE:
        changed = pick(_OTHER, generator)(source, generator)
        if changed != source:
            return changed, target
    marks = final_mark(source), final_mark(target)
    if all(mark and mark in _QUESTION for mark in marks):
        return drop_final_mark(source, generator), target
    if all(mark and mark in _STATEMENT for mark in marks):
        return drop_final_mark(source, generator), drop_final_mark(target, generator)
    return pair
