"""The dates, times, amounts and other numbers of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from dragoman.content.digits import DIGIT, Number, find_numbers, plain_digits
from dragoman.content.entity import Entity
from dragoman.content.language import Language, any_of

_PERCENT = re.compile(r"[ \u00a0\u202f]?[%％٪]")
_SIGN_BEFORE = re.compile(r"([^\s\d(]{1,3}|\b[A-Z]{3})[ \u00a0\u202f]?\Z")
_IDENTIFIER = re.compile(r"[^\W\d_]-\Z")
#: Characters before a number in which its currency is looked for.
_NEAR = 5
#: The signs after a year and a day in a pattern of CLDR such as y年M月d日.
_DATE_SIGNS = re.compile(r"y(\w)\s?M+\w?\s?d(\w)")
_MINUS = re.compile(r"(?:^|(?<=[\s(（\u4e00-\u9fff])|(?<=[,;:] ))(?<!\d )[-−–](?=[€$£]?\d)")


def find(text: str, language: Language) -> list[Entity]:
    """Return the entities of a text, in order, without overlaps.

    >>> from dragoman.content.language import language_of
    >>> [(entity.kind, text[entity.start : entity.end]) for text in ["On May 3 we paid $5.50 for 3 kg."]
    ...  for entity in find(text, language_of("en"))]
    [('date', 'May 3'), ('money', '$5.50'), ('measure', '3 kg')]
    """
    text = plain_digits(text)
    if not language.may_have_entities(text):
        return []
    dates = [*find_dates(text, language), *find_weekdays(text, language)]
    if not DIGIT.search(text):
        return sorted(dates, key=lambda entity: entity.start)
    found: list[Entity] = []
    taken = 0
    numbers = (amount(text, number, language) for number in find_numbers(text, language))
    for entity in sorted(
        chain(dates, find_times(text, language), numbers), key=lambda entity: (entity.start, -entity.end)
    ):
        if entity.start >= taken:
            found.append(entity)
            taken = entity.end
    return found


def find_times(text: str, language: Language) -> Iterator[Entity]:
    """Yield the times of a text that have minutes, or a word for the half of the day.

    Hours alone, such as "15 Uhr", may be a duration, so they are numbers.

    >>> from dragoman.content.language import language_of
    >>> [entity.value for entity in find_times("At 3 pm, at 12 am, or at 17:45.", language_of("en"))]
    [900, 0, 1065]
    """
    afternoon = {word.lower() for word in (*language.known("pm"), *language.cldr["day_periods"]["pm"])}
    for match in _time_pattern(language).finditer(text):
        minute, half = match["minute"] or match["after"] or match["points"], match["before"] or match["half"]
        hour = int(match["hour"])
        is_time = half or match["after"] or match["minute"] or (match["points"] and match["clock"])
        if not is_time or hour > 24:
            continue
        if half and hour <= 12:
            hour = hour % 12 + 12 * (half.lower() in afternoon)
        yield Entity("time", *match.span(), 60 * (hour % 24) + int(minute or 0))


@cache
def _time_pattern(language: Language) -> re.Pattern[str]:
    """Return the pattern of times: 5:30 pm, 17.30 Uhr, 17 h 30, 下午5点30分."""
    periods = language.cldr["day_periods"]
    words = [*language.known("am"), *language.known("pm"), *periods["am"], *periods["pm"]]
    halves, parts = any_of(words), {part for word in words for part in (word, word.removesuffix("."))}
    clock, end = (
        any_of(["h", *(word for word in language.known("clock") if word not in parts)]),
        r"(?!\w)" if language.has_spaces else "",
    )
    before = rf"(?:(?P<before>{halves})\s?)?" if not language.has_spaces else "(?P<before>(?!))?"
    ending = r"[^\W\d]{0,2}" if language.has_spaces else ""  # heure, heures
    return re.compile(
        rf"(?<![\d.,:]){before}(?P<hour>\d{{1,2}})"
        rf"(?:[:：](?P<minute>[0-5]\d)(?![\d:：])|[.](?P<points>[0-5]\d)(?![\d.])|(?![\d:.]\d))"
        rf"(?:\s?(?P<clock>{clock}){ending}(?:\s?(?P<after>[0-5]\d)(?!\d)分?)?{end})?"
        rf"(?:\s?(?P<half>{halves}){end}(?:\.(?=\s+[a-z0-9(]|[,;:]))?)?",
        re.IGNORECASE,
    )


def find_weekdays(text: str, language: Language) -> Iterator[Entity]:
    """Yield the weekdays that a text names in full."""
    for match in language.weekdays.finditer(text):
        if match[1]:
            yield Entity("weekday", *match.span(), language.weekday_numbers[match[1].lower()])


def find_dates(text: str, language: Language) -> Iterator[Entity]:
    """Yield the dates of a text whose month is a name; a month alone if its name is no other word."""
    doubtful = set(language.known("doubtful_months"))
    for match in _date_pattern(language).finditer(text):
        month = language.month_numbers[match["month"].lower()]
        day = match["day"] or match["after"]
        year = match["year"] or match["before"]
        if (day is None and year is None and match["month"] in doubtful) or (day and not 1 <= int(day) <= 31):
            continue
        yield Entity("date", *match.span(), (int(year) if year else None, month, int(day) if day else None))


@cache
def _date_pattern(language: Language) -> re.Pattern[str]:
    """Return the pattern of dates: a month, and a day and a year on the sides where the language has them."""
    names = any_of(form for forms in language.cldr["months"] for form in forms)
    if not language.has_spaces or language.cldr["months"][0][0][0].isdigit():
        names = any_of(form for forms in (*language.cldr["months"], *language.cldr["short_months"]) for form in forms)
        year, day = _DATE_SIGNS.fullmatch(language.cldr["dates"]["long"]).groups()  # type: ignore[union-attr]
        return re.compile(
            rf"(?:(?P<before>\d{{4}}){year}\s?)?(?<!\d)(?P<month>{names})(?:\s?(?P<after>\d{{1,2}}){day})?"
            rf"(?P<day>(?!))?(?P<year>(?!))?"
        )
    links = [*language.known("date_links"), *re.findall(r"'(\w+)'", language.cldr["dates"]["long"])]
    link = rf"(?:\s(?:{any_of(links)}))?\s"
    return re.compile(
        rf"(?<!\w)(?:(?P<before>\d{{4}})\.?\s)?(?:(?P<day>\d{{1,2}})(?:\.|º|°|er|st|nd|rd|th)?{link})?(?P<month>{names})(?!\w)"
        rf"(?:\s(?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.]\d|\d|\s?%))?"
        rf"(?:,?{link}(?P<year>\d{{4}})(?!\d))?"
    )


def amount(text: str, number: Number, language: Language) -> Entity:
    """Return the entity of a number with the sign, currency or unit beside it."""
    start, end, values, clock = number
    value = min(values)
    if _IDENTIFIER.search(text, max(0, start - 2), start):
        return Entity("cardinal", start, end, value)
    if text[start - 1 : start] == "%":
        return Entity("percent", start - 1, end, value)
    if percent := _PERCENT.match(text, end):
        return Entity("percent", start, percent.end(), value)
    if before := _SIGN_BEFORE.search(text, max(0, start - _NEAR), start):
        for form in (before[1], before[1][-1]):
            if form in language.currencies:
                return Entity(
                    "money", start - len(before[0]) + before[0].index(form), end, (value, language.currencies[form])
                )
    if after := language.currency_after.match(text, end):
        return Entity("money", start, after.end(), (value, language.currencies[after[1]]))
    if unit := language.unit_pattern.match(text, end):
        return Entity("measure", start, unit.end(), (value, language.units[unit[1]]))
    if clock and ":" in text[start:end]:
        return Entity("time", start, end, 60 * clock[0] + clock[1])
    return Entity("cardinal" if value == int(value) and "." not in str(value) else "decimal", start, end, value)


def minus_signs(text: str) -> list[int]:
    """Return the places of minus signs right before digits."""
    return [match.start() for match in _MINUS.finditer(text)]
