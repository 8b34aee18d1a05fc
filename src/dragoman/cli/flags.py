"""Warnings about single lines of a translation: one line each, and a sum where there are many."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.translator import Translation
    from dragoman.translator.results import Flag

_log = logging.getLogger(__name__)

#: Lines that are named for each kind of warning; more are counted.
MOST_NAMED = 20
_WORDS: dict[Flag, str] = {
    "repetition": "the translation says the same again and again",
    "length": "the translation is far longer or shorter than usual (something may be missing or made up)",
    "copied": "a part was copied, because it is no text that a model can translate",
    "unusual": "longer than what the model learned from",
}


class LineWarnings:
    """Logs the flags of lines as they come, and at the end how many more there were."""

    def __init__(self) -> None:
        self._counts: Counter[Flag] = Counter()

    def tell(self, number: int, translation: Translation) -> None:
        """Tell of a line, which is counted from 1."""
        self._counts.update(translation.flags)
        told = [each for each in translation.flags if self._counts[each] <= MOST_NAMED]
        if told:
            _log.warning(f"line {number}: {'; '.join(_words(translation, told))}")

    def finish(self) -> None:
        """Tell how many lines were not named."""
        for flag, count in self._counts.items():
            if count > MOST_NAMED:
                _log.warning(f"{count - MOST_NAMED:,} more lines: {_WORDS[flag]}")


def _words(translation: Translation, flags: list[Flag]) -> Iterator[str]:
    for flag in flags:
        is_cut = flag == "unusual" and translation.n_parts > 1
        yield f"{_WORDS[flag]}, translated in {translation.n_parts} parts" if is_cut else _WORDS[flag]
