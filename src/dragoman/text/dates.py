"""Dates and months in English, German, French and Chinese: "May 3", "3. Mai", "le 3 mai", 5月3日."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.calendar_names import MONTHS
from dragoman.text.languages import base_language

_SHORT_NAMES = {
    "en": "jan 1 feb 2 mar 3 apr 4 jun 6 jul 7 aug 8 sep 9 sept 9 oct 10 nov 11 dec 12",
    "de": "jan 1 jänner 1 feb 2 mär 3 mrz 3 apr 4 jun 6 jul 7 aug 8 sep 9 sept 9 okt 10 nov 11 dez 12",
    "fr": "janv 1 févr 2 fév 2 avr 4 juil 7 sept 9 oct 10 nov 11 déc 12",
    "zh": " ".join(f"{number} {number}" for number in range(1, 13)),
}


def _month_numbers(language: str) -> dict[str, int]:
    words = iter(_SHORT_NAMES[language].split())
    numbers = {word: int(number) for word, number in zip(words, words, strict=True)}
    return {name.lower(): number for number, name in enumerate(MONTHS[language], start=1)} | numbers


#: The number of each name of a month, in small letters; in Chinese, of what stands before 月.
MONTH_NUMBERS = {language: _month_numbers(language) for language in MONTHS}
_NAMES = {language: "|".join(sorted(numbers, key=len, reverse=True)) for language, numbers in MONTH_NUMBERS.items()}
#: After a short name: no point and no year.
_BARE = r"\b(?!\.|,?\s[12]\d\d\d(?!\d))"
#: Words before a month which show that it is one: "in May", not the verb "may" or a name. "Until Jan comes" has a first
#: name, and "en sept pays" a number.
_BEFORE_MONTH = {
    "en": rf"\b(?:(?:in|last|next)\s|(?:since|until)\s(?!jan{_BARE}))",
    "de": rf"\b(?:(?:im|anfang|mitte|ende|letzten|nächsten)\s|(?:seit|bis)\s(?!jan{_BARE}))",
    "fr": rf"\b(?:en|début|fin|depuis)\s(?!sept{_BARE})",
}
_AFTER_DAY = {"en": r"(?:st|nd|rd|th)?\s(?:of\s)?", "de": r"\.\s?", "fr": r"(?:er)?\s"}
#: English words that are months with a capital only.
_WORDS = frozenset(("may", "march"))
_DAY, _YEAR = r"(?<![\d.,:/-])(?P<day>[0-3]?\d)", r"(?:(?:,\s?|\s)(?P<year>[12]\d\d\d)(?!\d))?"


def _date_patterns(language: str) -> tuple[re.Pattern[str], ...]:
    if language == "zh":
        month = rf"(?<![一二三四五六七八九十0-9個个几幾])0?(?P<month>{_NAMES[language]})月(?!亮|球)"
        return (re.compile(rf"(?:(?P<year>[12]\d\d\d)年)?{month}(?:(?P<day>[0-3]?\d)[日号號])?"),)
    month = rf"(?P<month>{_NAMES[language]})\b(?:\.(?=\s?\d|,))?"
    patterns = [rf"{_DAY}{_AFTER_DAY[language]}{month}{_YEAR}", rf"{_BEFORE_MONTH[language]}{month}{_YEAR}"]
    if language == "en":
        patterns.insert(1, rf"\b{month}\s(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:]|\s?[ap]m\b){_YEAR}")
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_DATES = {language: _date_patterns(language) for language in MONTHS}
#: Any word that may name a month, also the verb "may". German joins months to other words: "Maiabend".
_MENTIONS = {
    language: re.compile({"zh": f"({names})月", "de": rf"\b({names})"}.get(language, rf"\b({names})\b"), re.IGNORECASE)
    for language, names in _NAMES.items()
}
#: The full names of months.
FULL_NAMES = {
    language: re.compile(rf"(?:{'|'.join(reversed(names))})" + ("月" if language == "zh" else r"\b"), re.IGNORECASE)
    for language, names in MONTHS.items()
}
_DIGIT = re.compile(r"\d")
#: A month in digits, as a part of a date.
_IN_DIGITS = re.compile(r"(?<=[./-])0?(1[0-2]|[0-9])(?!\d)|(?<!\d)0?(1[0-2]|[0-9])(?=[./-]\s?\d)")


class Date(NamedTuple):
    """A date in a text, or a month."""

    start: int
    end: int
    month: int
    day: int | None = None
    year: int | None = None


def find_dates(text: str, language: str) -> Iterator[Date]:
    """Yield the dates of a text that name a month, and single months after a word such as "in" or "since".

    Args:
        language: its code. In languages other than English, German, French and Chinese, nothing is found.

    >>> [tuple(date) for date in find_dates("Until 3 May 2026, in June.", "en")]
    [(6, 16, 5, 3, 2026), (18, 25, 6, None, None)]
    """
    end, language = 0, base_language(language)
    matches = (match for pattern in _DATES.get(language, ()) for match in pattern.finditer(text))
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if match.start() >= end and match["month"] not in _WORDS:
            groups = match.groupdict()
            day, year = (int(groups[name]) if groups.get(name) else None for name in ("day", "year"))
            end = match.end()
            yield Date(match.start(), end, MONTH_NUMBERS[language][match["month"].lower()], day, year)


def month_faults(source: str, translation: str, source_lang: str, target_lang: str) -> tuple[list[int], bool]:
    """Return the places of the months that a translation lost, and True if it has a month that its source lacks."""
    languages = base_language(source_lang), base_language(target_lang)
    if not all(language in MONTHS for language in languages):
        return [], False
    dates = list(find_dates(source, source_lang))
    if not dates and not _DIGIT.search(source):
        return [], False
    found = _mentioned_months(translation, languages[1])
    lost = [date.start for date in dates if date.month not in found]
    gained = {date.month for date in find_dates(translation, target_lang)} - _mentioned_months(source, languages[0])
    return lost, bool(gained)


def _mentioned_months(text: str, language: str) -> set[int]:
    """Return the months that a text may name, in words or in the digits of a date."""
    months = {int(before or after) for before, after in _IN_DIGITS.findall(text)}
    return months | {MONTH_NUMBERS[language][name.lower()] for name in _MENTIONS[language].findall(text)}


def written_dates(date: Date, language: str) -> list[str]:
    """Return the usual ways to write a date in a language.

    >>> written_dates(Date(0, 0, 5, 3, 2026), "de"), written_dates(Date(0, 0, 5), "zh")
    (['3. Mai 2026'], ['5月', '五月'])
    """
    name, day, year = MONTHS[language][date.month - 1], date.day, date.year
    if language == "zh":
        before, after = "" if year is None else f"{year}年", "" if day is None else f"{day}日"
        return [f"{before}{month}月{after}" for month in (date.month, *([name] if day is None else []))]
    end = "" if year is None else f" {year}"
    if day is None:
        return [name + end]
    if language == "en":
        return [f"{name} {day}" + ("" if year is None else f", {year}"), f"{day} {name}{end}"]
    return [f"{day}. {name}{end}" if language == "de" else f"{'1er' if day == 1 else day} {name}{end}"]
