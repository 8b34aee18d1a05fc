"""A translation memory in RAM: exact matches by a table, similar texts by an index."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dragoman.content.language import Language, language_of
from dragoman.errors import ConfigError
from dragoman.memories.adapting import NUMERAL, adapted, shape
from dragoman.memories.fuzzy_index import FuzzyIndex, can_search
from dragoman.memories.memory_files import Unit, language, open_units
from dragoman.text.cleaning import comparable
from dragoman.text.languages import WITHOUT_SPACES
from dragoman.text.sentences import sentences

#: The least similarity of a match unless a call says otherwise.
THRESHOLD = 0.7
#: The most similar a text can be that is not equal, or whose translation cannot be used.
ALMOST = 0.99
#: Quotes and hyphens that look alike.
_ALIKE = str.maketrans("’‘ʼ“”„\u2011", "'''\"\"\"-")


@dataclass(frozen=True)
class MemoryMatch:
    """A unit of a memory that is equal or similar to a text."""

    #: 1.0 for an equal text, whose translation is used (see `TranslationMemory.exact`); less for a similar one. It is
    #: one minus the edits of characters divided by the characters of the longer text.
    score: float
    source: str
    target: str
    #: The translation was made of units: it has other numbers, or that of several sentences.
    is_adapted: bool = False


@dataclass
class _Direction:
    """The units of one direction. Of two with equal sources the later one counts."""

    #: The data of the source language; None if there is none.
    language: Language | None
    rows: dict[str, int] = field(default_factory=dict)
    #: The rows of texts with numbers, by their shapes.
    numbered: dict[str, int] = field(default_factory=dict)
    units: list[Unit] = field(default_factory=list)
    index: FuzzyIndex = field(default_factory=FuzzyIndex)

    def add(self, key: str, unit: Unit) -> None:
        if (row := self.rows.get(key)) is not None:
            self.units[row] = unit
        else:
            self.units.append(unit)
            self.index.add(key)
            self.rows[key] = len(self.units) - 1  # last, because `exact` and `lookup` read without the lock
        if NUMERAL.search(key):
            self.numbered[shape(key, self.language)] = self.rows[key]

    def exact(self, key: str) -> MemoryMatch | None:
        """Return the match of an equal text, or of one that has other numbers, with these in its translation."""
        if (row := self.rows.get(key)) is not None:
            return MemoryMatch(1.0, self.units[row].source, self.units[row].target)
        if not NUMERAL.search(key) or (row := self.numbered.get(shape(key, self.language))) is None:
            return None
        unit = self.units[row]
        target = adapted(unit, _key(unit.source), key)
        return None if target is None else MemoryMatch(1.0, unit.source, target, is_adapted=True)


class TranslationMemory:
    """Translations by people, for any number of directions. Threads may share it.

    Texts are compared without invisible characters, composed (NFC), with single spaces, and with straight quotes and
    apostrophes. Regions of languages, as in `en-GB`, do not matter. Units without languages are for every direction.

    Args:
        units: the first ones; of two with the same source, the later one is used.
    """

    def __init__(self, units: Iterable[Unit] = ()) -> None:
        self._directions: dict[tuple[str | None, str | None], _Direction] = {}
        self._lock = threading.Lock()
        for unit in units:
            self.add(*unit)

    @classmethod
    def open(cls, *paths: str | Path, source_lang: str | None = None, target_lang: str | None = None) -> Self:
        """Read memories: TMX, a table (TSV, CSV), JSONL, or a file that `append_units` wrote.

        Args:
            source_lang, target_lang: the two languages to read, where a file has others too.

        Raises:
            DataError: a file cannot be read, or has no pairs.
            ConfigError: a file does not have these languages.
        """
        return cls(unit for path in paths for unit in open_units(Path(path), (source_lang, target_lang)))

    def __len__(self) -> int:
        """Return the number of different sources."""
        return sum(len(direction.units) for direction in list(self._directions.values()))

    def __reduce__(self) -> tuple[type[Self], tuple[list[Unit]]]:
        """Pickle the units; indices are made again where they are needed."""
        return type(self), (self.units(),)

    def units(self) -> list[Unit]:
        """Return the units, each source once."""
        return [unit for direction in list(self._directions.values()) for unit in direction.units]

    def add(self, source: str, target: str, source_lang: str | None = None, target_lang: str | None = None) -> None:
        """Add a unit; it replaces one of an equal source. A unit with an empty side is left out."""
        key, unit = _key(source), Unit(source, target, source_lang, target_lang)
        if key and target.strip():
            with self._lock:
                if (direction := self._directions.get(unit.direction)) is None:
                    direction = self._directions[unit.direction] = _Direction(language_of(unit.source_lang or ""))
                direction.add(key, unit)

    def exact(self, text: str, source_lang: str | None = None, target_lang: str | None = None) -> MemoryMatch | None:
        """Return the match of an equal text, or None.

        A text that differs in its numbers, dates, times or amounts only is equal, where it is sure how the translation
        has the new ones (see `adapting`). So is a text of several sentences that are all in the memory: their
        translations are joined.

        Args:
            source_lang, target_lang: of the text, and of the wanted translation; None is unknown.
        """
        fitting = self._matching(source_lang, target_lang)

        def match_of(part: str) -> MemoryMatch | None:
            matches = (direction.exact(_key(part)) for direction in fitting)
            return next((match for match in matches if match is not None), None)

        if (whole := match_of(text)) is not None or not fitting:
            return whole
        parts = []
        for sentence in sentences(text):
            if sentence == text or (match := match_of(sentence)) is None:
                return None
            parts.append(match.target.strip())
        between = "" if language(target_lang) in WITHOUT_SPACES else " "
        return MemoryMatch(1.0, text, between.join(parts), is_adapted=True) if parts else None

    def lookup(
        self,
        text: str,
        source_lang: str | None = None,
        target_lang: str | None = None,
        *,
        threshold: float = THRESHOLD,
        limit: int = 5,
    ) -> list[MemoryMatch]:
        """Return the matches of a text, the best first. Without rapidfuzz, equal texts are all it finds.

        Args:
            source_lang, target_lang: as for `exact`.
            threshold: the least score.
            limit: the most matches.

        Raises:
            ConfigError: the threshold is not above 0 and at most 1.
        """
        check_threshold(threshold)
        found = [match] if (match := self.exact(text, source_lang, target_lang)) is not None else []
        if threshold == 1 or not can_search():
            return found[:limit]
        key, similar = _key(text), []
        for direction in self._matching(source_lang, target_lang):
            for score, row in direction.index.similar(key, threshold, limit + 1):
                unit = direction.units[row]
                if score < 1:
                    similar.append(MemoryMatch(min(round(score, 4), ALMOST), unit.source, unit.target))
        return [*found, *sorted(similar, key=lambda match: -match.score)][:limit]

    def _matching(self, source_lang: str | None, target_lang: str | None) -> list[_Direction]:
        """Return the directions that fit: that of these languages first, where unknown ones fit any."""
        wanted = language(source_lang), language(target_lang)
        fitting = [
            (known.count(None), direction)
            for known, direction in list(self._directions.items())
            if all(one is None or other is None or one == other for one, other in zip(known, wanted, strict=True))
        ]
        return [direction for _, direction in sorted(fitting, key=lambda each: each[0])]


def check_threshold(threshold: float) -> None:
    """Check the least score of a match.

    Raises:
        ConfigError: it is not above 0 and at most 1.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise ConfigError(f"a threshold of {threshold!r} for a memory", advice="give one above 0 and at most 1")


def _key(text: str) -> str:
    """Return what equal texts have in common."""
    return comparable(text).translate(_ALIKE)
