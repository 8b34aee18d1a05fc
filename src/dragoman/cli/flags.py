"""Warnings about single lines of a translation: one line each, and a count if there are many."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dragoman.errors import counted

if TYPE_CHECKING:
    from dragoman.translator import Translation
    from dragoman.translator.results import Flag

_log = logging.getLogger(__name__)

#: Lines that are named for each kind of warning; more are counted.
MOST_NAMED = 20
#: Lines that are named where they are only counted, and texts of documents.
_NUMBERS, _TEXTS = 10, 3
#: Characters of a text that a warning quotes.
_QUOTED = 50
_WORDS: dict[Flag, str] = {
    "repetition": "the translation repeats itself",
    "length": "the translation is far longer or shorter than usual (words may be missing or invented)",
    "copied": "a part was copied: no text (a hash, code, a message of ICU), or letters that the model does not know",
    "span": "an address, a placeholder, an emoji, a quotation mark or the like is missing or changed",
    "number": "a number is missing or changed",
    "script": "it has letters of another script, which are not in the text",
    "term_missing": "a term has none of its translations",
    "unusual": "longer than the texts that the model was trained on",
    "low_confidence": "the translation is probably wrong",
    "unsure": "left as it is, because the model is not sure enough of its translation",
}


class LineWarnings:
    """Warns of flagged translations as they come, and counts those beyond the first few.

    Args:
        unit: word for what is translated at once.
        is_typed: a person waits for each line, so each warning is given at once, and none is counted.
        names_all: name each line, however many there are: the warnings go to a file.
    """

    def __init__(self, unit: str = "line", *, is_typed: bool = False, names_all: bool = False) -> None:
        self._unit, self._is_typed, self._names_all = unit, is_typed, names_all
        self._counts: Counter[Flag] = Counter()
        self._improbable: list[str] = []  # the first
        self._n_translations = 0

    def tell(self, number: int, translation: Translation, quoted: str = "", file: str = "") -> None:
        """Warn if the translation of a line, counted from 1, has flags.

        Args:
            quoted: a text by which its reader finds the line; its beginning is in the warning.
            file: the name of its file, if there are several.
        """
        self._n_translations += 1
        self._counts.update(translation.flags)
        named_flags = [flag for flag in translation.flags if self._is_named(flag, quoted, file)]
        place = f' ("{_beginning(quoted)}")' if quoted else ""
        if "low_confidence" in translation.flags and len(self._improbable) < (_TEXTS if quoted else _NUMBERS):
            self._improbable.append(f"{number}{place}")
        if named_flags:
            where = f"{file}: " if file else ""
            _log.warning(f"{where}{self._unit} {number}{place}: {'; '.join(_words(translation, named_flags))}")

    def finish(self, least: float) -> None:
        """Warn of the lines that were not named.

        Args:
            least: the confidence below which translations are probably wrong.
        """
        if self._is_typed:
            return
        n_more = 0
        for flag, count in self._counts.items():
            if flag != "low_confidence" and count > MOST_NAMED and not self._names_all:
                n_more += count - MOST_NAMED
                _log.warning(f"{counted(count - MOST_NAMED, f'more {self._unit}')}: {_WORDS[flag]}")
        if count := self._counts["low_confidence"]:
            verb, them = ("is", "it") if count == 1 else ("are", "them")
            advice = f"--min-confidence {least} leaves {them} untranslated"
            n_others = count - len(self._improbable)
            has_names = not self._names_all or self._unit == "line"  # else each has a warning of its own
            others = "and those above" if self._names_all else "…"
            which = ", ".join([*self._improbable, *([others] if n_others else [])])
            named = f": {self._unit if count == 1 else f'{self._unit}s'} {which}" if has_names else ""
            problem = f"{count:,} of {counted(self._n_translations, self._unit)} {verb} probably wrong{named}"
            n_more += 0 if self._names_all else n_others
            _log.warning(f"{problem}; {advice}")
        if n_more and self._unit == "segment":
            _log.warning("2> FILE writes these messages to a file, with all segments that need a check")

    def _is_named(self, flag: Flag, quoted: str, file: str) -> bool:
        """Return True if a line has a warning of its own; `finish` tells of the first improbable lines of a file."""
        if flag == "low_confidence" and not (self._is_typed or file or (self._names_all and quoted)):
            return self._names_all and self._counts[flag] > _NUMBERS
        return self._is_typed or self._names_all or self._counts[flag] <= MOST_NAMED


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"


def _words(translation: Translation, flags: list[Flag]) -> Iterator[str]:
    for flag in flags:
        terms = f" ({', '.join(translation.missing_terms)})" if flag == "term_missing" else ""
        is_cut = flag == "unusual" and translation.n_parts > 1
        yield f"{_WORDS[flag]}, translated in {translation.n_parts} parts" if is_cut else _WORDS[flag] + terms
