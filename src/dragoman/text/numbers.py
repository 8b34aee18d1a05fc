"""A check that a translation has the numbers of its source.

Languages write numbers in their own ways: 1,250.50 and 1.250,50; 3 pm and 15 Uhr; "ten" and 10; 30,000 and 3万;
11/25/2026 and 25. November 2026. The check lets all of them pass, so that it is seldom wrong when it finds a fault. It
misses faults that look like them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.text.clock_words import CLOCK_PATTERNS
from dragoman.text.dates import FULL_NAMES, find_dates, month_faults
from dragoman.text.digit_numbers import DigitNumber, find_numbers, names_time
from dragoman.text.languages import base_language
from dragoman.text.minus_signs import lost_minus_signs
from dragoman.text.moments import lost_moments
from dragoman.text.number_words import has_number_words, numbers_in_words
from dragoman.text.scales import UNKNOWN, halves_in_words, has_scale
from dragoman.text.separators import ascii_digits, changed_separators, foreign_separators, joins_numbers, loses_point
from dragoman.text.times import lost_halves


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
    places += lost_moments(source, translation, source_lang, target_lang)
    places += lost_minus_signs(source, translation, target_lang)
    is_time = names_time(source) or names_time(translation)
    places += foreign_separators(source, translation, source_lang, target_lang, is_time=is_time)
    if ascii_digits(source) == ascii_digits(translation):
        places += changed_separators(source, translation, source_lang, target_lang)
        is_scaled = has_scale(source, source_lang) or has_scale(translation, target_lang)
        if not is_scaled and not loses_point(source, translation) and not joins_numbers(source, translation):
            return NumberFaults(places, has_gained)
    readings = _scale_languages(source_lang, target_lang)
    sources, targets = (
        find_numbers(text, code, is_time=is_time) for text, code in zip((source, translation), readings, strict=True)
    )
    lost = [number for number in _unmatched(sources, targets) if not number.is_small]
    days = [number for number in _days(lost, source, source_lang) if not any(map(number.equals, targets))]
    others = [number for number in lost if number not in days]
    lost = [
        *_not_in_words(others, translation, target_lang),
        *_not_in_words(days, _without_months_and_clocks(translation, target_lang) if days else "", target_lang),
    ]
    gained = _not_in_words(_unmatched(targets, sources), source, source_lang)
    return NumberFaults([*places, *(number.place for number in lost)], has_gained or bool(gained))


def _days(numbers: Sequence[DigitNumber], text: str, language: str) -> list[DigitNumber]:
    """Return the numbers that are days of a text's dates."""
    dates = [(date.start, date.end) for date in find_dates(text, language)] if numbers else []
    return [
        number
        for number in numbers
        if len(max(number.digits, key=len)) <= 2
        and text[number.end : number.end + 1] not in ("月", "年")
        and any(start <= number.place < end for start, end in dates)
    ]


def _without_months_and_clocks(text: str, language: str) -> str:
    """Return a text without what is no day of a month: "Mai" is not 5, nor is "halb sechs"."""
    language = base_language(language)
    for pattern in (*CLOCK_PATTERNS.get(language, ()), *([FULL_NAMES[language]] if language in FULL_NAMES else [])):
        text = pattern.sub(" ", text)
    return text


def _scale_languages(source_lang: str, target_lang: str) -> tuple[str, str]:
    """Return the languages whose scales are read: unknown ones for both texts if the scales of one are not known."""
    are_known = has_number_words(source_lang) and has_number_words(target_lang)
    return (source_lang, target_lang) if are_known else (UNKNOWN, UNKNOWN)


def _unmatched(numbers: Sequence[DigitNumber], others: Sequence[DigitNumber]) -> list[DigitNumber]:
    """Return the numbers without an equal partner among the others. Each of the others is a partner once. Zero needs no
    partner: 3:00 is 3 Uhr."""
    left, unmatched = list(others), []
    forms = Counter(form for other in others for form in other.digits | other.others)
    for number in numbers:
        may_equal = any(forms[form] for form in number.digits | number.others)
        equal = next((other for other in left if number.equals(other)), None) if may_equal else None
        if equal is not None:
            left.remove(equal)
            forms.subtract(equal.digits | equal.others)
        elif any(form.strip("0.") for form in number.digits):
            unmatched.append(number)
    return unmatched


def _not_in_words(numbers: Sequence[DigitNumber], text: str, language: str) -> list[DigitNumber]:
    """Return the numbers that a text does not have in words."""
    words = set(map(str, numbers_in_words(text, language) | halves_in_words(text))) if numbers else set()
    return [number for number in numbers if not (number.digits | number.others) & words]
