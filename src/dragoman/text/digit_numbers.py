"""Numbers in the digits of a text, as a check compares them: "1,250.50", 3万, "2.5 million", 17:45, 11/25/2026."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dragoman.text.dates import find_dates
from dragoman.text.scales import RANGE, SCALES, factors_of, is_chinese_scale, scale_key
from dragoman.text.separators import ascii_digits
from dragoman.text.times import HOUR_SIGN

#: Most digits of a number before a scale, and of a part of 3万5千.
_LONGEST_SCALED, _LONGEST_PART = 15, 40
_GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
_DECADE = re.compile("(?:1[5-9]|20)([1-9]0)")
#: Signs of a time of day.
_TIME = re.compile(
    r"\d[:：]\d\d|\d\s?[ap]\.?\s?m\b|(?:\d\s?)?\bo['’]clock|(?:\d\s)?\b(?:uhr|heures?)\b|\bhalb\b|\d\s?h\b|\d\s?h\s?\d|"
    rf"[\d一二三四五六七八九十两兩]{HOUR_SIGN}|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)
#: Several numbers in a row, such as a date or a version; or one with groups of digits, a fraction, and a scale.
NUMBERS = {
    language: re.compile(
        r"(?P<row>\d+(?:\. ?\d+){2,}|\d+(?:,\d+){2,})(?!\d)"
        r"|(?P<whole>\d{1,3}(?:(?P<gap>[.,'’٬\u00a0\u2009\u202f ])\d{3})(?:(?P=gap)\d{3})*(?!\d)|\d+)"
        rf"(?:[.,٫](?P<fraction>\d+))?(?P<scale>{scale.pattern})?",
        re.IGNORECASE,
    )
    for language, scale in SCALES.items()
}


class DigitNumber(NamedTuple):
    """A number as digits without separators and zeros before them, with a point before a fraction; "" is zero."""

    #: Its digits; with a scale, the whole number: 30000 for 3万. Several if a scale may mean something else: "5 m".
    digits: set[str]
    #: Other ways to write it: the hour of the other half of the day, the decade alone.
    others: set[str]
    place: int = 0
    end: int = 0
    scale: str = ""
    #: True for one digit outside dates and times: languages write it in many ways, or leave it out.
    is_small: bool = False
    #: True if the text has it in two parts: 3万5千.
    is_sum: bool = False


def names_time(text: str) -> bool:
    """Return True if a text may name a time of the day."""
    return _TIME.search(text) is not None


def values_in_digits(text: str, language: str) -> set[str]:
    """Return the numbers that a text has in digits, without separators and zeros before them."""
    return {form for number in find_numbers(text, language, is_time=True) for form in number.digits | number.others}


def find_numbers(text: str, language: str, *, is_time: bool) -> list[DigitNumber]:
    """Return the numbers that a text has in digits. Those of a range share its scale, and 3万5千 is one number.

    Args:
        language: the code of the text's language, by which scales are read.
        is_time: the text may name a time, so that 17.30 is two numbers, and 5 may be 17.
    """
    numbers: list[DigitNumber] = []
    for number in _single(text, is_time, language):
        before = numbers[-1] if numbers else None
        if before is not None and (total := _sum(before, number, text[before.end : number.place], language)):
            numbers[-1] = total
            continue
        is_range = before is not None and not before.scale and number.scale
        if before is not None and is_range and RANGE.fullmatch(text, before.end, number.place):
            numbers[-1] = before._replace(others=before.others | _scaled(before.digits, number.scale, language))
        numbers.append(number)
    return numbers


def _sum(first: DigitNumber, second: DigitNumber, between: str, language: str) -> DigitNumber | None:
    """Return the sum of the two parts of 3万5千, 3万5, or "2 million 300 thousand"; None if they are two numbers."""
    is_chinese = is_chinese_scale(first.scale)
    if not first.scale or between != ("" if is_chinese else " ") or not (second.scale or is_chinese):
        return None
    values = [*first.digits, *second.digits]
    if len(values) != 2 or not all(value.isdecimal() and len(value) <= _LONGEST_PART for value in values):
        return None
    unit, other = max(factors_of(first.scale, language)), int(values[1])
    if not second.scale and second.is_small:  # 3万5 is 35,000
        other = other * unit // 10
    if other >= unit:
        return None
    return first._replace(digits={str(int(values[0]) + other)}, end=second.end, is_sum=True)


def _scaled(amounts: Iterable[str], scale: str, language: str) -> set[str]:
    """Return what amounts with a scale may be as a number; no amount is longer than that of a real scale."""
    factors = factors_of(scale, language)
    return {_times(amount, factor) for amount in amounts if len(amount) <= _LONGEST_SCALED for factor in factors}


def _times(amount: str, factor: int) -> str:
    whole, _, fraction = amount.partition(".")
    digits = str(int(f"0{whole}{fraction}") * factor).zfill(len(fraction) + 1)
    whole, fraction = digits[: len(digits) - len(fraction)], digits[len(digits) - len(fraction) :].rstrip("0")
    return (f"{whole}.{fraction}" if fraction else whole).lstrip("0")


def _single(text: str, is_time: bool, language: str) -> Iterator[DigitNumber]:
    places = None
    for match in NUMBERS[scale_key(language)].finditer(text):
        row, whole, fraction = match["row"], match["whole"], match["fraction"]
        is_code = re.match("[A-Za-z]", text[match.start() - 1 : match.start()]) is not None  # CO2, orf3b
        scale = "" if is_code else match["scale"] or ""
        if row is not None and not _GROUPED.fullmatch(row):
            found = [_number(part, is_time=is_time) for part in re.findall(r"\d+", row)]
        elif is_time and fraction is not None and len(whole) <= 2 and len(fraction) == 2 and not scale:  # 17.30 Uhr
            found = [_number(part, is_time=is_time) for part in (whole, fraction)]
        elif not is_code or len(row or whole) > 1 or fraction is not None:
            number = _number(row or whole, fraction or "", is_time=is_time and not scale)
            found = [_with_scale(number, match["gap"], scale, language) if scale else number]
        else:
            continue
        is_small = len(match[0]) == 1
        if is_small:
            places = _date_and_time_places(text, language) if places is None else places
            is_small = match.start() not in places
        for number in found:
            yield number._replace(place=match.start(), end=match.end(), is_small=is_small)


def _with_scale(number: DigitNumber, gap: str | None, scale: str, language: str) -> DigitNumber:
    """Return a number with its scale. "2.125 million" may have thousands or a fraction."""
    amounts = set(number.digits)
    if gap is not None and gap in ".," and len(whole := max(amounts, key=len)) <= 6:
        amounts.add(f"{whole[:-3]}.{whole[-3:]}")
    values = _scaled(amounts, scale, language)
    return number._replace(digits=values or number.digits, others=set() if values else number.others, scale=scale)


def _date_and_time_places(text: str, language: str) -> set[int]:
    """Return the places of the characters of dates and times."""
    spans = [(date.start, date.end) for date in find_dates(text, language)]
    spans += [match.span() for match in _TIME.finditer(text)]
    return {place for start, end in spans for place in range(start, end)}


def _number(whole: str, fraction: str = "", *, is_time: bool) -> DigitNumber:
    whole, fraction = ascii_digits(whole), ascii_digits(fraction)
    point = "." if fraction else ""
    digits, others = {whole + point + fraction}, {(whole + point + fraction.rstrip("0")).rstrip(".")}
    hour = whole.lstrip("0") or "0"
    if is_time and not fraction and len(hour) <= 2 and int(hour) <= 24:
        others |= {str((int(hour) + 12) % 24), str((int(hour) + 12) % 24 or 24)}
    if decade := _DECADE.fullmatch(whole):  # the 1960s, les années 60
        others.add(decade[1])
    return DigitNumber({form.lstrip("0") for form in digits}, {form.lstrip("0") for form in others})
