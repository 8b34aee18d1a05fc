"""Losses of a translation: spans, symbols, numbers and currencies that it lacks or has too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dragoman.text.currencies import currencies_kept
from dragoman.text.languages import base_language
from dragoman.text.numbers import number_faults, numbers_kept
from dragoman.text.odd_characters import symbols
from dragoman.text.protection import occurrences
from dragoman.text.quantities import Quantity, find_quantities
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.translator.reading import RESERVED
from dragoman.translator.results import Flag


def find_losses(source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str]) -> list[Flag]:
    """Return `span` if a span or a protected stretch is missing, repeated or invented, or a symbol is missing; and
    `number` if a number is, or the currency of a price is missing."""
    spans = _verbatim(source)
    losses: list[Flag] = []
    is_invented = any(piece not in spans for piece in RESERVED.findall(translation))
    if is_invented or any(count for _, count in _miscounted(source, translation, stretches)):
        losses.append("span")
    source, target = _without_spans(source, translation, stretches)
    is_kept = numbers_kept(source, target, *languages)
    if not is_kept or not currencies_kept(source, target, base_language(languages[1])):
        losses.append("number")
    return losses


def lost_spans(source: str, translation: str, stretches: Sequence[str]) -> list[str]:
    """Return the spans, protected stretches and symbols that are too rare in a translation."""
    return list(dict.fromkeys(text for text, count in _miscounted(source, translation, stretches) if count < 0))


def lost_quantities(
    source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str]
) -> list[Quantity]:
    """Return the quantities that a translation lost; all of them if it has other numbers, or lacks a currency."""
    source, target = _without_spans(source, translation, stretches)
    lost, has_gained = number_faults(source, target, *languages)
    is_kept = currencies_kept(source, target, base_language(languages[1]))
    if not lost and not has_gained and is_kept:
        return []
    quantities = find_quantities(source, *languages)
    found = [each for each in quantities if any(each.start <= place < each.end for place in lost)]
    return found if found and is_kept else quantities


def _verbatim(source: str) -> set[str]:
    return {source[span.start : span.end] for span in find_spans(source) if span.kind in VERBATIM}


def _miscounted(source: str, translation: str, stretches: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the spans, protected stretches and symbols that are not as often in a translation, and by how many."""
    for span in sorted(_verbatim(source), key=source.index):
        yield span, translation.count(span) - source.count(span)
    for stretch, least in Counter(stretches).items():
        yield stretch, count_error(source, translation, stretch, least)
    for symbol in sorted(symbols(source)):
        yield symbol, -(symbol not in translation)


def _without_spans(source: str, translation: str, stretches: Sequence[str]) -> tuple[str, str]:
    """Return both texts with spaces in place of spans and protected stretches."""
    texts = source, translation
    for span in sorted(_verbatim(source).union(stretches), key=len, reverse=True):
        texts = texts[0].replace(span, " "), texts[1].replace(span, " ")
    return RESERVED.sub(" ", texts[0]), RESERVED.sub(" ", texts[1])


def count_error(source: str, translation: str, stretch: str, least: int) -> int:
    """Return by how many a protected stretch is too often in a translation; a negative number if it is too rare.

    Args:
        least: the times that it is protected; the source may have it more often.
    """
    found, most = len(occurrences(translation, stretch)), max(least, len(occurrences(source, stretch)))
    return min(found - least, 0) or max(found - most, 0)
