"""Dates, times, prices and other numbers of a text, with the usual ways to write each in another language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from dragoman.text.calendar_names import MONTHS
from dragoman.text.currencies import with_currency, written_price
from dragoman.text.dates import find_dates, written_dates
from dragoman.text.digit_numbers import find_numbers
from dragoman.text.languages import base_language
from dragoman.text.minus_signs import start_with_minus
from dragoman.text.moments import find_digit_dates, find_moments, written_moments
from dragoman.text.number_words import cardinals, has_number_words
from dragoman.text.scales import RANGE, SCALES, factors_of, scale_key, written_scaled
from dragoman.text.separators import may_be_name
from dragoman.text.spans import find_spans
from dragoman.text.times import TIME_PATTERNS, find_times, is_bare, may_last, written_times
from dragoman.text.unit_symbols import CURRENCY_CODES, unit_beside, without_units, written_with_unit
from dragoman.text.written_numbers import Number, parse, written

#: Telephone numbers, as they are written within a country or from abroad.
_TELEPHONE = re.compile(r"(?<![\w.,+])(?:\+\d|0)\d*(?:[ /-]\d+)+(?![\w,])")
_LEAST_TELEPHONE = 6
#: Characters after a number in which its unit is looked for: "17.30 Uhr".
_NEAR = 8
#: Words before a version: "Python 3.12". The first word of a sentence has a capital anyway.
_VERSION = re.compile(
    rf"(?:\w[,;:]? (?!(?:{CURRENCY_CODES})\b)[A-Z][\w+#-]*|\b[Vv]ersion|\b[Vv])\s?"
    r"(?:\d+\.\d+(?:,? \w{1,5} |-))?\Z"
)
#: Digits that are no amount.
_CODE = re.compile(r"0\d")
#: Characters of the longest number that is converted to the form of the other language.
_LONGEST = 24
_TIME_LIKE = re.compile(r"\d\d?\.[0-5]\d")
_AMOUNT, _MORE = re.compile(r"\d[\d.,]*"), re.compile(r"\s?\d")
#: Numbers that may be written in words.
_IN_WORDS = range(2, 13)


class Quantity(NamedTuple):
    """A date, a time, a price or another number in a text."""

    start: int
    end: int
    #: The usual ways to write it in the other language, the most usual first.
    forms: tuple[str, ...]
    #: A date with its time, both in `forms`.
    is_moment: bool = False
    #: A time of day alone, or a price.
    is_time_or_price: bool = False


def find_quantities(text: str, source_lang: str, target_lang: str) -> list[Quantity]:
    """Return the quantities of a text, in order; they do not overlap.

    Args:
        source_lang, target_lang: codes of the languages. Dates and times are found in English, German, French, Chinese.

    >>> [quantity.forms[0] for quantity in find_quantities("我8月25日下午5点付20.50元。", "zh", "en")]
    ['August 25 at 5 pm', '20.50']
    """
    source, target = base_language(source_lang), base_language(target_lang)
    found: list[Quantity] = []
    taken: set[int] = set()
    for finder in (_moments, _dates, _times, _telephones, _numbers):
        for quantity in finder(text, source, target):
            if taken.isdisjoint(places := range(quantity.start, quantity.end)):
                taken.update(places)
                found.append(quantity)
    return sorted(found)


def is_bare_amount(text: str, target_lang: str) -> bool:
    """Return True if a text has a price or a unit, no words, and a target language whose prices are known.

    >>> [is_bare_amount(text, "de") for text in ("$19.99 – $29.99", "500 m", "5", "$5 off")]
    [True, True, False, False]
    """
    if not has_number_words(base_language(target_lang)):
        return False
    rest = without_units(text)
    has_amount = rest != text or any(unicodedata.category(character) == "Sc" for character in text)
    return has_amount and not any(map(str.isalpha, rest))


def _moments(text: str, source: str, target: str) -> Iterator[Quantity]:
    for moment in find_moments(text, source) if target in MONTHS else ():
        yield Quantity(moment.start, moment.end, tuple(written_moments(moment, target)), is_moment=True)


def _dates(text: str, source: str, target: str) -> Iterator[Quantity]:
    if target not in MONTHS:
        return
    for date in find_dates(text, source):
        yield Quantity(date.start, date.end, tuple(written_dates(date, target)))
    for date in find_digit_dates(text, source):
        yield Quantity(date.start, date.end, (text[date.start : date.end], *written_dates(date, target)))


def _times(text: str, source: str, target: str) -> Iterator[Quantity]:
    for time in find_times(text, source) if target in TIME_PATTERNS else ():
        if not may_last(text, time):
            own = [text[time.start : time.end].replace("：", ":")] if is_bare(text, time) else []
            forms = tuple(dict.fromkeys([*own, *written_times(time, target)]))
            yield Quantity(time.start, time.end, forms, is_time_or_price=True)


def _telephones(text: str, source: str, target: str) -> Iterator[Quantity]:
    for match in _TELEPHONE.finditer(text):
        if sum(map(str.isdecimal, match[0])) >= _LEAST_TELEPHONE:
            yield Quantity(*match.span(), (match[0],))


def _numbers(text: str, source: str, target: str) -> Iterator[Quantity]:
    are_known, end = has_number_words(source) and has_number_words(target), 0
    sums = {number.place: number for number in find_numbers(text, source, is_time=False) if number.is_sum}
    for span in find_spans(text):
        if span.kind == "number" and span.end - span.start <= _LONGEST and span.start >= end:
            if total := sums.get(span.start):
                end = total.end
                if are_known:
                    forms = written_scaled(Decimal(max(total.digits)), target)
                    yield _with_signs(text, (span.start, total.end), forms, target)
                continue
            scale = _clear_scale(text, span.end, source, target)
            if scale is None:
                yield _number(text, span.start, span.end, source, target)
            elif scale and (forms := _scaled_forms(text[span.start : span.end], scale, source, target)):
                is_after = text.startswith(scale, span.end)
                yield _with_signs(text, (span.start, span.end + len(scale) * is_after), forms, target)


def _clear_scale(text: str, end: int, source: str, target: str) -> str | None:
    """Return the scale of the number before a place; None without one, "" if it cannot be written.

    Chinese shares the scale of a range with other languages only if both its numbers have it: "5 to 6 million".
    """
    scale = SCALES[scale_key(source)].match(text, end)
    if scale is None and (target == "zh") != (source == "zh") and (gap := RANGE.match(text, end)):
        second = _AMOUNT.match(text, gap.end())
        scale = SCALES[scale_key(source)].match(text, second.end()) if second else None
    if scale is None or 1 in factors_of(scale[0], source):
        return None
    if _MORE.match(text, scale.end()):  # 3万5
        return ""
    return scale[0] if has_number_words(source) and has_number_words(target) else None if scale[0].isascii() else ""


def _scaled_forms(amount: str, scale: str, source: str, target: str) -> list[str]:
    number = parse(amount, source, "")
    if number.kind not in ("whole", "decimal"):
        return []
    return written_scaled(Decimal(".".join(number.digits)) * max(factors_of(scale, source)), target)


@cache
def _words(language: str) -> dict[int, tuple[str]]:
    """Return the words of small numbers."""
    return {number: (word,) for word, number in cardinals(language, _IN_WORDS).items()}


def _number(text: str, start: int, end: int, source: str, target: str) -> Quantity:
    number = parse(text[start:end], source, text[end : end + _NEAR])
    forms = _forms(number, text, (start, end), target)
    has_no_sign = with_currency(text, start, end) == (start, end) and start_with_minus(text, start) == start
    is_amount = number.kind == "whole" and not _CODE.match(text, start) and unit_beside(text, start, end) is None
    if has_no_sign and is_amount and int(number.digits[0]) in _IN_WORDS and has_number_words(target):
        forms += _words(target).get(int(number.digits[0]), ())
    return _with_signs(text, (start, end), forms, target)


def _with_signs(text: str, amount: tuple[int, int], forms: Sequence[str], target: str) -> Quantity:
    """Return an amount with its currency or unit and its minus sign, given the ways to write it without."""
    start, end = amount
    place = with_currency(text, start, end)
    if is_price := place != amount:
        sign = (text[place[0] : start] + text[end : place[1]]).strip()
        forms = [each for form in forms for each in written_price(form, sign, target)]
    elif (unit := unit_beside(text, start, end)) is not None:
        place = unit.start, unit.end
        forms = [written_with_unit(form, unit.symbol, target) for form in forms]
    first = start_with_minus(text, place[0])
    forms = [text[first : place[0]] + form for form in forms]
    return Quantity(first, place[1], tuple(dict.fromkeys(forms)), is_time_or_price=is_price)


def _forms(number: Number, text: str, place: tuple[int, int], target: str) -> list[str]:
    """Return the ways to write a number, the usual one first, and not as one that means another number."""
    start, end = place
    as_is = text[start:end]
    is_version = number.kind == "decimal" and _VERSION.search(text[max(0, start - _LONGEST) : start])
    if number.kind not in ("whole", "decimal") or is_version or _CODE.match(as_is):
        return [as_is]
    meaning = parse(as_is, target, "")
    is_time = _TIME_LIKE.fullmatch(as_is) is not None and with_currency(text, start, end) == place
    is_foreign = has_number_words(target) and not may_be_name(text, start, end) and not is_time
    is_clear = meaning == number or (meaning.kind not in ("whole", "decimal") and not is_foreign)
    return [*(written(number, target, like) for like in (as_is, "")), *([as_is] if is_clear else [])]
