"""Checks that a translation has the numbers, dates and amounts of its source.

Each would rather miss a fault than invent one: what one side names in full is only looked for on the other.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from dragoman.content.digits import DIGIT, DIGITS, Number, find_numbers, plain_digits, readings
from dragoman.content.entity import Entity
from dragoman.content.find import amount, find_dates, find_times, find_weekdays, minus_signs
from dragoman.content.language import SIGNS, Language, language_of, languages_of
from dragoman.content.spoken_numbers import numbers_in_words, rows, value_of

Change = Literal["lost", "gained"]


class Fault(NamedTuple):
    """An entity that a translation lost, or has though its source lacks it."""

    check: str
    change: Change
    #: Places are those of the source if it is lost, of the translation if it is gained.
    entity: Entity


_SHORT_YEAR = re.compile(r"(?<=[-–/'’])\d\d(?!\d)")


_SPACE = re.compile(r"[\s-]")


class Side:
    """A text, and what the checks find in it, each once."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = plain_digits(text)
        self.language = language
        self.has_digits = DIGIT.search(self.text) is not None
        self._amounts: dict[Number, Entity] = {}
        self._mentions: dict[tuple[str, str | int], bool] = {}

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers in digits."""
        return find_numbers(self.text, self.language) if self.has_digits else []

    @cached_property
    def words(self) -> set[int]:
        """The numbers in words, with the months that are named."""
        months = {month for month in range(1, 13) if self.language.mentions(self.text, "months", month)}
        return numbers_in_words(self.text, self.language) | months

    @cached_property
    def spelled(self) -> list[Number]:
        """The numbers in words that are surely cardinal ones."""
        if not self.language.words_look.search(self.text):
            return []
        return [
            Number(start, end, frozenset([Decimal(value_of(row))]))
            for start, end, row in rows(self.text, self.language, is_sure=True)
            if row[0] >= row[-1] or len(row) == 1 or _SPACE.search(self.text, start, end) is None  # "seven-thirty"
        ]

    @cached_property
    def values(self) -> set[Decimal]:
        """The values of the numbers in digits."""
        return {value for number in self.numbers for value in number.values}

    def count(self, value: int) -> int:
        """Return how many of the numbers in digits have a value."""
        return sum(value in number.values for number in self.numbers)

    @cached_property
    def known_values(self) -> set[Decimal | int]:
        """The values in digits and in words."""
        return {*self.values, *self.words}

    @cached_property
    def year_parts(self) -> set[int]:
        """The decades and centuries of the years: 60 and 20 for 1960."""
        return {part for value in self.known_values for part in _year_parts(value)}

    @cached_property
    def hours(self) -> set[int]:
        """The numbers that may be hours."""
        return {int(value) for value in self.known_values} | {each.clock[0] for each in self.numbers if each.clock}

    @cached_property
    def minutes(self) -> set[int]:
        """The minutes of the times in digits."""
        return {each.clock[1] for each in self.numbers if each.clock}

    @cached_property
    def scales(self) -> set[int]:
        """The powers of ten from 1,000 on that the text has in words."""
        return {word for word in self.words if word >= 1000 and str(word).rstrip("0") == "1"}

    @cached_property
    def short_years(self) -> set[int]:
        """The years of two digits: 1995-96, '96."""
        return {int(match[0]) for match in _SHORT_YEAR.finditer(self.text)}

    @cached_property
    def amounts(self) -> list[Entity]:
        """The entities of the numbers."""
        return [self.amount(number) for number in self.numbers]

    @cached_property
    def units(self) -> set[str]:
        """The units of its measures."""
        return {str(each.value[1]) for each in self.amounts if each.kind == "measure" and isinstance(each.value, tuple)}

    def mentions(self, kind: str, value: str | int) -> bool:
        """Return True if the text may name a month, a weekday, a currency or a unit."""
        if (kind, value) not in self._mentions:
            self._mentions[kind, value] = self.language.mentions(self.text, kind, value)
        return self._mentions[kind, value]

    def amount(self, number: Number) -> Entity:
        """Return the entity of a number, or of a part of one."""
        if number not in self._amounts:
            self._amounts[number] = amount(self.text, number, self.language)
        return self._amounts[number]


class Check(Protocol):
    """One check. It is switched off by its id."""

    id: str

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the faults of a translation."""
        ...


class Numbers:
    """Compare the numbers in digits. A number in words on one side excuses one in digits on the other."""

    id = "numbers"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield numbers of two or more digits that are lost, and all that are gained."""
        if not (source.has_digits or target.has_digits):
            return
        lost, gained = _unmatched(source.numbers, target.numbers)
        if not (lost or gained) or _are_joined(source, lost, target, gained):
            return
        lost, gained = _without_copies(source, lost, target, gained)
        lost, gained = _unmatched([*_parts(lost)], [*_parts(gained)])
        hints = _has_clock(source) or _has_clock(target)
        for change, own, other in _both_ways(source, target):
            least = max(10 if change == "lost" else own.language.least_told, other.language.least_sure)
            for number in lost if change == "lost" else gained:
                if max(number.values) < least or _is_excused(number, own, other, hints):
                    continue
                entity = own.amount(number)
                if _is_converted(entity, other):
                    continue
                if entity.kind != "money" and _is_in_a_word(own, number, entity):
                    continue
                yield Fault(self.id, change, entity)


def _both_ways(source: Side, target: Side) -> Iterator[tuple[Change, Side, Side]]:
    """Yield both changes, with the side that has the entity and the one that lacks it."""
    yield "lost", source, target
    yield "gained", target, source


_LETTER_BEFORE = re.compile(r"(?:(\d)|[^\d])?[A-Za-z\u00c0-\u024f]\Z")
_NAME_AFTER = re.compile(r"[A-Z](?![a-z])|x\d")


def _is_in_a_word(side: Side, number: Number, entity: Entity) -> bool:
    """Return True if digits are part of a name or a fraction in words: CO2, orf3b, 4K, 4x4, 3分の1."""
    before, after = side.text[max(0, number.start - 4) : number.start], side.text[number.end : number.end + 4]
    if letter := _LETTER_BEFORE.search(before):
        return letter[1] is None or number.end - number.start != 2  # "1m55" has a number
    if number.end - number.start == 1 and entity.kind != "measure" and _NAME_AFTER.match(after):
        return True
    return any(after.startswith(word) or before.endswith(word) for word in side.language.known("fractions"))


def _unmatched(sources: Sequence[Number], targets: Sequence[Number]) -> tuple[list[Number], list[Number]]:
    """Return the numbers without an equal partner on the other side; each is a partner once."""
    by_value: dict[Decimal, deque[int]] = defaultdict(deque)
    for index, number in enumerate(targets):
        for value in number.values:
            by_value[value].append(index)
    taken: set[int] = set()
    lost: list[Number] = []
    for number in sources:
        queues = [by_value[value] for value in number.values if value in by_value]
        for queue in queues:
            while queue and queue[0] in taken:
                queue.popleft()
        partner = min((queue[0] for queue in queues if queue), default=None)
        if partner is None:
            lost.append(number)
        else:
            taken.add(partner)
    return lost, [number for index, number in enumerate(targets) if index not in taken]


def _parts(numbers: Sequence[Number]) -> Iterator[Number]:
    """Yield numbers with those that look like times cut into hours and minutes."""
    for number in numbers:
        if number.clock is None:
            yield number
            continue
        hour, minute = number.clock
        yield Number(number.start, number.end, frozenset([Decimal(hour)]))
        if minute:
            yield Number(number.start, number.end, frozenset([Decimal(minute)]))


def _is_converted(entity: Entity, other: Side) -> bool:
    """Return True if the other text may have a measure in another unit: 140 miles, 220 km."""
    if entity.kind != "measure" or not isinstance(entity.value, tuple):
        return False
    unit = str(entity.value[1])
    return unit not in other.units and unit.split("-")[0] in {each.split("-")[0] for each in other.units}


def _are_joined(source: Side, lost: Sequence[Number], target: Side, gained: Sequence[Number]) -> bool:
    """Return True if both sides have the same digits in another number of parts: 030 1234567, 0301234567.

    Parts with a decimal sign between them are none: 030,1234567.
    """
    if any(all(int(value.as_tuple().exponent) < 0 for value in number.values) for number in (*lost, *gained)):
        return False
    digits = [
        "".join(re.sub(r"\D", "", side.text[each.start : each.end]) for each in numbers)
        for side, numbers in ((source, lost), (target, gained))
    ]
    return len(lost) != len(gained) and digits[0] == digits[1]


def _without_copies(
    source: Side, lost: Sequence[Number], target: Side, gained: Sequence[Number]
) -> tuple[list[Number], list[Number]]:
    """Return both without numbers that are copied: names such as "version 2.125", or faults of separators."""
    copied = {source.text[each.start : each.end] for each in lost} & {
        target.text[each.start : each.end] for each in gained
    }
    return (
        [each for each in lost if source.text[each.start : each.end] not in copied],
        [each for each in gained if target.text[each.start : each.end] not in copied],
    )


#: Words and signs before the number of a version, a section or a room.
_NAME = re.compile(r"(?:[A-Z][\w+#-]*[a-z]\.?|\b[Vv]|§|==|[Vv]ersion|版本)\s?\Z")
_NEAR = 24


#: A number, a date or a version in parts, and what may stand between its parts in a translation. More parts are a
#: telephone number, which each country writes with its own signs.
_IN_PARTS = re.compile(r"(?<![\d.,/-])\d+(?:[.,/-]\d+){1,2}(?![.,/-]?\d)")
_BETWEEN, _MOST_PARTS = re.compile(r"[.,/:\s-]{1,2}"), 3
#: Decimals of a price, which may be written with zeros: 1.5 and 1,50 €.
_CENTS = 2
#: Signs of money; "$1" stands for something else in programs.
_MONEY_SIGN = re.compile(f"[{''.join(sign for sign in SIGNS if len(sign) == 1 and sign != '$')}]")


class Separators:
    """Look for numbers in digits that are not written as the language of the translation writes them."""

    id = "separators"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield numbers with the separators of the source, with more decimals than there, or with the sign of money on
        the other side; and those, dates and versions with other separators, which make no number."""
        if not (source.has_digits and target.has_digits):
            return
        yield from _copies(source, target)
        decimals = _decimals(source.numbers)
        has_sign_after = (source.language.cldr["money"], target.language.cldr["money"]) == ("{1}{0}", "{0} {1}")
        for number in target.numbers:
            last = target.text[number.end - 1]
            if number.clock is not None or not last.isdigit():
                continue
            more = [value for value, n in _decimals([number]).items() if n > max(_CENTS, decimals.get(value, n))]
            has_sign_before = number.start and _MONEY_SIGN.match(target.text, number.start - 1)
            if (last == "0" and more) or (has_sign_after and has_sign_before):
                yield Fault(self.id, "gained", target.amount(number))
        copies = _rows(target.text)
        for match in _IN_PARTS.finditer(source.text):
            parts = tuple(DIGITS.findall(match[0]))
            copy = copies.get(parts, match[0])
            if copy == match[0] or readings(copy, target.language):
                continue
            signs = {sign.strip() for sign in DIGITS.split(copy)[1:-1]}
            if len(signs) > 1 or not signs <= {*(":" if readings(match[0], source.language) else ".:/-")}:
                yield Fault(self.id, "lost", Entity("cardinal", *match.span(), Decimal(parts[0])))


def _rows(text: str) -> dict[tuple[str, ...], str]:
    """Return the first place of each two or three rows of digits with no more than signs between them."""
    found: dict[tuple[str, ...], str] = {}
    rows = [*DIGITS.finditer(text)]
    for first, row in enumerate(rows):
        for last in range(first + 1, min(first + _MOST_PARTS, len(rows))):
            if not _BETWEEN.fullmatch(text, rows[last - 1].end(), rows[last].start()):
                break
            parts = tuple(one[0] for one in rows[first : last + 1])
            found.setdefault(parts, text[row.start() : rows[last].end()])
    return found


def _decimals(numbers: Sequence[Number]) -> dict[Decimal, int]:
    """Return the most decimals that each value is written with."""
    found: dict[Decimal, int] = {}
    for value in (value for number in numbers for value in number.values):
        found[value] = max(found.get(value, 0), -int(value.as_tuple().exponent))
    return found


def _copies(source: Side, target: Side) -> Iterator[Fault]:
    """Yield the numbers that a translation copies, though they have another value or another sign in its language."""
    own, other = source.language.cldr["decimal"], target.language.cldr["decimal"]
    if own == other:
        return
    copies = {target.text[each.start : each.end]: each.values for each in target.numbers}
    for number in source.numbers:
        text = source.text[number.start : number.end]
        if text not in copies or _NAME.search(source.text, max(0, number.start - _NEAR), number.start):
            continue
        entity = source.amount(number)
        has_sign = own in text and entity.kind in ("money", "measure", "percent")
        if has_sign or copies[text].isdisjoint(number.values):
            yield Fault(Separators.id, "lost", entity)


_COLON = re.compile(r"\d[:：]\d\d")


def _has_clock(side: Side) -> bool:
    halves = side.language.day_halves
    if _COLON.search(side.text):
        return True
    lowered = side.text.lower()
    return (halves is not None and any(half.search(lowered) for half in halves)) or any(
        word in lowered for word in side.language.known("clock")
    )


def _is_excused(number: Number, own: Side, other: Side, has_clock: bool) -> bool:
    """Return True if the other text may have a number in another way: in words, as a month, in another scale."""
    values = {int(value) for value in number.values if value == int(value)}
    words, others = other.words, other.values
    if values & words or values & other.year_parts:
        return True
    if any(part in other.known_values for value in values for part in _year_parts(value)):
        return True
    years = own.short_years | other.short_years
    if any(value % 100 in years and (value in years or value > 1000) for value in values):
        return True  # 1995-96 and 1995-1996
    if has_clock:
        shifted = {value + 12 for value in values if value <= 12} | {
            value - 12 for value in values if 12 <= value <= 24
        }
        if words & {15, 30, 50}:  # "halb drei" is 2:30
            shifted |= {value % 12 + 1 for value in values if value <= 24}
        if shifted & other.hours or any(value in (15, 30, 45) for value in values):
            return True
    if words & {30, 50} and any((value - Decimal("0.5")) in other.known_values for value in number.values):
        return True  # "one and a half"
    scales = own.scales | other.scales
    if any(value * scale in others or value / scale in others for value in number.values for scale in scales):
        return True
    return any(value / scale in words or value * scale in words for value in number.values for scale in scales)


def _year_parts(year: Decimal | int) -> Iterator[int]:
    """Yield the numbers of the decade and the century of a year: the 1960s, "années 60", 20世纪60年代, 800-talet."""
    if 1000 < year < 2100 and year == int(year):
        yield int(year) // 100 + 1
        if year % 10 == 0:
            yield int(year) % 100
    elif 100 <= year <= 1000 and year % 100 == 0:
        yield int(year) // 100 + 1


class Words:
    """Compare numbers in words that are hardly anything else: 21 to 99, and from a million on."""

    id = "words"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield numbers in words that the other side has neither in words nor in digits."""
        for change, own, other in _both_ways(source, target):
            for number in own.spelled:
                (value,) = number.values
                is_told = 20 < value < 100 and value % 10 and value not in other.known_values | other.minutes
                if is_told and not _is_excused(number, own, other, has_clock=False):
                    yield Fault(self.id, change, Entity("cardinal", number.start, number.end, value))
            match = own.language.millions.search(own.text.lower())
            if match is None or own.words & {30, 50}:  # half a million
                continue
            largest = max((value_of(row) for _, _, row in rows(own.text, own.language, is_sure=True)), default=0)
            is_told = largest > 1_000_000 and str(largest).rstrip("0") != "1"
            if is_told and not (largest in other.words or _has(other, largest)):
                yield Fault(self.id, change, Entity("cardinal", *match.span(), Decimal(largest)))


def _has(side: Side, value: int) -> bool:
    return any(abs(value - each) * 20 < value for number in side.numbers for each in number.values)


class Percents:
    """Look for a sign or a word of percent."""

    id = "percents"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the percentages of a source whose translation has none."""
        if "%" not in source.text or _PERCENT.search(target.text) or not target.language.known("percent"):
            return
        if not any(word in target.text.lower() for word in target.language.known("percent")):
            yield from (Fault(self.id, "lost", each) for each in source.amounts if each.kind == "percent")


_PERCENT = re.compile("[%％٪]")


class Money:
    """Look for each currency of the source."""

    id = "money"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the amounts of a source whose currency its translation does not name."""
        for entity in map(source.amount, [*source.numbers, *source.spelled]):
            if entity.kind != "money" or not isinstance(entity.value, tuple):
                continue
            if not target.mentions("currencies", str(entity.value[1])):
                yield Fault(self.id, "lost", entity)


class Measures:
    """Look for each unit of the source."""

    id = "measures"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the measures whose number is kept and whose unit is not. A measure may become one of another unit."""
        if not source.has_digits:
            return
        values = target.values
        for entity in source.amounts:
            if entity.kind != "measure" or not isinstance(entity.value, tuple) or entity.value[0] not in values:
                continue
            if not target.mentions("units", str(entity.value[1])):
                yield Fault(self.id, "lost", entity)


class Dates:
    """Look for each month that is named."""

    id = "dates"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield dates whose month the other side neither names nor has as a number, beside those of both sides."""
        for change, own, other in _both_ways(source, target):
            for entity in find_dates(own.text, own.language):
                month = entity.value[1] if isinstance(entity.value, tuple) else 0
                has_number = other.count(int(month)) > own.count(int(month))  # of 3 March, 3 is the day
                if not has_number and not other.mentions("months", int(month)):
                    yield Fault(self.id, change, entity)


class Weekdays:
    """Look for each weekday that is named."""

    id = "weekdays"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield weekdays that the other side does not name."""
        for change, own, other in _both_ways(source, target):
            for entity in find_weekdays(own.text, own.language):
                if not other.mentions("weekdays", int(str(entity.value))):
                    yield Fault(self.id, change, entity)


class Times:
    """Compare the times with a word for the half of the day."""

    id = "times"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the times of a source whose hour its translation has neither of 24 nor with a word for its half."""
        own, other = source.language.day_halves, target.language.day_halves
        if not source.has_digits or own is None or other is None:
            return
        theirs = target.text.lower()
        for entity in find_times(source.text, source.language):
            written, hour = source.text[entity.start : entity.end].lower(), int(str(entity.value)) // 60
            if not any(half.search(written) for half in own):
                continue
            names_half = other[hour >= 12].search(theirs) is not None
            has_hour = (hour % 12 or 12) in target.hours or hour % 12 == 0
            if hour not in target.hours and not (names_half and has_hour):
                yield Fault(self.id, "lost", entity)


class Minus:
    """Look for a sign or a word for a minus sign."""

    id = "minus"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield negative numbers of a source whose translation has the number without a sign or a word for it."""
        places = minus_signs(source.text) if source.has_digits else []
        words = [word.lower() for word in target.language.known("minus")]
        if not places or not words or minus_signs(target.text) or any(word in target.text.lower() for word in words):
            return
        for number in source.numbers:
            if number.start - 1 in places:
                value = -min(number.values)
                yield Fault(self.id, "lost", Entity("cardinal", number.start - 1, number.end, value))


#: All checks, in the order in which their faults are told.
CHECKS: Sequence[Check] = (
    Numbers(),
    Separators(),
    Words(),
    Percents(),
    Money(),
    Measures(),
    Dates(),
    Weekdays(),
    Times(),
    Minus(),
)

#: The check of spans, which knows no language, and all others, by the names that switch them off.
SPANS = "spans"
CHECK_NAMES = (SPANS, *(check.id for check in CHECKS))


def faults(source: str, target: str, languages: tuple[str, str], off: Collection[str] = ()) -> list[Fault]:
    """Return the faults of a translation; none for a language without data.

    Args:
        languages: codes of the source and the target language. If the source may be in several, with `ANY_OF` between
            them, the one with the fewest faults counts.
        off: ids of checks that are switched off.

    >>> [(fault.check, fault.change) for fault in faults("On May 3 at 25 km/h.", "Am 3. Juni mit 25 kg.", ("en", "de"))]
    [('measures', 'lost'), ('dates', 'lost'), ('dates', 'gained')]
    >>> faults("Tengo veintidós años.", "I am 22 years old.", ("es", "en"))
    []
    """
    fewest: list[Fault] | None = None
    for own in languages_of(languages[0]):
        found = _faults(source, target, own, language_of(languages[1]), off)
        if not found:
            return []
        fewest = found if fewest is None or len(found) < len(fewest) else fewest
    return fewest or []


def _faults(source: str, target: str, own: Language, other: Language | None, off: Collection[str]) -> list[Fault]:
    if other is None or not (own.may_have_entities(source) or other.may_have_entities(target)):
        return []
    sides = Side(source, own), Side(target, other)
    return [fault for check in CHECKS if check.id not in off for fault in check.faults(*sides)]
