"""The units of a translation that marks are put around, and the words of the source that each stands for.

A word is cut where it touches something verbatim, as "4.0。`code`" is: the parts may be in different marks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching, words_in_place
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch, merged, occurrences
from dragoman.text.sentences import has_words
from dragoman.text.spans import VERBATIM, find_spans

#: More are not looked for: each takes a pass over both texts.
_MOST_ANCHORS = 200
#: Prices as most languages write them. In a row, the sign of one stands between two numbers. Each number is read once.
_NUMBER = r"\d++(?:[.,]\d++)*+"
_IN_A_ROW = re.compile(rf"[$€£¥]\s?{_NUMBER}"), re.compile(rf"(?<!\d)(?<!\d[.,]){_NUMBER}\s?[$€£¥]")
#: The sign of a price before its number, with the letters of a dollar, and after it.
_SIGN_BEFORE = re.compile(r"(?:(?<![A-Za-z])(?:US|AU?|CA?|NZ|HK|S)\$|[$€£¥￥])\Z")
_SIGN_AFTER = re.compile(r"\s?[$€£¥](?!\s?\d)")
_LONGEST_SIGN = 4
#: Verbatim stretches that a word is cut at: each of its parts is linked to each part of another word.
_MOST_INSIDE = 20
#: Units on each side of the place by proportion that a mark may stand at.
_FARTHEST = 200


class WordUnits:
    """A unit is a word of the translation or a part of one, or words that a verbatim stretch or a price joins."""

    def __init__(self, source: MarkedText, translation: str) -> None:
        self._source, self._translation = source, translation
        stretches = {source.text[start:end] for start, end in source.verbatim}
        found = (place for stretch in stretches if stretch for place in occurrences(translation, stretch))
        #: The verbatim stretches in the translation.
        self.verbatim = merged(found)
        #: Signs that are in a mark of their own, such as the "#" of a link to a heading.
        self._signs = {source.text[mark.start : mark.end] for mark in source.marks} - {""}
        self._whole_words = words_in_place(source.text)
        self.source_words = self._parts(source.text, self._whole_words, source.verbatim)
        self._words = words_in_place(translation)
        #: The amounts in the translation that have a currency sign.
        self.prices = _prices(translation)
        self.units = merged([*self._parts(translation, self._words, self.verbatim), *self.verbatim, *self.prices])

    def links(self, alignment: Iterable[Link] | None) -> list[set[int]]:
        """Return the source words of each unit."""
        n_source, n_units = len(self.source_words), len(self.units)
        if alignment is None:
            proportional = [{number * n_source // n_units} if n_source else set() for number in range(n_units)]
            return self._anchored(proportional)
        sources: list[set[int]] = [set() for _ in self.units]
        for source_word, target_word in alignment:
            if 0 <= target_word < len(self._words) and 0 <= source_word < len(self._whole_words):
                parts = touching(self.source_words, self._whole_words[source_word])
                for unit in touching(self.units, self._words[target_word]):
                    is_code = _is_in(self.units[unit], self.verbatim)
                    same = [one for one in parts if _is_in(self.source_words[one], self._source.verbatim) == is_code]
                    sources[unit].update(same or parts)
        return self._anchored(sources)

    def _parts(self, text: str, words: Sequence[Stretch], verbatim: Sequence[Stretch]) -> list[Stretch]:
        """Return the words, cut at the edges of verbatim stretches; a sign there stays with what is verbatim."""
        parts: list[Stretch] = []
        for start, end in words:
            inside = touching(verbatim, (start, end))
            for first, last in (verbatim[one] for one in inside if len(inside) <= _MOST_INSIDE):
                if start < first and self._is_part(text[start:first]):
                    parts.append((start, first))
                    start = first
                if last < end and self._is_part(text[last:end]):
                    parts.append((start, last))
                    start = last
            parts.append((start, end))
        return parts

    def _is_part(self, text: str) -> bool:
        return has_words(text) or text in self._signs

    def _anchored(self, sources: list[set[int]]) -> list[set[int]]:
        """Link what both texts have once, such as an address or a price, to itself alone."""
        text = self._source.text
        prices = _prices(text)
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
            self._anchor(sources, units_of, (start, end), places[0])
        theirs, own = _by_digits(text, prices), _by_digits(self._translation, self.prices)
        if len(prices) == len(self.prices) == 1:
            self._anchor(sources, units_of, prices[0], self.prices[0])
        elif len(theirs) == len(prices) <= _MOST_ANCHORS and theirs.keys() == own.keys():
            for digits, price in theirs.items():
                self._anchor(sources, units_of, price, own[digits])
        return sources

    def _anchor(self, sources: list[set[int]], units_of: dict[int, set[int]], place: Stretch, written: Stretch) -> None:
        """Link a place of the source to its place in the translation alone."""
        own = set(touching(self.source_words, place))
        for number in {unit for word in own for unit in units_of.get(word, ())}:
            sources[number] -= own
        for number in touching(self.units, written):
            sources[number] = set(own)
            for word in own:
                units_of.setdefault(word, set()).add(number)


def _is_in(part: Stretch, places: Sequence[Stretch]) -> bool:
    return len(touching(places, part)) > 0


def _prices(text: str) -> list[Stretch]:
    """Return the places of the amounts with a currency sign: "1,20 $".

    >>> [[text[slice(*place)] for place in _prices(text)] for text in ("$20 $15", "20 $ 15 $", "20 $, or $15")]
    [['$20', '$15'], ['20 $', '15 $'], ['20 $', '$15']]
    """
    numbers = [(span.start, span.end) for span in find_spans(text) if span.kind == "number"]
    alone = [place for number in numbers if (place := _with_sign(text, *number)) != number]
    before, after = ([match.span() for match in pattern.finditer(text)] for pattern in _IN_A_ROW)
    return max(merged(alone), before, after, key=len)


def _with_sign(text: str, start: int, end: int) -> Stretch:
    """Return the place of an amount with its currency sign, given that of its number.

    >>> _with_sign("It is US$5.", 9, 10), _with_sign("20 €", 0, 2), _with_sign("20 men", 0, 2)
    ((6, 10), (0, 4), (0, 2))
    """
    if before := _SIGN_BEFORE.search(text[max(0, start - _LONGEST_SIGN) : start]):
        return start - len(before[0]), end
    after = _SIGN_AFTER.match(text, end)
    return start, after.end() if after else end


def _by_digits(text: str, prices: Iterable[Stretch]) -> dict[str, Stretch]:
    """Return the places of prices by their digits, which stay when separators change."""
    return {re.sub(r"\D", "", text[slice(*place)]): place for place in prices}


class Cuts:
    """Places between units where the translation parts as its source does.

    Args:
        links: the source words of each unit.
        n_source_words: of the whole source.
    """

    def __init__(self, links: Sequence[set[int]], n_source_words: int) -> None:
        self._words = np.fromiter((word for linked in links for word in linked), dtype=np.int64)
        #: For each unit, where its source words begin among all of them.
        self._starts = np.fromiter(accumulate(map(len, links), initial=0), dtype=np.int64)
        self._share = len(links) / max(1, n_source_words)
        #: What was found: many marks may stand at one place.
        self._found: dict[tuple[int, int, int], int] = {}

    def best(self, n_before: int, first: int, last: int) -> int:
        """Return the place between two others that fewest links cross, and of those the nearest one by proportion.

        In a long text only places that are near by proportion are compared.

        Args:
            n_before: source words before the place.
        """
        aim = n_before * self._share
        nearest = min(max(first, int(aim)), last)
        first, last = max(first, nearest - _FARTHEST), min(last, nearest + _FARTHEST)
        key = n_before, first, last
        if key not in self._found:
            starts = self._starts[first : last + 1]
            #: A link to a later word crosses the place if it is to its left, one to an earlier word if to its right.
            changes = np.where(self._words[starts[0] : starts[-1]] >= n_before, 1, -1)
            crossing = np.concatenate(([0], np.cumsum(changes)))[starts - starts[0]]
            fewest = np.flatnonzero(crossing == crossing.min()) + first
            self._found[key] = int(fewest[np.argmin(np.abs(fewest - aim))])
        return self._found[key]
