"""Other values for the numbers of a pair."""

from __future__ import annotations

import re
from typing import NamedTuple

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick
from dragoman.text.written_numbers import Number

#: Languages in which any number from two on has the same grammar.
_ONE_OR_MANY_CODES = "en de fr es it pt nl sv da nb nn no fi hu tr el ca eu et zh ja ko vi th id ms"
_ONE_OR_MANY = frozenset(_ONE_OR_MANY_CODES.split())
#: A number that must stay because of what follows: "2nd", "5e", "1960s".
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|e|s|te|ter|tes|ten)\b")
_HOUR = re.compile(r"\s?(?:o['’]clock|[ap]\.?\s?m\b|Uhr|heures?|h\b|点|點|时)", re.IGNORECASE)
_HALF_DAY = re.compile(r"\s?(?:o['’]clock|[ap]\.?\s?m\b|点|點)", re.IGNORECASE)
_MONEY_BEFORE = re.compile(r"[$€£¥]\s?\Z")
_MONEY_AFTER = re.compile(
    r"\s?(?:[$€£¥]|dollars?\b|euros?\b|Dollar|Euro|pounds?\b|Pfund|francs?\b|yen\b|欧元|美元|元)", re.IGNORECASE
)
#: The beginning of a month's name in English, German or French, or the signs of a Chinese date.
_MONTH = re.compile(
    r"(?i:\b(?:jan|feb|f[ée]v|mar[cs]|märz|apr|avr|jun|juin|jul|juil|aug|août|sep|o[ck]t|nov|d[eé][cz])|\bmai\b)|\bMay|[月日号]"
)
_LAST_DAY = 28
_JOINING = frozenset("-/+")
_FIRST_YEAR, _LAST_YEAR = 1000, 2099


def other_value(number: Number, context: Context, generator: Generator) -> Number | None:
    """Return another value of the same kind and grammar; None if the number must stay."""
    if not all(digits.isascii() and len(digits) < 16 for digits in number.digits) or context.is_ordinal:
        return None
    if number.kind == "time":
        hour = number.digits[0]
        low, high = (2, 12) if int(hour) <= 12 else (13, 23)
        return Number("time", (_padded(_between(low, high, generator), hour), f"{_between(0, 59, generator):02}"))
    if number.kind == "decimal":
        whole, fraction = number.digits
        return Number("decimal", (other_whole(whole, generator), draw_digits(len(fraction), generator)))
    if number.kind != "whole":
        return Number(number.kind, tuple(_part_of_date(digits, generator) for digits in number.digits))
    value = int(number.digits[0])
    if value < 2 or (value < 100 and not context.is_free):
        return None
    if context.is_part:
        return Number("whole", (draw_digits(len(number.digits[0]), generator),))
    if context.is_hour and value <= 24:
        return Number("whole", (str(_between(2, 12 if value <= 12 else 23, generator)),))
    if context.is_day and value <= 31:
        return Number("whole", (_padded(_between(2, _LAST_DAY, generator), number.digits[0]),))
    if context.is_money and generator.random() < 0.4:
        return Number("decimal", (other_whole(number.digits[0], generator), draw_digits(2, generator)))
    if not context.is_free:
        return Number("whole", (draw_digits(len(str(value)) - 2, generator).lstrip("0") + number.digits[0][-2:],))
    return Number("whole", (other_whole(number.digits[0], generator),))


class Context(NamedTuple):
    """The neighbours of a number, as far as they limit its value."""

    is_ordinal: bool
    is_hour: bool
    #: It may be a day of a month.
    is_day: bool
    is_money: bool
    #: It is part of a longer one, such as that of a telephone.
    is_part: bool
    #: Any number from two on has the same grammar.
    is_free: bool


def context(places: tuple[tuple[str, str], tuple[str, str]], languages: tuple[str, str]) -> Context:
    """Return the context of a number that has the given text before and after it on each side."""
    (before, after), (other_before, other_after) = places
    befores, afters = (before, other_before), (after, other_after)
    is_half_day = any(map(_HALF_DAY.match, afters))
    return Context(
        is_ordinal=any(map(_ORDINAL.match, afters)),
        is_hour=is_half_day or any(map(_HOUR.match, afters)),
        is_day=any(map(_MONTH.search, (*befores, *afters))),
        is_money=any(map(_MONEY_BEFORE.search, befores)) or any(map(_MONEY_AFTER.match, afters)),
        is_part=before[-1:] in _JOINING or after[:1] in _JOINING,
        is_free=_ONE_OR_MANY.issuperset(languages),
    )


def other_whole(digits: str, generator: Generator) -> str:
    """Return a whole number from two on, most often with as many digits as another."""
    if len(digits) == 4 and _FIRST_YEAR <= int(digits) <= _LAST_YEAR and generator.random() < 0.9:
        return str(_between(_FIRST_YEAR, _LAST_YEAR, generator))
    chance = generator.random()
    length = (
        len(digits)
        if chance < 0.6
        else pick((2, 2, 3, 4), generator)
        if chance < 0.85
        else pick((5, 6, 7, 9), generator)
    )
    return str(_between(max(2, 10 ** (length - 1)), 10**length - 1, generator))


def _part_of_date(digits: str, generator: Generator) -> str:
    """Return other digits that may be a day, a month or a year where those were."""
    if len(digits) == 4:
        return str(_between(_FIRST_YEAR, _LAST_YEAR, generator))
    return _padded(_between(2, 12, generator), digits) if len(digits) <= 2 else draw_digits(len(digits), generator)


def _padded(value: int, like: str) -> str:
    return f"{value:02}" if like.startswith("0") else str(value)


def draw_digits(count: int, generator: Generator) -> str:
    """Return so many digits."""
    return f"{int(generator.random() * 10**count):0{count}}" if count else ""


def _between(low: int, high: int, generator: Generator) -> int:
    return low + int(generator.random() * (high - low + 1))
