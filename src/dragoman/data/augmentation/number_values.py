"""Other values for the numbers of a pair."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from numpy.random import Generator

from dragoman.content.digits import find_numbers
from dragoman.content.entity import Entity
from dragoman.content.language import any_of, language_of
from dragoman.content.write import write
from dragoman.data.augmentation.shared import Place
from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import UNSPACED

#: The value of a number; (hour, minute); or the text of anything else in digits, such as a date or a version.
Value = Decimal | tuple[int, int] | str
#: Languages in which any number from two on has the same grammar.
_ONE_OR_MANY_CODES = "en de fr es it pt nl sv da nb nn no fi hu tr el ca eu et zh ja ko vi th id ms"
_ONE_OR_MANY = frozenset(_ONE_OR_MANY_CODES.split())
#: A letter right after a number, which must stay: "2nd", "5e", "1960s".
_LETTER = re.compile(f"(?![{UNSPACED}])[^\\W\\d_]")
_JOINING = frozenset("-/+")
_DIGITS = re.compile(r"\d+")
#: Longer ones are identifiers.
_LONGEST = 15
_GROUPED = re.compile(r"\d{1,3}\D\d{3}")
#: Spaces between thousands; CLDR has the last one.
_SPACES = re.compile("[ \u00a0\u2009\u202f]")
_FIRST_YEAR, _LAST_YEAR = 1000, 2099


def value_of(text: str, code: str) -> Value:
    """Return the value of a number as its language usually writes it.

    >>> value_of("1.250,50", "de") == value_of("1,250.50", "en"), value_of("17:45", "fr"), value_of("2.1.3", "en")
    (True, (17, 45), '2.1.3')
    """
    number, *more = find_numbers(text, language_of(code))
    if not more and number.end == len(text):
        if number.clock and "." not in text:
            return number.clock
        spaced = _SPACES.sub("\u202f", text)
        for value in number.values:
            if spaced in [_SPACES.sub("\u202f", form) for form in _forms(value, code)]:
                return value
    return text


def written(value: Value, code: str, like: str = "") -> str:
    """Return a number as a language writes it.

    Args:
        like: a number as an example: its separators are used if it has any.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        sign = next((character for character in like if not character.isdecimal()), ":")
        return f"{_padded(value[0], like)}{sign}{value[1]:02}"
    forms = _forms(value, code) or [f"{value:f}"]
    form = forms[0]
    if _GROUPED.match(like):
        form = max(forms, key=len)
    elif len(like) > 3 and like.isdecimal():
        form = min(forms, key=len)
    space = _SPACES.search(like)
    return _SPACES.sub(space[0], form) if space else form


def _forms(value: Decimal, code: str) -> list[str]:
    """Return the usual ways to write a number; in a language without data, only whole ones have one."""
    if language := language_of(code):
        return write(Entity("decimal", 0, 0, value), language)
    return [f"{value:f}"] if value == value.to_integral_value() else []


def other_value(value: Value, context: Context, generator: Generator) -> Value | None:
    """Return another value of the same kind and grammar; None if the number must stay."""
    if context.is_word:
        return None
    if isinstance(value, tuple):
        low, high = (2, 12) if value[0] <= 12 else (13, 23)
        return _between(low, high, generator), _between(0, 59, generator)
    digits = _DIGITS.findall(f"{value:f}" if isinstance(value, Decimal) else value)
    if not all(each.isascii() and len(each) <= _LONGEST for each in digits):
        return None
    if isinstance(value, str):
        return _DIGITS.sub(lambda match: _part_of_date(match[0], generator), value)
    whole, *fraction = digits
    if fraction:
        return Decimal(f"{other_whole(whole, generator)}.{draw_digits(len(fraction[0]), generator)}")
    if value < 2 or (value < 100 and not context.is_free):
        return None
    if context.is_part:
        return Decimal(_between(10 ** (len(whole) - 1), 10 ** len(whole) - 1, generator))
    if context.is_hour and value <= 24:
        return Decimal(_between(2, 12 if value <= 12 else 23, generator))
    if not context.is_free:
        return Decimal(draw_digits(len(whole) - 2, generator) + whole[-2:])
    return Decimal(other_whole(whole, generator))


class Context(NamedTuple):
    """The neighbours of a number, as far as they limit its value."""

    #: It is part of a word, such as "2nd".
    is_word: bool
    is_hour: bool
    #: It is part of a longer one, such as that of a telephone.
    is_part: bool
    #: Any number from two on has the same grammar.
    is_free: bool


def context(pair: tuple[str, str], places: tuple[Place, Place], codes: tuple[str, str]) -> Context:
    """Return the context of a number in its place on each side."""
    sides = list(zip(pair, places, codes, strict=True))
    return Context(
        is_word=any(_LETTER.match(text, end) for text, (_, end), _ in sides),
        is_hour=any(_hour_words(code).match(text, end) for text, (_, end), code in sides),
        is_part=any(text[start - 1 : start] in _JOINING or text[end : end + 1] in _JOINING
                    for text, (start, end), _ in sides),
        is_free=_ONE_OR_MANY.issuperset(codes),
    )  # fmt: skip


@cache
def _hour_words(code: str) -> re.Pattern[str]:
    """Return the pattern of words right after an hour: "o'clock", "pm"."""
    language = language_of(code)
    words = [word for key in ("clock", "am", "pm") for word in language.known(key)] if language else []
    return re.compile(rf"\s?(?:{any_of(words)})", re.IGNORECASE)


def other_whole(digits: str, generator: Generator) -> str:
    """Return a whole number from two on, most often with as many digits as another."""
    if len(digits) == 4 and _FIRST_YEAR <= int(digits) <= _LAST_YEAR and generator.random() < 0.9:
        return str(_between(_FIRST_YEAR, _LAST_YEAR, generator))
    length = len(digits) if generator.random() < 0.6 else pick((2, 2, 3, 4, 5, 7), generator)
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
