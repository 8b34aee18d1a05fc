"""The usual ways to write an entity in a language, by the patterns of CLDR."""

from __future__ import annotations

import re
from decimal import Decimal

from dragoman.content.entity import Entity
from dragoman.content.language import SIGNS_OF, Language

#: Languages write four digits without a separator at least as often as with one.
_LEAST_GROUPED = 10_000
_FIELDS = re.compile(r"'[^']*'|y+|[ML]+|d+|h+|H+|m+|a+")


def write(entity: Entity, language: Language) -> list[str]:
    """Return the usual ways to write an entity, the most usual first.

    >>> from dragoman.content.language import language_of
    >>> write(Entity("money", 0, 0, (Decimal("1250.50"), "EUR")), language_of("de"))
    ['1250,50 €', '1250,50 EUR', '1.250,50 €', '1.250,50 EUR']
    >>> write(Entity("date", 0, 0, (2026, 5, 3)), language_of("fr"))[0]
    '3 mai 2026'
    """
    value = entity.value
    if entity.kind == "weekday" and isinstance(value, int):
        return list(language.cldr["weekdays"][value])
    if entity.kind == "time" and isinstance(value, int):
        return [_time(value, language), f"{value // 60}:{value % 60:02}"]
    if entity.kind == "date" and isinstance(value, tuple) and len(value) == 3:
        return _dates(value, language)
    if isinstance(value, tuple) and isinstance(value[0], Decimal):
        forms = [
            form
            for number in _numbers(value[0], language)
            for form in _with_unit(number, str(value[1]), entity, language)
        ]
    elif isinstance(value, Decimal):
        pattern = language.cldr["percent"] if entity.kind == "percent" else "{0}"
        forms = [pattern.replace("{0}", number) for number in _numbers(value, language)]
    else:
        raise ValueError(f"an entity of kind {entity.kind} has the value {value!r}")
    return list(dict.fromkeys(forms))


def _numbers(value: Decimal, language: Language) -> list[str]:
    sign, digits = "-" * (value < 0), f"{abs(value):f}"
    whole, _, fraction = digits.partition(".")
    fraction = language.cldr["decimal"] + fraction if fraction else ""
    grouped = f"{int(whole):,}".replace(",", language.cldr["group"])
    forms = [sign + whole + fraction, sign + grouped + fraction]
    return forms if int(whole) < _LEAST_GROUPED else forms[::-1]


def _with_unit(number: str, unit: str, entity: Entity, language: Language) -> list[str]:
    if entity.kind == "measure":
        entry = language.cldr["units"].get(unit, {"short": ["{0}"], "names": []})
        return [form.replace("{0}", number) for form in entry["short"]]
    signs = [*language.cldr["currencies"].get(unit, {"signs": []})["signs"], *SIGNS_OF.get(unit, ()), unit]
    pattern = language.cldr["money"]
    spaced = "{0} {1}" if pattern == "{1}{0}" else pattern
    return [
        (spaced if sign == unit else pattern).replace("{0}", number).replace("{1}", sign)
        for sign in dict.fromkeys(signs)
    ]


def _dates(value: tuple[int | None, int, int | None], language: Language) -> list[str]:
    year, month, day = value
    dates = language.cldr["dates"]
    if day is None and year is None:
        return list(language.cldr["months"][month - 1])
    pattern = dates["month_year"] if day is None else dates["month_day"] if year is None else dates["long"]
    return [_filled(pattern, {"y": str(year), "d": str(day), "M": str(month)}, language)]


def _time(minutes: int, language: Language) -> str:
    hour, minute = divmod(minutes, 60)
    half = language.cldr["day_periods"]["pm" if hour >= 12 else "am"][0]
    pattern = language.cldr["times"]["short"].replace("HH", "H")
    fields = {"h": str(hour % 12 or 12), "H": str(hour), "m": f"{minute:02}", "a": half}
    return _filled(pattern, fields, language)


def _filled(pattern: str, fields: dict[str, str], language: Language) -> str:
    """Return a CLDR pattern with its letters replaced; three or more of M are the month's name."""

    def field(match: re.Match[str]) -> str:
        letters = match[0].replace("L", "M")
        if letters.startswith("'"):
            return letters[1:-1]
        names = language.cldr["months"][int(fields["M"]) - 1] if letters.startswith("MMM") else None
        return str(names[-1 if match[0][0] == "L" else 0]) if names else fields[letters[0]]

    return _FIELDS.sub(field, pattern)
