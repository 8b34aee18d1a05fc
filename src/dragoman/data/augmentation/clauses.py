"""Texts of several sentences, and texts that are cut short."""

from __future__ import annotations

import re
from collections.abc import Sequence

from numpy.random import Generator

from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.perturbations.final_marks import split_final_marks
from dragoman.text.languages import WITHOUT_SPACES

#: A comma between clauses, and not in a number.
_COMMA = re.compile(r",(?=\s)|，")
#: Marks of texts that may not be cut: they have more than two clauses, or quotes that would be left open.
_OTHER_MARKS = re.compile(r"[;:\"„“”«»「」『』()（）；：、–—]|[.!?。！？]\s*\S")
#: The most that the shares of both sides before their commas may differ.
_MOST_DIFFERENCE = 0.12
_LEAST_LETTERS = 4
#: Languages whose main clause has another order of words after a subordinate one.
_VERB_SECOND = frozenset(("de", "nl", "sv", "da", "nb", "nn", "no", "is", "af", "lb"))


def join(pairs: Sequence[Pair], languages: Languages) -> Pair:
    """Return pairs as one text, with spaces between them in languages that have spaces."""
    source, target = (
        ("" if language in WITHOUT_SPACES else " ").join(side)
        for side, language in zip(zip(*pairs, strict=True), languages, strict=True)
    )
    return source, target


def cut_short(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return what stands before the only comma of both sides; or after it, where the order of words allows that.

    A pair without such commas comes back as it was.
    """
    sides = [list(_COMMA.finditer(text)) for text in pair]
    if any(len(commas) != 1 for commas in sides) or any(map(_OTHER_MARKS.search, pair)):
        return pair
    (source, target), (first, second) = pair, (commas[0] for commas in sides)
    if abs(first.start() / len(source) - second.start() / len(target)) > _MOST_DIFFERENCE:
        return pair
    if generator.random() < 0.6 or not _VERB_SECOND.isdisjoint(languages):
        cut = source[: first.start()].strip(), target[: second.start()].strip()
    else:
        cut = source[first.end() :].strip(), target[second.end() :].strip()
    return cut if all(_is_long(text) for text in cut) else pair


def _is_long(text: str) -> bool:
    text, _ = split_final_marks(text)
    return len(text) >= _LEAST_LETTERS * (1 if text and text[0] > "\u2e80" else 2)
