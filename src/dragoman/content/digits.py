"""Numbers in digits, and the values that they may have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from dragoman.content.language import Language

DIGIT = re.compile(r"\d")
#: Digits with separators. A space or an apostrophe separates three digits, after at most three: "in 2012 118,800 came".
NUMBER = re.compile(r"\d+(?:[.,٫٬]\d+|(?<!\d{4})['’\u00a0\u202f\u2009 ](?=\d{3}(?!\d))\d{3})*")
TIME_LIKE = re.compile(r"(\d{1,2})[:.：](\d\d)(?!\d)")
_COLON_TIME = re.compile(r"(?<![\d:.：])([01]?\d|2[0-4])[:：h]([0-5]\d)(?![\d:：])")
DIGITS = re.compile(r"\d+")
_MORE = re.compile(r" ?(\d{1,9})(?![\d.,])")
#: Scales and digits after the first digits of one number.
_MOST_PARTS = 8
#: "4K" and "5G" are names.
_CAPITAL = re.compile(r"[A-Z](?![a-z])")
#: Longer ones are identifiers.
_LONGEST = 40


class Number(NamedTuple):
    """A number in digits, with the values that it may have."""

    start: int
    end: int
    #: "1.250" may be two.
    values: frozenset[Decimal]
    #: (hour, minute) if it looks like a time.
    clock: tuple[int, int] | None = None


def plain_digits(text: str) -> str:
    """Return a text with the digits 0 to 9 in place of those of other scripts; places stay.

    >>> plain_digits("٢٠٢٥ and ５")
    '2025 and 5'
    """
    if text.isascii():
        return text
    foreign = {each for each in DIGIT.findall(text) if not each.isascii()}
    return text.translate({ord(each): str(unicodedata.digit(each)) for each in foreign}) if foreign else text


def find_numbers(text: str, language: Language | None) -> list[Number]:
    """Return the numbers of a text with plain digits, in order."""
    found: list[Number] = []
    end = 0
    for match in NUMBER.finditer(text):
        if match.start() < end:
            continue
        time = _COLON_TIME.match(text, match.start())
        if time:
            hour, minute = int(time[1]), int(time[2])
            values = frozenset([Decimal(f"{hour}.{minute:02}"), Decimal(100 * hour + minute)])
            found.append(Number(*time.span(), values, (hour, minute)))
            end = time.end()
            continue
        for number in _parsed(match, language):
            found.append(_scaled(number, text, language))
        end = max(match.end(), found[-1].end if found else 0)
    return found


def _parsed(match: re.Match[str], language: Language | None) -> Iterator[Number]:
    """Yield a number, or the parts of what is none, such as 25.11.2026."""
    values = readings(match[0], language) if len(match[0]) <= _LONGEST else frozenset()
    if values:
        time = TIME_LIKE.fullmatch(match[0])
        clock = (int(time[1]), int(time[2])) if time and int(time[1]) <= 24 and int(time[2]) < 60 else None
        yield Number(*match.span(), values, clock)
        return
    for part in DIGITS.finditer(match[0]):
        start = match.start() + part.start()
        if len(part[0]) <= _LONGEST:
            yield Number(start, start + len(part[0]), frozenset([Decimal(part[0])]))


@cache
def _signs(language: Language | None) -> tuple[str, str]:
    return (language.cldr["decimal"], language.cldr["group"]) if language else ("", "")


def readings(written: str, language: Language | None) -> frozenset[Decimal]:
    """Return the values of digits with separators; empty if they are no number.

    >>> sorted(map(str, readings("1.250", None))), readings("25.11.2026", None)
    (['1.250', '1250'], frozenset())
    """
    signs = [each for each in written if not each.isdecimal()]
    parts = DIGITS.findall(written)
    if not signs:
        return frozenset([Decimal(written)])
    values: set[Decimal] = set()
    if len(set(signs)) == 1 and _are_groups(parts, have_pairs=signs[0] == ","):
        values.add(Decimal("".join(parts)))
    has_decimals = signs[-1] not in signs[:-1] and signs[-1] in ".,٫" and len(set(signs[:-1])) <= 1
    if has_decimals and (len(parts) == 2 or _are_groups(parts[:-1], have_pairs=True)):
        values.add(Decimal("".join(parts[:-1]) + "." + parts[-1]))
    decimal, group = _signs(language)
    if len(values) == 2 and signs[0] == decimal:
        return frozenset([min(values)])
    if len(values) == 2 and signs[0] == group:
        return frozenset([max(values)])
    return frozenset(values)


def _are_groups(parts: Sequence[str], *, have_pairs: bool) -> bool:
    """Return True for groups of three digits; in India those before the last have two: 12,34,567."""
    shortest = 2 if have_pairs else 3
    return len(parts[0]) <= 3 == len(parts[-1]) and all(shortest <= len(part) <= 3 for part in parts[1:])


def _scaled(number: Number, text: str, language: Language | None) -> Number:
    """Return a number with the scales and digits after it: "1.5 million", 3万, 3億4千万."""
    if language is None or (number.end - number.start == 1 and _CAPITAL.match(text, number.end)):
        return number
    parts, end = _scales_after(text, number.end, language)
    if not parts:
        return number
    return Number(number.start, end, frozenset(_total(value, parts) for value in number.values))


def _scales_after(text: str, end: int, language: Language) -> tuple[list[tuple[bool, int]], int]:
    """Return the scales and the digits from a place on, True for a scale, and where they end."""
    parts: list[tuple[bool, int]] = []
    while len(parts) < _MOST_PARTS and (match := language.scale_pattern.match(text, end)):
        scale, end = language.scale_of(match[1]), match.end()
        parts.append((True, scale))
        more = _MORE.match(text, end) if language.joins_scales else None
        if more is None:
            continue
        goes_on = language.scale_pattern.match(text, more.end()) is not None
        if text[end] == " " and not goes_on:
            break
        is_short = len(more[1]) == 1 and scale >= 1000 and not goes_on
        parts.append((False, int(more[1]) * (scale // 10 if is_short else 1)))  # 3万5 is 35,000
        end = more.end()
    return parts, end


def _total(value: Decimal, parts: Sequence[tuple[bool, int]]) -> Decimal:
    """Return the value of digits with scales: a scale multiplies all smaller terms right before it.

    >>> _total(Decimal(5), [(True, 1000), (False, 4), (True, 100), (True, 10_000)])
    Decimal('54000000')
    """
    terms = [value]
    for is_scale, number in parts:
        if not is_scale:
            terms.append(Decimal(number))
        elif len(terms) == 1:
            terms[0] *= number
        else:
            below = Decimal(0)
            while terms and terms[-1] < number:
                below += terms.pop()
            terms.append((below or Decimal(1)) * number)
    return sum(terms, Decimal(0))
