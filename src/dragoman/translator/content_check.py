"""A check that a translation has the spans, symbols and numbers of its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence

from dragoman.content.comparing import SPANS, Fault, faults
from dragoman.text.languages import UNSPACED
from dragoman.text.odd_characters import symbols
from dragoman.text.protection import occurrences
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.translator.reading import RESERVED
from dragoman.translator.results import Flag

_LETTER = re.compile(rf"[^\W\d_{UNSPACED}]")


def content_flags(
    source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str], off: Sequence[str] = ()
) -> list[Flag]:
    """Return the flags of what a translation lost or invented; an empty list if it has all.

    `span` is for spans and protected stretches that are missing, repeated or invented, and for missing symbols;
    `number` for what `content_faults` finds.

    Args:
        source, translation: the texts.
        stretches: the protected stretches of the source, as often as they are protected.
        languages: codes of the source and the target language.
        off: checks that are switched off.
    """
    flags: list[Flag] = []
    if SPANS not in off and has_span_faults(source, translation, stretches):
        flags.append("span")
    if content_faults(source, translation, stretches, languages, off):
        flags.append("number")
    return flags


def has_span_faults(source: str, translation: str, stretches: Sequence[str]) -> bool:
    """Return True if a translation lost, repeated or invented a span; see `content_flags`."""
    spans = _verbatim(source)
    is_invented = any(piece not in spans for piece in RESERVED.findall(translation))
    return is_invented or any(count for _, count in _miscounted(spans, source, translation, stretches))


def lost_spans(source: str, translation: str, stretches: Sequence[str]) -> list[str]:
    """Return the spans, protected stretches and symbols that a translation has less often than its source."""
    miscounted = _miscounted(_verbatim(source), source, translation, stretches)
    return list(dict.fromkeys(text for text, count in miscounted if count < 0))


def content_faults(
    source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str], off: Sequence[str] = ()
) -> list[Fault]:
    """Return the faults of numbers, dates and amounts outside spans and protected stretches. See `content_flags`."""
    spans = _verbatim(source)
    parts = sorted({*spans, *stretches}, key=lambda part: (-len(part), part))
    return faults(_blanked(source, parts, spans), _blanked(translation, parts, spans), languages, off)


def _verbatim(source: str) -> dict[str, None]:
    """Return the verbatim spans of a text, each once, in order."""
    return dict.fromkeys(source[span.start : span.end] for span in find_spans(source) if span.kind in VERBATIM)


def _miscounted(
    spans: Iterable[str], source: str, translation: str, stretches: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """Yield the spans, protected stretches and symbols of a source, each with how much too often a translation has it.

    Args:
        spans: the verbatim spans of the source.
    """
    for span in spans:
        yield span, _count(translation, span, source) - source.count(span)
    for stretch, least in Counter(stretches).items():
        yield stretch, count_error(source, translation, stretch, least)
    for symbol in sorted(symbols(source)):
        yield symbol, -(symbol not in translation)


def _count(translation: str, span: str, source: str) -> int:
    """Return how often a translation has a span. One at the end of a word does not count: "verkauft{name}".

    Scripts without spaces, and a source that has it so, do not separate the two.
    """
    count = translation.count(span)
    if not count or not span[0].isascii() or _n_joined(source, span):
        return count
    return count - _n_joined(translation, span)


def _n_joined(text: str, span: str) -> int:
    """Return how often a text has a span at the end of a word."""
    count, start = 0, text.find(span)
    while start >= 0:
        count += start > 0 and _LETTER.match(text, start - 1) is not None
        start = text.find(span, start + len(span))
    return count


def _blanked(text: str, parts: Sequence[str], spans: Container[str]) -> str:
    """Return a text with spaces in place of parts; those that are no spans are left in longer words: "5" in "150"."""
    for part in parts:
        if part in spans:
            text = text.replace(part, " " * len(part))
        else:
            for start, end in occurrences(text, part):
                text = text[:start] + " " * (end - start) + text[end:]
    return RESERVED.sub(lambda match: " " * len(match[0]), text)


def count_error(source: str, translation: str, stretch: str, least: int) -> int:
    """Return how many times too often a translation has a protected stretch; a negative number for too rarely.

    Args:
        least: how often it is protected; the source may have it more often.
    """
    found, most = len(occurrences(translation, stretch)), max(least, len(occurrences(source, stretch)))
    return min(found - least, 0) or max(found - most, 0)
