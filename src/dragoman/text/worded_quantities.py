"""Numbers, clock times, weekdays and currencies that a text has in words, and a check that its translation has them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dragoman.text.clear_numbers import find_clear_numbers, lost_clear_numbers
from dragoman.text.clock_words import clock_values, find_clock_times, lost_clock_times, spoken_time
from dragoman.text.currencies import find_currency_words, lost_currency_words, written_currency
from dragoman.text.languages import base_language
from dragoman.text.number_words import has_number_words
from dragoman.text.numbers import NumberFaults
from dragoman.text.quantities import Quantity
from dragoman.text.scales import written_scaled
from dragoman.text.spelled_numbers import spelled
from dragoman.text.times import Time, written_times
from dragoman.text.weekdays import find_weekdays, weekday_faults, written_weekday
from dragoman.text.written_numbers import Number, written

#: The first number that is written with a scale: "2 million".
_SCALED = 10**6


def worded_faults(source: str, translation: str, source_lang: str, target_lang: str) -> NumberFaults:
    """Return what a translation lost of the numbers, weekdays and currencies in words, and what it invented.

    >>> worded_faults("On Tuesday I paid fifty-one dollars.", "Am Dienstag zahlte ich fünfzig Euro.", "en", "de")
    NumberFaults(lost=[18, 28], has_gained=False)
    """
    lost_weekdays, has_gained = weekday_faults(source, translation, source_lang, target_lang)
    lost = [*lost_weekdays, *_lost_numbers(source, translation, source_lang, target_lang)]
    lost += lost_currency_words(source, translation, source_lang, target_lang)
    lost += lost_clock_times(source, translation, source_lang, target_lang)
    has_gained = has_gained or bool(lost_clock_times(translation, source, target_lang, source_lang))
    return NumberFaults(lost, has_gained or bool(_lost_numbers(translation, source, target_lang, source_lang)))


def _lost_numbers(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of lost numbers, except those in clock times if the translation has times, too."""
    lost = lost_clear_numbers(source, translation, source_lang, target_lang)
    clocks = find_clock_times(source, source_lang) if lost else []
    if not clocks or not clock_values(translation, target_lang):
        return lost
    return [place for place in lost if not any(time.start <= place < time.end for time in clocks)]


def find_worded_quantities(text: str, source_lang: str, target_lang: str) -> list[Quantity]:
    """Return the numbers, weekdays and currencies that a text has in words, in order.

    >>> [quantity.forms for quantity in find_worded_quantities("twenty-one dollars", "en", "de")]
    [('einundzwanzig', 'Einundzwanzig', '21'), ('Dollar', '$')]
    """
    target = base_language(target_lang)
    return sorted(_quantities(text, source_lang, target)) if has_number_words(target) else []


def _quantities(text: str, source: str, target: str) -> Iterator[Quantity]:
    clocks = find_clock_times(text, source)
    for time in clocks:
        yield Quantity(time.start, time.end, (spoken_time(time, target), *_written_clock(time, target)))
    for number in find_clear_numbers(text, source):
        if any(time.start <= number.start < time.end for time in clocks):
            continue
        yield Quantity(number.start, number.end, _written_number(number.value, target))
    for weekday in find_weekdays(text, source):
        yield Quantity(weekday.start, weekday.end, written_weekday(weekday.number, target))
    for start, end, sign in find_currency_words(text, source):
        yield Quantity(start, end, written_currency(sign, target))


def _written_clock(time: Time, language: str) -> list[str]:
    """Return the ways to write a time in digits; an hour of 0 is 12."""
    return written_times(time._replace(hour=time.hour or 12), language)


def _written_number(value: int, language: str) -> tuple[str, ...]:
    """Return the ways to write a number in a sentence, and at its beginning."""
    word, digits = spelled(value, language), written(Number("whole", (str(value),)), language, "")
    others = written_scaled(Decimal(value), language) if value >= _SCALED else [digits]
    two = [f"两{word[1:]}"] if language == "zh" and word[0] == "二" and word[1:2] != "十" else []
    return tuple(dict.fromkeys((word, word[0].upper() + word[1:], *others, *two)))
