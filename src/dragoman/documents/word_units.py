"""The units of a translation that marks are put around, and the words of the source that each stands for."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import words_in_place
from dragoman.documents.marked_text import MarkedText
from dragoman.text.protection import merged, occurrences
from dragoman.text.spans import VERBATIM, find_spans


class WordUnits:
    """A unit is a word of the translation, or words that a verbatim stretch joins."""

    def __init__(self, source: MarkedText, translation: str) -> None:
        self._source, self._translation = source, translation
        stretches = {source.text[start:end] for start, end in source.verbatim}
        found = (place for stretch in stretches if stretch for place in occurrences(translation, stretch))
        #: The verbatim stretches in the translation.
        self.verbatim = merged(found)
        self.source_words = words_in_place(source.text)
        self._words = words_in_place(translation)
        self.units = merged([*self._words, *self.verbatim])

    def links(self, alignment: Iterable[Link] | None) -> list[set[int]]:
        """Return the source words of each unit."""
        n_source, n_units = len(self.source_words), len(self.units)
        if alignment is None:
            proportional = [{number * n_source // n_units} if n_source else set() for number in range(n_units)]
            return self._anchored(proportional)
        sources: list[set[int]] = [set() for _ in self.units]
        unit_of, unit = [], 0
        for word in self._words:
            while self.units[unit][1] <= word[0]:
                unit += 1
            unit_of.append(unit)
        for source_word, target_word in alignment:
            if 0 <= target_word < len(unit_of) and 0 <= source_word < n_source:
                sources[unit_of[target_word]].add(source_word)
        return self._anchored(sources)

    def _anchored(self, sources: list[set[int]]) -> list[set[int]]:
        """Link what both texts have once, such as an address, to itself alone."""
        text = self._source.text
        spans = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
        for start, end in (*self._source.verbatim, *spans):
            places = occurrences(self._translation, text[start:end])
            if len(places) != 1 or len(occurrences(text, text[start:end])) != 1:
                continue
            own = {number for number, word in enumerate(self.source_words) if word[0] < end and start < word[1]}
            for number, unit in enumerate(self.units):
                is_same = unit[0] < places[0][1] and places[0][0] < unit[1]
                sources[number] = set(own) if is_same else sources[number] - own
        return sources
