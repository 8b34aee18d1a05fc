"""Small numbers and hours in words on both sides, which digits may replace: "three dogs", "drei Hunde" -> "17 dogs".

Texts of everyday sentences have few digits and many such words. Chinese numerals count only before a measure word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from numpy.random import Generator

from dragoman.data.augmentation.number_values import other_whole
from dragoman.data.augmentation.shared import Languages, Pair, Place, Shared
from dragoman.data.perturbations.picking import pick
from dragoman.text.number_words import cardinals
from dragoman.text.written_numbers import Number, written

_VALUES = (*range(2, 13), 20, 30, 40, 50)
_WORDS: Mapping[str, Mapping[str, int]] = {
    **{language: cardinals(language, _VALUES) for language in ("en", "de", "fr")},
    "zh": cardinals("zh", range(2, 11)),
}
_LAST_HOUR = 12
_MEASURES = "个個只隻本天年次岁歲块塊张張杯件位条條间間种種辆輛英公美分小"
_SCALES = r"\s(?:hundred|thousand|million|billion|cents?|mille|millions?|milliards?|Millionen|Milliarden|tausend)\b"
_PATTERNS = {
    **{
        language: re.compile(rf"(?<![\w-])(?:{'|'.join(_WORDS[language])})(?![\w-])(?!{_SCALES})", re.IGNORECASE)
        for language in ("en", "de", "fr")
    },
    "zh": re.compile(f"(?<![一二三四五六七八九十百千万两几第零期周拜])[{''.join(_WORDS['zh'])}](?=[{_MEASURES}点點])"),
}
#: The unit of an hour, after its number. English may leave it out: "at six."
_UNITS = {
    "en": re.compile(r"\so['’]clock"),
    "de": re.compile(r"\sUhr\b"),
    "fr": re.compile(r"\sheures\b"),
    "zh": re.compile("[点點][钟鐘]?(?![一二三四五六七八九十半多])"),
}
_AT, _END = re.compile(r"\b(?:at|by)\s\Z"), re.compile(r"[.,?!]|\Z")
#: Hours in whole, and with minutes.
_HOURS = {"en": ("{} o'clock",), "de": ("{} Uhr",), "fr": ("{} heures",), "zh": ("{}点", "{}点钟")}
_TIMES = {
    "en": ("{}:{}",),
    "de": ("{}:{} Uhr", "{}:{} Uhr", "{}.{} Uhr"),
    "fr": ("{} h {}", "{}:{}"),
    "zh": ("{}:{}", "{}点{}分"),
}


def shared_counts(pair: Pair, languages: Languages) -> list[Shared]:
    """Return numbers from 2 to 50 in words that stand exactly once on both sides; of hours with their units."""
    if not all(language in _WORDS for language in languages):
        return []
    sides = [_counts(text, language) for text, language in zip(pair, languages, strict=True)]
    found = []
    for value, place in sides[0].items():
        other = sides[1].get(value)
        if place is None or other is None:
            continue
        ends = [_end_of_hour(*side) for side in zip(pair, languages, (place, other), strict=True)]
        if ends[0] and ends[1] and value <= _LAST_HOUR:
            found.append(Shared("hour", (((place[0], ends[0]),), ((other[0], ends[1]),))))
        elif not any(ends):
            found.append(Shared("count", ((place,), (other,))))
    return found


def _end_of_hour(text: str, language: str, place: Place) -> int | None:
    """Return the end of an hour with its unit; None if the number in its place is no hour."""
    start, end = place
    if unit := _UNITS[language].match(text, end):
        return unit.end()
    return end if language == "en" and _AT.search(text[:start]) and _END.match(text, end) else None


def _counts(text: str, language: str) -> dict[int, Place | None]:
    counts: dict[int, Place | None] = {}
    for match in _PATTERNS[language].finditer(text):
        value = _WORDS[language][match[0].lower()]
        counts[value] = None if value in counts else match.span()
    return counts


def draw_count(languages: Languages, generator: Generator) -> Pair:
    """Return a number from 2 on in digits, as each language writes it."""
    number = Number("whole", (other_whole(pick(("5", "12", "12"), generator), generator),))
    return written(number, languages[0], ""), written(number, languages[1], "")


def draw_hour(languages: Languages, generator: Generator) -> Pair:
    """Return a time of day in digits, as each language writes it."""
    chance, minute = generator.random(), int(generator.random() * 60)
    hour = 2 + int(generator.random() * (11 if chance < 0.7 else 22))
    forms = [(_HOURS if chance < 0.4 and hour <= 12 else _TIMES)[language] for language in languages]
    source, target = (pick(choices, generator).format(hour, f"{minute:02}") for choices in forms)
    return source, target
