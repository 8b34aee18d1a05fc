"""Dates, months and weekdays on both sides, which others may replace: "on May 22", "am 22. Mai"."""

from __future__ import annotations

from numpy.random import Generator

from dragoman.content.entity import Entity
from dragoman.content.find import find_dates, find_weekdays
from dragoman.content.language import Language, language_of
from dragoman.content.write import write
from dragoman.data.augmentation.shared import Languages, Pair, Place, Shared
from dragoman.data.perturbations.picking import pick

#: Languages in which another weekday or month needs no other words around it.
_LANGUAGES = {code: language for code in ("en", "de", "fr", "zh") if (language := language_of(code))}
_FIRST_YEAR, _N_YEARS = 1990, 46
#: Days that each month has; French writes 1 as "1er".
_DAYS = range(2, 29)


def shared_days(pair: Pair, languages: Languages) -> list[Shared]:
    """Return the dates, months and weekdays once on both sides, as each language usually writes them."""
    known = [_LANGUAGES.get(code) for code in languages]
    source = _single(pair[0], known[0]) if known[0] and known[1] else {}
    target = _single(pair[1], known[1]) if source and known[1] else {}
    return [
        Shared("day", ((place,), (other,)))
        for key, place in source.items()
        if place is not None and (other := target.get(key)) is not None
    ]


def dates(text: str, code: str) -> list[Place]:
    """Return the places of dates, whose numbers are no others."""
    language = language_of(code)
    return [(date.start, date.end) for date in find_dates(text, language)] if language else []


def draw_day(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return another date for a date, and another weekday for a weekday, as each language usually writes it."""
    ((start, end),), _ = shared.places
    source, target = (_LANGUAGES[code] for code in languages)
    (old,) = _days(pair[0][start:end], source)
    new = _other(old, generator)
    return write(new, source)[0], write(new, target)[0]


def _days(text: str, language: Language) -> list[Entity]:
    return [*find_weekdays(text, language), *find_dates(text, language)]


def _single(text: str, language: Language) -> dict[object, Place | None]:
    """Return the place of each day by its kind and value; None for one that stands there several times."""
    found: dict[object, Place | None] = {}
    for day in _days(text, language):
        key = day.kind, day.value
        is_usual = text[day.start : day.end] in write(day, language)
        found[key] = (day.start, day.end) if is_usual and key not in found else None
    return found


def _other(day: Entity, generator: Generator) -> Entity:
    if not isinstance(day.value, tuple) or len(day.value) != 3:
        return day._replace(value=pick([number for number in range(7) if number != day.value], generator))
    year, month, number = day.value
    new_month = pick([other for other in range(1, 13) if other != month], generator)
    new_year = year and _FIRST_YEAR + pick(range(_N_YEARS), generator)
    return day._replace(value=(new_year, new_month, number and pick(_DAYS, generator)))
