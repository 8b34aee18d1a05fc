"""The units of a translation that marks are put around, and the words of the source that each stands for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import words_in_place
from dragoman.documents.marked_text import MarkedText
from dragoman.text.protection import Stretch, merged, occurrences
from dragoman.text.spans import VERBATIM, find_spans

#: More are not looked for: each takes a pass over both texts.
_MOST_ANCHORS = 200


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
        units_of: dict[int, set[int]] = {}
        for number, linked in enumerate(sources):
            for word in linked:
                units_of.setdefault(word, set()).add(number)
        spans = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
        once = Counter(text[start:end] for start, end in (*self._source.verbatim, *spans))
        for start, end in (*self._source.verbatim, *spans)[:_MOST_ANCHORS]:
            places = occurrences(self._translation, text[start:end]) if once[text[start:end]] == 1 else []
            if len(places) != 1 or len(occurrences(text, text[start:end])) != 1:
                continue
            own = set(touching(self.source_words, (start, end)))
            for number in {unit for word in own for unit in units_of.get(word, ())}:
                sources[number] -= own
            for number in touching(self.units, places[0]):
                sources[number] = set(own)
                for word in own:
                    units_of.setdefault(word, set()).add(number)
        return sources


def touching(words: Sequence[Stretch], stretch: Stretch) -> range:
    """Return the numbers of the words that share characters with a stretch; words are in their order."""
    first = bisect_right(words, stretch[0], key=lambda word: word[1])
    return range(first, max(first, bisect_left(words, stretch[1], key=lambda word: word[0])))
