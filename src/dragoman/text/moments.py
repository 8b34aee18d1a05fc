"""Dates with a time of the day beside them: "January 25 at 20:45", "um 20:45 Uhr am 25. Januar", 1月25日20:45."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from dragoman.text.calendar_names import MONTHS
from dragoman.text.clock_words import clock_values
from dragoman.text.dates import Date, find_dates, written_dates
from dragoman.text.languages import base_language
from dragoman.text.times import Time, find_times, written_times

_ISO_DATE = re.compile(r"(?<![\d.,:/-])(?P<year>[12]\d\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\d-])")
_NUMERIC_DATE = re.compile(
    r"(?<![\d.,:/-])(?P<day>[0-3]?\d)([./])(?P<month>0?[1-9]|1[0-2])\2(?P<year>[12]\d\d\d)(?!\d)"
)
#: Languages that write the day before the month in digits.
_DAY_FIRST = frozenset(("de", "fr"))
#: What may be between a date and its time, and between a time and its date; in Chinese, the date comes first.
_TIME_NEXT = {
    "en": re.compile(r",?\s(?:at\s)?"),
    "de": re.compile(r",?\s(?:um\s)?"),
    "fr": re.compile(r",?\s(?:à\s)?"),
    "zh": re.compile(r"[,，]?\s?的?"),
}
_DATE_NEXT = {
    "en": re.compile(r",?\s(?:on\s)?(?:the\s)?"),
    "de": re.compile(r",?\s(?:am\s)?"),
    "fr": re.compile(r",?\s(?:le\s|du\s)?"),
}
#: What is between a date and its time, as usual.
_JOINTS = {"en": " at ", "de": " um ", "fr": " à ", "zh": ""}
#: Hours in words; in Chinese, also dates.
_IN_WORDS = {
    "en": re.compile(r"\b(?:noon|midday|midnight)\b", re.IGNORECASE),
    "de": re.compile(r"mittag|mitternacht", re.IGNORECASE),
    "fr": re.compile(r"\b(?:midi|minuit)\b", re.IGNORECASE),
    "zh": re.compile("[一二三四五六七八九十两兩][日号號点點时時]|中午|正午|午夜|半夜|零[点點时時]"),
}
#: Words that follow no Chinese time: 20:45日.
_NOT_AFTER = re.compile("年(?![会底末初货终])|月(?!亮)|日(?!本)|[身面]上")


class Moment(NamedTuple):
    """A date with the time beside it, in a text."""

    start: int
    end: int
    date: Date
    time: Time
    #: The date in digits, as the text has it; empty if it names the month.
    digits: str = ""


def find_digit_dates(text: str, language: str) -> Iterator[Date]:
    """Yield the dates of a text in digits whose order of day and month is clear, except ISO dates.

    >>> [tuple(date) for date in find_digit_dates("bis 03.05.2026", "de")]
    [(4, 14, 5, 3, 2026)]
    """
    return _digit_dates(_NUMERIC_DATE, text) if base_language(language) in _DAY_FIRST else iter(())


def _digit_dates(pattern: re.Pattern[str], text: str) -> Iterator[Date]:
    for match in pattern.finditer(text):
        yield Date(*match.span(), *(int(match[part]) for part in ("month", "day", "year")))


def find_moments(text: str, language: str) -> Iterator[Moment]:
    """Yield the dates of a text that have a time beside them, in order.

    >>> [(each.date.day, each.time.hour) for each in find_moments("On May 3 at 5 pm, or at 6 pm on June 4.", "en")]
    [(3, 17), (4, 18)]
    """
    language = base_language(language)
    if language not in MONTHS:
        return
    in_digits = {*_digit_dates(_ISO_DATE, text), *find_digit_dates(text, language)}
    dates = [*(date for date in find_dates(text, language) if date.day), *in_digits]
    times = list(find_times(text, language)) if dates else []
    parts: list[Date | Time] = sorted([*dates, *times], key=_start)
    starts, end = {part.start: part for part in parts}, 0
    for first in parts:
        gaps = _TIME_NEXT if isinstance(first, Date) else _DATE_NEXT
        gap = gaps[language].match(text, first.end) if language in gaps and first.start >= end else None
        second = starts.get(gap.end()) if gap else None
        date, time = (first, second) if isinstance(first, Date) else (second, first)
        if isinstance(date, Date) and isinstance(time, Time):
            end = max(date.end, time.end)
            yield Moment(first.start, end, date, time, text[date.start : date.end] if date in in_digits else "")


def _start(part: Date | Time) -> int:
    return part.start


def lost_moments(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of dates with their times if a translation lost the time, or Chinese has it before the date.

    Dates and times in words are not checked in Chinese.

    >>> [lost_moments("Come on May 3 at 6:30.", text, "en", "zh") for text in ("5月3日6:30来。", "6:30来5月3日。")]
    [[], [8]]
    """
    target = base_language(target_lang)
    moments = list(find_moments(source, source_lang)) if target in MONTHS else []
    if not moments or _IN_WORDS[target].search(translation):
        return []
    if target != "zh":
        values = clock_values(translation, target)
        return [each.start for each in moments if (each.time.hour % 12, each.time.minute) not in values]
    dates = [*find_dates(translation, target), *_digit_dates(_ISO_DATE, translation)]
    dates += _digit_dates(_NUMERIC_DATE, translation)
    times = [time for time in find_times(translation, target) if not _NOT_AFTER.match(translation, time.end)]
    first_ends = {(date.month, date.day): date.end for date in sorted(dates, key=_start, reverse=True)}
    last_starts = {(time.hour % 12, int(time.minute)): time.start for time in sorted(times, key=_start)}

    def is_kept(date: Date, time: Time) -> bool:
        end, start = first_ends.get((date.month, date.day)), last_starts.get((time.hour % 12, int(time.minute)))
        return end is not None and start is not None and end <= start

    return [each.start for each in moments if not is_kept(each.date, each.time)]


def has_broken_moment(text: str, language: str) -> bool:
    """Return True if a Chinese text has a date and its time between signs that do not belong there: 1月1月25日20:45日.

    >>> [has_broken_moment(text, "zh") for text in ("1月25日20:45开始。", "1月25日20:45日开始。")]
    [False, True]
    """
    return base_language(language) == "zh" and any(
        text[max(0, each.start - 1) : each.start] == "月" or _NOT_AFTER.match(text, each.end)
        for each in find_moments(text, language)
    )


def written_moments(moment: Moment, language: str) -> list[str]:
    """Return the usual ways to write a date with its time in a language.

    >>> moment = next(find_moments("On May 3 at 6:30.", "en"))
    >>> written_moments(moment, "zh"), written_moments(moment, "fr")[0]
    (['5月3日6点30分', '5月3日6:30'], '3 mai à 6 h 30')
    """
    dates = [moment.digits] if moment.digits else written_dates(moment.date, language)
    times = written_times(moment.time, language)
    return [f"{date}{_joint(date, time, language)}{time}" for date, time in product(dates, times)]


def _joint(date: str, time: str, language: str) -> str:
    """Return what is between a date and its time; digits are never joined."""
    return _JOINTS[language] or " " * (date[-1].isdecimal() and time[0].isdecimal())
