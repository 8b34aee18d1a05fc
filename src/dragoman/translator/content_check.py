"""A check that a translation has the spans, symbols, numbers and currencies of its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence

from dragoman.text.currencies import currencies_kept
from dragoman.text.languages import UNSPACED, base_language, have_rules
from dragoman.text.numbers import NumberFaults, number_faults
from dragoman.text.odd_characters import symbols
from dragoman.text.protection import occurrences
from dragoman.text.quantities import Quantity, find_quantities
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.unit_symbols import lost_units
from dragoman.text.worded_quantities import find_worded_quantities, worded_faults
from dragoman.translator.reading import RESERVED
from dragoman.translator.results import Flag

_LETTER = re.compile(rf"[^\W\d_{UNSPACED}]")


def content_flags(
    source: str,
    translation: str,
    stretches: Sequence[str],
    languages: tuple[str, str],
    off: Container[str] = (),
) -> list[Flag]:
    """Return the flags of what a translation lost or invented; an empty list if it has all.

    `span` is for spans and protected stretches that are missing, repeated or invented, and for missing symbols.
    `number` is for numbers, months, weekdays, times and halves of the day that are missing or invented, and for lost
    minus signs, units and currencies. Numbers are checked only if the rules know both languages.

    Args:
        source, translation: the texts.
        stretches: the protected stretches of the source, as often as they are protected.
        languages: codes of the source and the target language.
        off: checks that are switched off: `spans`, `numbers`.
    """
    spans = _verbatim(source)
    flags: list[Flag] = []
    is_invented = any(piece not in spans for piece in RESERVED.findall(translation))
    if "spans" not in off and (is_invented or any(count for _, count in _miscounted(source, translation, stretches))):
        flags.append("span")
    if "numbers" in off or not have_rules(languages):
        return flags
    source, target = _without_spans(source, translation, stretches)
    has_faults = any(any(faults) for faults in _faults(source, target, languages))
    has_faults = has_faults or bool(lost_units(source, target, languages[1]))
    if has_faults or not currencies_kept(source, target, base_language(languages[1])):
        flags.append("number")
    return flags


def lost_spans(source: str, translation: str, stretches: Sequence[str]) -> list[str]:
    """Return the spans, protected stretches and symbols that a translation has less often than its source."""
    return list(dict.fromkeys(text for text, count in _miscounted(source, translation, stretches) if count < 0))


def lost_quantities(
    source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str]
) -> list[Quantity]:
    """Return the quantities of a source that a translation lost: those with a missing number, month or half of the day.

    If a currency sign is missing, or the fault belongs to no quantity, such as one number too many, return all of them.
    Quantities in words are returned only if they are lost. Places are those of the source. No quantity is in a
    protected stretch. There are none if the rules do not know both languages.
    """
    if not have_rules(languages):
        return []
    source, target = _without_spans(source, translation, stretches)
    in_digits, in_words = _faults(source, target, languages)
    found = _with_places(find_worded_quantities(source, *languages), in_words.lost) if in_words.lost else []
    is_kept = currencies_kept(source, target, base_language(languages[1]))
    units = lost_units(source, target, languages[1])
    if not any(in_digits) and is_kept and not units:
        return found
    quantities = find_quantities(source, *languages)
    lost = _with_places(quantities, [*in_digits.lost, *units]) if is_kept else []
    return sorted([*found, *(lost or quantities)])


def _faults(source: str, translation: str, languages: tuple[str, str]) -> tuple[NumberFaults, NumberFaults]:
    """Return the faults of quantities in digits, and of those in words."""
    return number_faults(source, translation, *languages), worded_faults(source, translation, *languages)


def _with_places(quantities: Sequence[Quantity], places: Sequence[int]) -> list[Quantity]:
    return [each for each in quantities if any(each.start <= place < each.end for place in places)]


def _verbatim(source: str) -> dict[str, None]:
    """Return the verbatim spans of a text, each once, in order."""
    return dict.fromkeys(source[span.start : span.end] for span in find_spans(source) if span.kind in VERBATIM)


def _miscounted(source: str, translation: str, stretches: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the spans, protected stretches and symbols whose count in a translation is wrong, with the difference."""
    for span in _verbatim(source):
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


def _without_spans(source: str, translation: str, stretches: Sequence[str]) -> tuple[str, str]:
    """Return both texts with as many spaces in place of spans and protected stretches, so that places stay."""
    spans = _verbatim(source)
    parts = sorted({*spans, *stretches}, key=lambda part: (-len(part), part))
    return _blanked(source, parts, spans), _blanked(translation, parts, spans)


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
