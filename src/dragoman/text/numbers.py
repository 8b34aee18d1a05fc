"""A check that a translation has the numbers of its source.

Languages write numbers in their own ways: 1,250.50 and 1.250,50; 3 pm and 15 Uhr; "ten" and 10; 30,000 and 3万;
11/25/2026 and 25. November 2026. The check lets all of them pass, so that it is seldom wrong when it finds a fault. It
misses faults that look like them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from dragoman.text.dates import find_dates, month_faults
from dragoman.text.minus_signs import lost_minus_signs
from dragoman.text.number_words import numbers_in_words
from dragoman.text.separators import ascii_digits, changed_separators, loses_point
from dragoman.text.times import lost_halves

_SCALES = {
    **{"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8},
    **{"k": 1000, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9},
    **{"hundert": 100, "tausend": 1000, "milliarde": 10**9, "cent": 100, "mille": 1000, "milliard": 10**9},
}
_WORDS = "|".join(scale for scale in _SCALES if scale.isascii())
#: A scale after a number.
SCALE = re.compile(rf"[ -]?(?:[十百千万萬亿億]|(?:{_WORDS})[sn]?\b)", re.IGNORECASE)
#: Several numbers in a row, such as a date or a version; or one with groups of digits, a fraction, and a scale.
_NUMBER = re.compile(
    rf"""(?P<row>\d+(?:\.\ ?\d+){{2,}} | \d+(?:,\d+){{2,}})(?!\d)
    | (?P<whole>\d{{1,3}}(?:(?P<gap>[.,'’٬\u00a0\u2009\u202f ])\d{{3}})(?:(?P=gap)\d{{3}})*(?!\d) | \d+)
      (?:[.,٫](?P<fraction>\d+))?
      (?:[ -]?(?P<scales>[十百千万萬亿億]{{1,4}} | (?:{_WORDS})(?=[sn]?\b)))?""",
    re.IGNORECASE | re.VERBOSE,
)
#: Most digits of a number before a scale.
_LONGEST_SCALED = 15
_GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
_DECADE = re.compile("(?:1[5-9]|20)([1-9]0)")
#: Signs of a time of day.
_TIME = re.compile(
    r"\d[:：]\d\d|\d\s?[ap]\.?\s?m\b|(?:\d\s?)?\bo['’]clock|(?:\d\s)?\b(?:uhr|heures?)\b|\bhalb\b|\d\s?h\b|\d\s?h\s?\d|"
    r"[\d一二三四五六七八九十两兩][点點时時]|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)


class _Number(NamedTuple):
    """A number as digits without separators and zeros before them, with a point before a fraction; "" is zero."""

    #: Its digits; with a scale, also the whole number: 3 and 30000 for 3万.
    digits: set[str]
    #: Other ways to write it: the hour of the other half of the day, the decade alone.
    others: set[str]
    place: int = 0
    #: True for one digit outside dates and times: languages write it in many ways, or leave it out.
    is_small: bool = False

    def equals(self, other: _Number) -> bool:
        return bool(self.digits & (other.digits | other.others) or self.others & other.digits)


class NumberFaults(NamedTuple):
    """The faults of a translation: what it has lost, and True if it has a number or month that its source lacks."""

    #: The places of numbers, months and times in the source.
    lost: Sequence[int]
    has_gained: bool


def numbers_kept(source: str, translation: str, source_lang: str, target_lang: str) -> bool:
    """Return False if a translation lost a number, a month or the half of the day of a time, or has
    a number or a month that its source lacks.

    A number of one digit counts in dates and times alone.

    Args:
        source_lang, target_lang: codes of the languages, in which numbers may be written in words.

    >>> numbers_kept("Call me at 5:30 pm.", "Ruf mich um 17.30 Uhr an.", "en", "de")
    True
    >>> numbers_kept("It is 17:45.", "Es ist 2:30.", "en", "de")
    False
    >>> numbers_kept("It is $2.50.", "Es sind $250.", "en", "de")
    False
    >>> numbers_kept("Bis zum 3. Mai.", "By 3 June.", "de", "en")
    False
    """
    lost, has_gained = number_faults(source, translation, source_lang, target_lang)
    return not lost and not has_gained


def number_faults(source: str, translation: str, source_lang: str, target_lang: str) -> NumberFaults:
    """Return the faults that `numbers_kept` checks for. See there for the arguments."""
    lost_months, has_gained = month_faults(source, translation, source_lang, target_lang)
    places = [*lost_months, *lost_halves(source, translation, source_lang, target_lang)]
    places += lost_minus_signs(source, translation, target_lang)
    if ascii_digits(source) == ascii_digits(translation):
        places += changed_separators(source, translation, source_lang, target_lang)
        if not loses_point(source, translation):
            return NumberFaults(places, has_gained)
    is_time = names_time(source) or names_time(translation)
    sources = list(_numbers(source, is_time, source_lang))
    targets = list(_numbers(translation, is_time, target_lang))
    lost = [number for number in _unmatched(sources, targets) if not number.is_small]
    lost = _not_in_words(lost, translation, target_lang)
    gained = _not_in_words(_unmatched(targets, sources), source, source_lang)
    return NumberFaults([*places, *(number.place for number in lost)], has_gained or bool(gained))


def names_time(text: str) -> bool:
    """Return True if a text may name a time of the day."""
    return _TIME.search(text) is not None


def values_in_digits(text: str, language: str) -> set[str]:
    """Return the numbers that a text has in digits, without separators and zeros before them."""
    return {form for number in _numbers(text, True, language) for form in number.digits | number.others}


def _numbers(text: str, is_time: bool, language: str) -> Iterator[_Number]:
    places = None
    for match in _NUMBER.finditer(text):
        row, whole, fraction = match["row"], match["whole"], match["fraction"]
        if row is not None and not _GROUPED.fullmatch(row):
            found = [_number(part, is_time=is_time) for part in re.findall(r"\d+", row)]
        elif is_time and fraction is not None and len(whole) <= 2 and len(fraction) == 2:  # 17.30 Uhr
            found = [_number(part, is_time=is_time) for part in (whole, fraction)]
        elif len(match[0]) > 1 or not re.match("[A-Za-z]", text[match.start() - 1 : match.start()]):  # CO2
            found = [_number(row or whole, fraction or "", match["scales"] or "", is_time=is_time)]
        else:
            continue
        is_small = len(match[0]) == 1
        if is_small:
            places = _date_and_time_places(text, language) if places is None else places
            is_small = match.start() not in places
        yield from (number._replace(place=match.start(), is_small=is_small) for number in found)


def _date_and_time_places(text: str, language: str) -> set[int]:
    """Return the places of the characters of dates and times."""
    spans = [(date.start, date.end) for date in find_dates(text, language)]
    spans += [match.span() for match in _TIME.finditer(text)]
    return {place for start, end in spans for place in range(start, end)}


def _number(whole: str, fraction: str = "", scales: str = "", *, is_time: bool) -> _Number:
    whole, fraction = ascii_digits(whole), ascii_digits(fraction)
    point = "." if fraction else ""
    digits, others = {whole + point + fraction}, {(whole + point + fraction.rstrip("0")).rstrip(".")}
    if is_time and not fraction and int(whole[:3]) <= 24:
        others |= {str((int(whole) + 12) % 24), str((int(whole) + 12) % 24 or 24)}
    if decade := _DECADE.fullmatch(whole):  # the 1960s, les années 60
        others.add(decade[1])
    if scales and len(whole) <= _LONGEST_SCALED:
        value = Decimal(f"{whole}.{fraction or 0}")
        for scale in [scales] if scales.isascii() else scales:
            value *= _SCALES[scale.lower()]
        digits.add(str(int(value)))
    return _Number({form.lstrip("0") for form in digits}, {form.lstrip("0") for form in others})


def _unmatched(numbers: Sequence[_Number], others: Sequence[_Number]) -> list[_Number]:
    """Return the numbers without an equal partner among the others. Each of the others is a partner once. Zero needs no
    partner: 3:00 is 3 Uhr."""
    left, unmatched = list(others), []
    for number in numbers:
        equal = next((other for other in left if number.equals(other)), None)
        if equal is not None:
            left.remove(equal)
        elif any(form.strip("0.") for form in number.digits):
            unmatched.append(number)
    return unmatched


def _not_in_words(numbers: Sequence[_Number], text: str, language: str) -> list[_Number]:
    """Return the numbers that a text does not have in words."""
    words = set(map(str, numbers_in_words(text, language))) if numbers else set()
    return [number for number in numbers if not (number.digits | number.others) & words]
