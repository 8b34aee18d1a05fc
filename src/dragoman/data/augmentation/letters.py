"""Case and typing errors in the source; its translation stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from numpy.random import Generator

from dragoman.data.augmentation.shared import Pair
from dragoman.data.perturbations.letter_case import lower_case, shout_word, title_case
from dragoman.data.perturbations.typos import mistype
from dragoman.text.spans import VERBATIM, find_spans

_WORD = re.compile(r"[^\W\d_]{2,}")
_CASES = (lower_case, lower_case, lower_case, title_case, shout_word, shout_word)
#: A second error in a text of at least so many characters.
_LONG = 60


def change_case(pair: Pair, generator: Generator) -> Pair:
    """Return the pair with a source in small letters, in Title Case, or with one WORD in capitals."""
    change = _CASES[int(generator.random() * len(_CASES))]
    return _outside_spans(pair[0], change, generator), pair[1]


def add_typos(pair: Pair, generator: Generator) -> Pair:
    """Return the pair with an error in one word of the source, or in two of a long one; never in names."""
    source, target = pair
    spared = frozenset(_WORD.findall(target))

    def change(text: str, generator: Generator) -> str:
        return mistype(text, generator, spared)

    for _ in range(2 if len(source) >= _LONG else 1):
        source = _outside_spans(source, change, generator)
    return source, target


def _outside_spans(text: str, change: Callable[[str, Generator], str], generator: Generator) -> str:
    """Return the text with each stretch between its verbatim spans changed."""
    spans = [span for span in find_spans(text) if span.kind in VERBATIM]
    if not spans:
        return change(text, generator)
    pieces, end = [], 0
    for span in spans:
        pieces += [change(text[end : span.start], generator), text[span.start : span.end]]
        end = span.end
    return "".join([*pieces, change(text[end:], generator)])
