"""Names, numbers, addresses, placeholders and code that stand on both sides of a pair, and may be replaced there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dragoman.data.augmentation.days import dates, shared_days
from dragoman.data.augmentation.number_values import Value, value_of
from dragoman.data.augmentation.shared import Languages, Pair, Shared
from dragoman.data.augmentation.shared_names import shared_names
from dragoman.text.spans import VERBATIM, Span, find_spans


def find_shared(pair: Pair, languages: Languages) -> list[Shared]:
    """Return what stands on both sides, without overlaps.

    Names stand equally often on both sides; numbers and the other spans exactly once on each.
    """
    found = shared_days(pair, languages)
    for each in shared_names(pair, languages):
        if not _overlaps(each, found):
            found.append(each)
    spans = find_spans(pair[0]), find_spans(pair[1])
    if spans[0] and spans[1]:
        found += [shared for shared in _equal_spans(pair, languages, spans) if not _overlaps(shared, found)]
    return found


def shared_verbatim(pair: Pair) -> list[Shared]:
    """Return the spans that are copied character by character and stand exactly once on both sides."""
    source = find_spans(pair[0])
    if not source:
        return []
    spans = source, find_spans(pair[1])
    return [shared for shared in _equal_spans(pair, ("", ""), spans) if shared.kind in VERBATIM]


def _overlaps(shared: Shared, others: Sequence[Shared]) -> bool:
    """Return True if the first place of a span on a side lies in another span."""
    return any(
        start < place[1] and place[0] < end
        for other in others
        for (place, *_), places in zip(shared.places, other.places, strict=True)
        for start, end in places
    )


def _equal_spans(pair: Pair, languages: Languages, spans: tuple[list[Span], list[Span]]) -> Iterator[Shared]:
    sides = [_single(text, side, language) for text, side, language in zip(pair, spans, languages, strict=True)]
    for key, span in sides[0].items():
        other = sides[1].get(key)
        if span is not None and other is not None:
            yield Shared(span.kind, (((span.start, span.end),), ((other.start, other.end),)))


def _single(text: str, spans: list[Span], language: str) -> dict[Value, Span | None]:
    """Return each span by its text, or its value if it is a number; None for one that stands there several times."""
    found: dict[Value, Span | None] = {}
    numbered = dates(text, language)
    for span in spans:
        key: Value = text[span.start : span.end]
        if span.kind == "number":
            if any(start < span.end and span.start < end for start, end in numbered):
                continue
            key = value_of(str(key), language)
        found[key] = None if key in found else span
    return found
