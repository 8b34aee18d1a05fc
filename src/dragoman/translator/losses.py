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
    """Return the quantities that a translation lost: those with a number, month or afternoon that is missing.

    All of them are returned if a currency is missing, or if something is wrong and no quantity has it, as when the
    translation has a number more. They are places of the source; none is in a protected stretch.
    """
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
    """Return both texts with as many spaces in place of spans and protected stretches, so that places stay."""
    spans = _verbatim(source)
    parts = sorted(spans.union(stretches), key=lambda part: (-len(part), part))
    return _blanked(source, parts, spans), _blanked(translation, parts, spans)


def _blanked(text: str, parts: Sequence[str], spans: set[str]) -> str:
    """Return a text with spaces in place of parts; those that are no spans are left in longer words: "5" in "150"."""
    for part in parts:
        if part in spans:
            text = text.replace(part, " " * len(part))
        else:
            for start, end in occurrences(text, part):
                text = text[:start] + " " * (end - start) + text[end:]
    return RESERVED.sub(lambda match: " " * len(match[0]), text)


def count_error(source: str, translation: str, stretch: str, least: int) -> int:
    """Return by how many a protected stretch is too often in a translation; a negative number if it is too rare.

    Args:
        least: the times that it is protected; the source may have it more often.
    """
    found, most = len(occurrences(translation, stretch)), max(least, len(occurrences(source, stretch)))
    return min(found - least, 0) or max(found - most, 0)
