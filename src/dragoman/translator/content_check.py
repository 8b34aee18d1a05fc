"""A check that a translation has the spans, symbols and numbers of its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from dragoman.content.comparing import SPANS, Fault, faults
from dragoman.text.cleaning import comparable
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.odd_characters import symbols
from dragoman.text.protection import Stretch, occurrences
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.terms import Term, TermList, apart
from dragoman.translator.reading import RESERVED
from dragoman.translator.results import Flag

_LETTER = lazy_pattern(rf"[^\W\d_{UNSPACED}]")
#: Quotation marks that are no apostrophes, and straight ones that may be none: 5", and inside a word of Hebrew.
_QUOTE, _NO_QUOTE = lazy_pattern('["“”„«»「」『』]'), lazy_pattern(r'\d"|\w"[^\W\d_]')


class CheckContext(NamedTuple):
    """Facts about a source that its translation is checked with."""

    #: Codes of the source and the target language.
    languages: tuple[str, str]
    #: The protected stretches of the source, as often as they are protected.
    stretches: Sequence[str] = ()
    #: Checks that are switched off.
    off: Sequence[str] = ()
    #: Terms of the source whose translations are demanded.
    terms: Sequence[Term] = ()


def content_flags(source: str, translation: str, context: CheckContext) -> list[Flag]:
    """Return the flags of what a translation lost or invented; an empty list if it has all.

    `span` is for spans and protected stretches that are missing, repeated or invented, for missing symbols, and for
    quotation marks without a partner; `number` for what `content_faults` finds.
    """
    flags: list[Flag] = ["span"] if has_span_faults(source, translation, context) else []
    flags += quote_flags(source, translation, context.off)
    return [*flags, "number"] if content_faults(source, translation, context) else flags


def quote_flags(source: str, translation: str, off: Sequence[str]) -> list[Flag]:
    """Return the flag of a translation with a quotation mark that has no partner, though all in its source have one.

    Marks that are all gone have no flag: people leave them out too often.
    """
    n_quotes, n_written = (len(_QUOTE.findall(text)) for text in (source, translation))
    is_alone = n_quotes > 0 and n_quotes % 2 == 0 and n_written % 2 == 1 and not _NO_QUOTE.search(translation)
    return ["span"] if is_alone and SPANS not in off else []


def has_span_faults(source: str, translation: str, context: CheckContext) -> bool:
    """Return True if a translation lost, repeated or invented a span that is no part of a term; see `content_flags`."""
    if SPANS in context.off:
        return False
    source = _spaced(source, _places(context.terms, source))
    spans = _verbatim(source)
    is_invented = any(piece not in spans for piece in RESERVED.findall(translation))
    return is_invented or any(count for _, count in _miscounted(spans, source, translation, context.stretches))


def lost_spans(source: str, translation: str, context: CheckContext) -> list[str]:
    """Return the spans, protected stretches and symbols that a translation has less often than its source.

    A span that is part of a term is not looked for.
    """
    source = _spaced(source, _places(context.terms, source))
    miscounted = _miscounted(_verbatim(source), source, translation, context.stretches)
    return list(dict.fromkeys(text for text, count in miscounted if count < 0))


def content_faults(source: str, translation: str, context: CheckContext) -> list[Fault]:
    """Return the faults of numbers, dates and amounts outside spans, protected stretches and terms.

    See `_without_terms`.
    """
    source, translation = _without_terms(source, translation, context.terms)
    spans = _verbatim(source)
    parts = sorted({*spans, *context.stretches}, key=lambda part: (-len(part), part))
    return faults(_blanked(source, parts, spans), _blanked(translation, parts, spans), context.languages, context.off)


def _without_terms(source: str, translation: str, terms: Sequence[Term]) -> tuple[str, str]:
    """Return both texts with spaces in place of the terms with digits that the translation has.

    "24/7" becomes "rund um die Uhr" because a term list says so, and loses no number.
    """
    exact = Counter(term for term in terms if any(map(str.isdecimal, "".join((term.source, *term.targets)))))
    for term, count in sorted(exact.items(), key=lambda pair: -len(pair[0].units)):  # "24/7" before "24"
        translation = comparable(translation)
        written = apart(term.places_in(translation, any_case=True))[:count]
        source = _spaced(source, _places([term], source)[: len(written)])
        translation = _spaced(translation, written)
    return source, translation


def _places(terms: Iterable[Term], source: str) -> list[Stretch]:
    """Return the places of terms in a source."""
    return [(start, end) for start, end, _ in TermList(terms).find(source)]


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
        text = text.replace(part, " " * len(part)) if part in spans else _spaced(text, occurrences(text, part))
    return RESERVED.sub(lambda match: " " * len(match[0]), text)


def _spaced(text: str, places: Iterable[Stretch]) -> str:
    """Return a text with spaces in some places."""
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def count_error(source: str, translation: str, stretch: str, least: int) -> int:
    """Return how many times too often a translation has a protected stretch; a negative number for too rarely.

    Args:
        least: how often it is protected; the source may have it more often.
    """
    found, most = len(occurrences(translation, stretch)), max(least, len(occurrences(source, stretch)))
    return min(found - least, 0) or max(found - most, 0)
