"""A check that a translation has the numbers of its source.

Languages write numbers in their own ways: 1,250.50 and 1.250,50; 3 pm and 15 Uhr; "ten" and 10; 30,000 and 3万;
11/25/2026 and 25. November 2026. The check lets all of them pass, so that it is seldom wrong when it finds a fault. It
misses faults that look like them.
"""

from __future__ import annotations

from collections import defaultdict, deque
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
    """Return False if a translation lost a number, a month, a minus sign, the half of the day of a time or the time
    of a date, or has a number or a month that its source lacks.

    A number of one digit may be lost, except in a date or a time, but not be gained.

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
    days, others = _split_days(lost, targets, source, source_lang)
    lost = [
        *_not_in_words(others, translation, target_lang),
        *_not_in_words(days, _without_months_and_clocks(translation, target_lang) if days else "", target_lang),
    ]
    gained = _not_in_words(_unmatched(targets, sources), source, source_lang)
    return NumberFaults([*places, *(number.place for number in lost)], has_gained or bool(gained))


def _split_days(
    numbers: Sequence[DigitNumber], targets: Sequence[DigitNumber], text: str, language: str
) -> tuple[list[DigitNumber], list[DigitNumber]]:
    """Return the numbers that are days of a text's dates and have no equal among the targets, and the other numbers."""
    dates = find_dates(text, language) if numbers else ()
    places, known = {place for date in dates for place in range(date.start, date.end)}, _Partners(targets)
    days: list[DigitNumber] = []
    others: list[DigitNumber] = []
    for number in numbers:
        is_short = len(max(number.digits, key=len)) <= 2 and text[number.end : number.end + 1] not in ("月", "年")
        is_day = is_short and number.place in places and known.first(number) is None
        (days if is_day else others).append(number)
    return days, others


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
    partners, unmatched = _Partners(others), []
    for number in numbers:
        partner = partners.first(number)
        if partner is not None:
            partners.taken.add(partner)
        elif any(form.strip("0.") for form in number.digits):
            unmatched.append(number)
    return unmatched


class _Partners:
    """The numbers of a text by their forms, to find equal ones in linear time."""

    def __init__(self, numbers: Sequence[DigitNumber]) -> None:
        #: The indices of numbers that have a partner.
        self.taken: set[int] = set()
        self._by_digits: dict[str, deque[int]] = defaultdict(deque)
        self._by_form: dict[str, deque[int]] = defaultdict(deque)
        for index, number in enumerate(numbers):
            for form in number.digits:
                self._by_digits[form].append(index)
            for form in number.digits | number.others:
                self._by_form[form].append(index)

    def first(self, number: DigitNumber) -> int | None:
        """Return the index of the first number without a partner that equals another; None if there is none.

        Two numbers are equal if one has a form of the other among its digits.
        """
        queues = [self._by_form.get(form) for form in number.digits] + [
            self._by_digits.get(form) for form in number.others
        ]
        for queue in queues:
            while queue and queue[0] in self.taken:
                queue.popleft()
        return min((queue[0] for queue in queues if queue), default=None)


def _not_in_words(numbers: Sequence[DigitNumber], text: str, language: str) -> list[DigitNumber]:
    """Return the numbers that a text does not have in words."""
    words = set(map(str, numbers_in_words(text, language) | halves_in_words(text))) if numbers else set()
    return [number for number in numbers if not (number.digits | number.others) & words]
