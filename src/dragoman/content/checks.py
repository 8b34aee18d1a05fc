"""Checks that a translation has the numbers, dates and amounts of its source.

Each would rather miss a fault than invent one: what one side names in full is only looked for on the other.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple, Protocol

from dragoman.content.entity import Entity
from dragoman.content.find import amount, find_dates, find_weekdays, minus_signs
from dragoman.content.language import Language, language_of
from dragoman.content.number_words import numbers_in_words
from dragoman.content.numbers import DIGIT, Number, find_numbers, plain_digits


class Fault(NamedTuple):
    """An entity that a translation lost, or has though its source lacks it."""

    check: str
    change: Literal["lost", "gained"]
    #: Places are those of the source if it is lost, of the translation if it is gained.
    entity: Entity


_SHORT_YEAR = re.compile(r"(?<=[-–/'’])\d\d(?!\d)")


class Side:
    """A text, and what the checks find in it, each once."""

    def __init__(self, text: str, language: Language) -> None:
        self.text = plain_digits(text)
        self.language = language
        self.has_digits = DIGIT.search(self.text) is not None
        self._numbers: list[Number] | None = None
        self._words: set[int] | None = None

    @property
    def numbers(self) -> list[Number]:
        """The numbers in digits."""
        if self._numbers is None:
            self._numbers = find_numbers(self.text, self.language) if self.has_digits else []
        return self._numbers

    @property
    def words(self) -> set[int]:
        """The numbers in words, with the months that are named."""
        if self._words is None:
            self._words = numbers_in_words(self.text, self.language)
            self._words.update(month for month in range(1, 13) if self.language.mentions(self.text, "months", month))
        return self._words

    @property
    def short_years(self) -> set[int]:
        """The years of two digits: 1995-96, '96."""
        return {int(match[0]) for match in _SHORT_YEAR.finditer(self.text)}

    def amounts(self) -> Iterator[Entity]:
        """Yield the entities of the numbers."""
        return (amount(self.text, number, self.language) for number in self.numbers)


class Check(Protocol):
    """One check. It is switched off by its id."""

    id: str
    explanation: str

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the faults of a translation."""
        ...


class Numbers:
    """Compare the numbers in digits. A number in words on one side excuses one in digits on the other."""

    id = "numbers"
    explanation = "a number is missing, or is not in the source"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield numbers of two or more digits that are lost, and all that are gained."""
        if not (source.has_digits or target.has_digits):
            return
        lost, gained = _unmatched(source.numbers, target.numbers)
        if lost or gained:
            lost, gained = _unmatched([*_parts(lost)], [*_parts(gained)])
        hints = _has_clock(source) or _has_clock(target)
        lost, gained = _without_conversions(lost, gained, source, target)
        for change, numbers, own, other in (("lost", lost, source, target), ("gained", gained, target, source)):
            least = 10 if change == "lost" else 0
            for number in numbers:
                if min(number.values) > least and not _is_excused(number, own, other, hints):
                    yield Fault(self.id, change, amount(own.text, number, own.language))  # type: ignore[arg-type]


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


def _without_conversions(
    lost: list[Number], gained: list[Number], source: Side, target: Side
) -> tuple[list[Number], list[Number]]:
    """Return both without measures if a measure became one of another unit: 17 pounds, 7.7 kilograms."""
    measures = [
        [number for number in numbers if amount(side.text, number, side.language).kind == "measure"]
        for numbers, side in ((lost, source), (gained, target))
    ]
    if not all(measures):
        return lost, gained
    return [each for each in lost if each not in measures[0]], [each for each in gained if each not in measures[1]]


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
    words = other.words
    if values & words:
        return True
    others = {value for each in other.numbers for value in each.values}
    if any(_is_same_year(value, each) or _is_same_year(each, value) for value in values for each in others | words):
        return True
    years = own.short_years | other.short_years
    if any(value % 100 in years and (value in years or value > 1000) for value in values):
        return True  # 1995-96 and 1995-1996
    if has_clock:
        shifted = {value + 12 for value in values if value <= 12} | {
            value - 12 for value in values if 12 <= value <= 24
        }
        hours = {int(value) for value in others} | words
        hours |= {each.clock[0] for each in other.numbers if each.clock}
        if shifted & hours or any(value in (15, 30, 45) for value in values):
            return True
    scales = {word for word in own.words | words if word >= 1000}
    if any(value * scale in others or value / scale in others for value in number.values for scale in scales):
        return True
    return any(value / scale in words for value in number.values for scale in scales)


def _is_same_year(year: Decimal | int, number: Decimal | int) -> bool:
    """Return True if a number may stand for a decade or a century of a year: the 1960s, "années 60", 20世纪60年代."""
    if not 1000 < year < 2100 or number > 100:
        return False
    return (year % 10 == 0 and year % 100 == number) or year // 100 + 1 == number


class Percents:
    """Look for a sign or a word of percent."""

    id = "percents"
    explanation = "a number is no percentage any more"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the percentages of a source whose translation has none."""
        if "%" not in source.text or _PERCENT.search(target.text) or not target.language.known("percent"):
            return
        if not any(word in target.text.lower() for word in target.language.known("percent")):
            yield from (Fault(self.id, "lost", each) for each in source.amounts() if each.kind == "percent")


_PERCENT = re.compile("[%％٪]")


class Money:
    """Look for each currency of the source."""

    id = "money"
    explanation = "an amount has lost its currency"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the amounts of a source whose currency its translation does not name."""
        if not source.has_digits:
            return
        for entity in source.amounts():
            if entity.kind == "money" and isinstance(entity.value, tuple):
                if not target.language.mentions(target.text, "currencies", str(entity.value[1])):
                    yield Fault(self.id, "lost", entity)


class Measures:
    """Look for each unit of the source."""

    id = "measures"
    explanation = "a measure has lost its unit"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield the measures whose number is kept and whose unit is not. A measure may become one of another unit."""
        if not source.has_digits:
            return
        values = {value for number in target.numbers for value in number.values}
        for entity in source.amounts():
            if entity.kind == "measure" and isinstance(entity.value, tuple) and entity.value[0] in values:
                if not target.language.mentions(target.text, "units", str(entity.value[1])):
                    yield Fault(self.id, "lost", entity)


class Dates:
    """Look for each month that is named."""

    id = "dates"
    explanation = "a month is missing, or is not in the source"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield dates whose month the other side neither names nor has as a number."""
        for change, own, other in (("lost", source, target), ("gained", target, source)):
            for entity in find_dates(own.text, own.language):
                month = entity.value[1] if isinstance(entity.value, tuple) else 0
                numbers = {value for each in other.numbers for value in each.values}
                if month not in numbers and not other.language.mentions(other.text, "months", int(month)):
                    yield Fault(self.id, change, entity)  # type: ignore[arg-type]


class Weekdays:
    """Look for each weekday that is named."""

    id = "weekdays"
    explanation = "a weekday is missing, or is not in the source"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield weekdays that the other side does not name."""
        for change, own, other in (("lost", source, target), ("gained", target, source)):
            for entity in find_weekdays(own.text, own.language):
                if not other.language.mentions(other.text, "weekdays", int(str(entity.value))):
                    yield Fault(self.id, change, entity)  # type: ignore[arg-type]


class Times:
    """Compare the half of the day."""

    id = "times"
    explanation = "a time is in the other half of the day"

    def faults(self, source: Side, target: Side) -> Iterator[Fault]:
        """Yield times after which a source has a word for the half of the day, if the translation has another half.

        A translation in the clock of 24 hours names no half.
        """
        own, other = source.language.day_halves, target.language.day_halves
        if not source.has_digits or own is None or other is None:
            return
        lowered, theirs = source.text.lower(), target.text.lower()
        is_half = [half.search(lowered) is not None for half in own]
        if is_half[0] == is_half[1] or other[is_half[1]].search(theirs):
            return
        hours = {each.clock[0] if each.clock else int(min(each.values)) for each in target.numbers}
        for number in source.numbers:
            hour = number.clock[0] if number.clock else int(min(number.values))
            follows = own[is_half[1]].match(lowered[number.end :].lstrip()) is not None
            if not follows or not 1 <= hour <= 12:
                continue
            wanted = hour % 12 + 12 * is_half[1]
            wrong = (wanted + 12) % 24
            if wanted not in hours and (wrong in hours or hour in hours):
                minute = number.clock[1] if number.clock else 0
                yield Fault(self.id, "lost", Entity("time", number.start, number.end, 60 * wanted + minute))


class Minus:
    """Look for a sign or a word for a minus sign."""

    id = "minus"
    explanation = "a number has lost its minus sign"

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
CHECKS: Sequence[Check] = (Numbers(), Percents(), Money(), Measures(), Dates(), Weekdays(), Times(), Minus())

#: The check of spans, which knows no language, and all others, by the names that switch them off.
SPANS = "spans"
CHECK_NAMES = (SPANS, *(check.id for check in CHECKS))


def faults(source: str, target: str, languages: tuple[str, str], off: Collection[str] = ()) -> list[Fault]:
    """Return the faults of a translation; none for a language without data.

    Args:
        languages: codes of the source and the target language.
        off: ids of checks that are switched off.

    >>> [(fault.check, fault.change) for fault in faults("On May 3 at 25 km/h.", "Am 3. Juni mit 25 kg.", ("en", "de"))]
    [('measures', 'lost'), ('dates', 'lost'), ('dates', 'gained')]
    >>> faults("Tengo veintidós años.", "I am 22 years old.", ("es", "en"))
    []
    """
    known = language_of(languages[0]), language_of(languages[1])
    if known[0] is None or known[1] is None:
        return []
    if not (known[0].first_look.search(source) or known[1].first_look.search(target)):
        return []
    sides = Side(source, known[0]), Side(target, known[1])
    return [fault for check in CHECKS if check.id not in off for fault in check.faults(*sides)]
