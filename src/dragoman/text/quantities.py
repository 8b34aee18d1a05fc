"""Dates, times, prices and other numbers of a text, with the usual ways to write each in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dragoman.text.currencies import with_currency, written_price
from dragoman.text.dates import Date, find_dates, written_dates
from dragoman.text.languages import base_language
from dragoman.text.number_words import cardinals, has_number_words
from dragoman.text.numbers import SCALE
from dragoman.text.spans import find_spans
from dragoman.text.written_numbers import parse, written

_MINUTE = r"[0-5]\d"
#: Times of a day by the language that writes them so; the others write 17:30.
_TIMES = {
    "en": rf"(?P<hour>\d\d?)(?::(?P<minute>{_MINUTE}))?(?:\s?(?P<half>[ap])\.?\s?m\b\.?|\so['’]clock)",
    "de": rf"(?P<hour>\d\d?)(?:[:.](?P<minute>{_MINUTE}))?\s?Uhr(?:\s(?P<after>{_MINUTE}))?\b",
    "fr": rf"(?P<hour>\d\d?)\s?h(?:eures?)?(?:\s?(?P<minute>{_MINUTE}))?\b",
    "zh": rf"(?P<half>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?(?P<hour>\d\d?)"
    rf"(?:[点點时時](?:(?P<minute>{_MINUTE})分?)?|[:：](?P<after>{_MINUTE}))",
}
_CLOCK = rf"(?P<hour>\d\d?)[:：](?P<minute>{_MINUTE})(?![\d:：])"
_TIME_PATTERNS = {
    language: [re.compile(rf"(?<![\d.,:]){pattern}", re.IGNORECASE) for pattern in (own, _CLOCK)]
    for language, own in _TIMES.items()
}
_NUMERIC_DATE = re.compile(
    r"(?<![\d.,:/-])(?P<day>[0-3]?\d)([./])(?P<month>0?[1-9]|1[0-2])\2(?P<year>[12]\d\d\d)(?!\d)"
)
#: Languages that write the day before the month in digits.
_DAY_FIRST = frozenset(("de", "fr"))
_AFTERNOON = frozenset(("p", "P", "下午", "傍晚", "晚上"))
_NOON = "中午"
#: Characters after a number that say what it is: "17.30 Uhr".
_NEAR = 8
#: Numbers that may be written in words.
_IN_WORDS = range(2, 13)


class Quantity(NamedTuple):
    """A date, a time, a price or another number in a text."""

    start: int
    end: int
    #: The usual ways to write it in the other language, the most usual first.
    forms: tuple[str, ...]


def find_quantities(text: str, source_lang: str, target_lang: str) -> list[Quantity]:
    """Return the quantities of a text, in order; they do not overlap.

    Args:
        source_lang, target_lang: codes of the languages. Dates and times of four languages are known.

    >>> [quantity.forms[0] for quantity in find_quantities("我8月25日下午5点付20.50元。", "zh", "en")]
    ['August 25', '5 pm', '20.50']
    """
    source, target = base_language(source_lang), base_language(target_lang)
    found: list[Quantity] = []
    taken: set[int] = set()
    for finder in (_dates, _times, _numbers):
        for quantity in finder(text, source, target):
            if taken.isdisjoint(places := range(quantity.start, quantity.end)):
                taken.update(places)
                found.append(quantity)
    return sorted(found)


def _dates(text: str, source: str, target: str) -> Iterator[Quantity]:
    if target not in _TIMES:
        return
    for date in find_dates(text, source):
        yield Quantity(date.start, date.end, tuple(written_dates(date, target)))
    for match in _NUMERIC_DATE.finditer(text) if source in _DAY_FIRST else ():
        date = Date(*match.span(), *(int(match[part]) for part in ("month", "day", "year")))
        yield Quantity(date.start, date.end, (match[0], *written_dates(date, target)))


def _times(text: str, source: str, target: str) -> Iterator[Quantity]:
    for pattern in _TIME_PATTERNS.get(source, ()) if target in _TIMES else ():
        for match in pattern.finditer(text):
            groups = match.groupdict()
            hour, minute, half = int(match["hour"]), groups.get("minute") or groups.get("after"), groups.get("half")
            if hour <= 24:
                yield Quantity(*match.span(), tuple(_written_times(hour, minute or "00", half, target)))


def _written_times(hour: int, minute: str, half: str | None, language: str) -> list[str]:
    """Return the ways to write a time.

    Args:
        half: of the day, in which the hour is; None if the hour alone says it, or nothing does.
    """
    is_afternoon = hour > 12 or half in _AFTERNOON or (half == _NOON and hour < 3)
    is_known = half is not None or hour > 12 or hour == 0
    late = hour + 12 if is_afternoon and hour < 12 else 0 if half in ("a", "A") and hour == 12 else hour
    early, is_full = late % 12 or 12, minute == "00"
    if language == "en":
        halves = [f" {'p' if is_afternoon else 'a'}m", f" {'p' if is_afternoon else 'a'}.m."] if is_known else []
        clock = [f"{early}:{minute}{each}" for each in halves]
        hours = [f"{early}{each}" for each in halves] or [f"{early} o'clock"]
        return [*(hours if is_full else []), *clock, f"{late}:{minute}"]
    if language == "de":
        return [f"{late} Uhr"] if is_full else [f"{late}.{minute} Uhr", f"{late}:{minute} Uhr", f"{late}:{minute}"]
    if language == "fr":
        hours = [f"{late} h", f"{late} heures"]
        return hours if is_full else [f"{late} h {minute}", f"{late}h{minute}", f"{late}:{minute}"]
    early_hour = f"{('下午' if is_afternoon else '上午') if is_known else ''}{early}点"
    return [early_hour, f"{late}点"] if is_full else [f"{early_hour}{minute}分", f"{late}:{minute}"]


def _numbers(text: str, source: str, target: str) -> Iterator[Quantity]:
    for span in find_spans(text):
        scale = SCALE.match(text, span.end)
        is_whole = scale is None or (scale[0].isascii() and target != "zh")  # 3万 is "30,000"
        if span.kind == "number" and is_whole:
            yield _number(text, span.start, span.end, source, target)


@cache
def _words(language: str) -> dict[int, tuple[str]]:
    """Return the words of small numbers."""
    return {number: (word,) for word, number in cardinals(language, _IN_WORDS).items()}


def _number(text: str, start: int, end: int, source: str, target: str) -> Quantity:
    number = parse(text[start:end], source, text[end : end + _NEAR])
    forms = [text[start:end]]
    if number.kind in ("whole", "decimal"):
        forms = [*(written(number, target, like) for like in (forms[0], "")), *forms]
    place = with_currency(text, start, end)
    if place != (start, end):
        sign = (text[place[0] : start] + text[end : place[1]]).strip()
        forms = [each for form in forms for each in written_price(form, sign, target)]
    elif number.kind == "whole" and int(number.digits[0]) in _IN_WORDS and has_number_words(target):
        forms += _words(target).get(int(number.digits[0]), ())
    return Quantity(*place, tuple(dict.fromkeys(forms)))
