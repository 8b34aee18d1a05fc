"""Units of measurement and codes of currencies beside numbers: "120 cm", "-12 °C", "16 GB", "EUR 50".

A translation has the same symbols, or words for them; a small model that does not know "cm" writes "Kilometer".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from dragoman.text.number_words import has_number_words

#: Of each symbol: how else it may be written in a text, and the words for it, as patterns; and its Chinese word.
_METRE, _GRAM = r"m[eèé]t(?:er|re)s?", "gramm?e?s?"
_SYMBOLS: dict[str, tuple[str, str, str]] = {
    "mm": ("mm|MM", rf"mill?i{_METRE}", "毫米"),
    "cm": ("cm|CM", rf"[cz]enti{_METRE}|公分|\d\s?m\s?\d\d(?!\d)", "厘米"),  # "1 m 55"
    "m": (r"m(?!\s?\d)", _METRE, "米"),
    "km": ("[kK]m|KM", rf"kilo{_METRE}|千米", "公里"),
    "m²": ("m²|m2|qm|sqm", rf"square\s{_METRE}|quadrat{_METRE}|{_METRE}\scarrés?|平米", "平方米"),
    "km²": ("km²|km2", rf"square\skilo{_METRE}|quadratkilo{_METRE}|kilo{_METRE}\scarrés?|平方千米", "平方公里"),
    "m³": ("m³|m3", rf"cubic\s{_METRE}|kubik{_METRE}|{_METRE}\scubes?", "立方米"),
    "ml": ("m[lL]|ML", r"mill?ilit(?:er|re)s?", "毫升"),
    "cl": ("c[lL]", r"[cz]entilit(?:er|re)s?", "厘升"),
    "l": ("l|L", r"lit(?:er|re)s?|公升", "升"),
    "mg": ("mg|MG", f"mill?i{_GRAM}", "毫克"),
    "g": ("g", _GRAM, "克"),
    "kg": ("[kK]g|KG", f"kilo(?:{_GRAM}|s)?|千克", "公斤"),
    "km/h": (
        "[kK]m/h|KM/H|kmh|kph",
        rf"kilo{_METRE}(?:n)?\s(?:per|an|pro|à\sl['’]|par|in\sder)\s?(?:hour|stunde|heure)|stundenkilo{_METRE}n?|(?:时速|每小时).*公里",
        "公里/小时",
    ),
    "°C": ("°\\s?C|º\\s?C|℃", r"degrees?|grad|degrés?|[°º]|度(?![假过過量数數])", "摄氏度"),
    "°F": ("°\\s?F|º\\s?F", r"degrees?|grad|degrés?|[°º]|度(?![假过過量数數])", "华氏度"),
    "KB": ("[kK]B", r"Ko(?![^\W\d_])|kilobytes?|千字节", "KB"),
    "MB": ("M[Bb]", r"Mo(?![^\W\d_])|megabytes?|兆", "MB"),
    "GB": ("G[Bb]", r"Go(?![^\W\d_])|gigabytes?|吉字节", "GB"),
    "TB": ("T[Bb]", r"To(?![^\W\d_])|terabytes?|太字节", "TB"),
    "Hz": ("Hz", "hertz|赫兹", "赫兹"),
    "MHz": ("MHz", "megahertz|兆赫", "兆赫"),
    "GHz": ("GHz", "gigahertz|吉赫", "吉赫"),
    "kW": ("kW", "kilowatts?", "千瓦"),
    "kWh": ("kWh", "kilowatt\\s?(?:hours?|stunden?|heures?)|千瓦时", "度电"),
    "mAh": ("mAh", "milliamp\\w*", "毫安时"),
    "EUR": ("EUR", "€|euros?", "欧元"),
    "USD": ("USD", "[$]|dollars?|美金", "美元"),
    "CHF": ("CHF|Fr\\.", "francs?|franken|法郎", "瑞士法郎"),
    "GBP": ("GBP", "£|pounds?|pfund|livres?", "英镑"),
    "CNY": ("CNY|RMB", "[¥元]|yuans?|renminbi", "元人民币"),
    "JPY": ("JPY", "¥|yens?|日圆", "日元"),
}
#: Codes of currencies may also stand before the number.
_CODES = ("EUR", "USD", "CHF", "GBP", "CNY", "JPY")
#: A pattern of them.
CURRENCY_CODES = "|".join(_CODES)
_END = r"(?!['’]?[^\W\d_]|[²³/])"


def _symbol_pattern(names: Iterable[str]) -> str:
    """Return a pattern of symbols with a group for each, named by its place in the table."""
    numbers = {symbol: f"u{number}" for number, symbol in enumerate(_SYMBOLS)}
    written = {symbol: rf"(?:{_SYMBOLS[symbol][0]}){_END}|{re.escape(_SYMBOLS[symbol][2])}" for symbol in names}
    longest = sorted(names, key=lambda symbol: (-len(symbol), symbol))
    return "|".join(f"(?P<{numbers[symbol]}>{written[symbol]})" for symbol in longest)


NAMES = tuple(_SYMBOLS)
_AFTER = re.compile(rf"[ \u00a0\u202f]?(?:{_symbol_pattern(NAMES)})")
_BEFORE = re.compile(rf"(?<!\w)(?:{CURRENCY_CODES})[ \u00a0\u202f]?\Z")
_LONGEST_BEFORE = 5
_IN_SOURCE = re.compile(rf"(?<=\d){_AFTER.pattern}")
_CODES_BEFORE = re.compile(rf"(?<!\w)({CURRENCY_CODES})(?=[ \u00a0\u202f]?\d)")
#: What a translation may have of each unit.
MENTIONS = {
    symbol: re.compile(rf"(?<![^\W\d_])(?:{forms}){_END}|{words}|{chinese}", re.IGNORECASE)
    for symbol, (forms, words, chinese) in _SYMBOLS.items()
}


class Unit(NamedTuple):
    """A unit in a text, with its number."""

    start: int
    end: int
    symbol: str


def _symbol(match: re.Match[str]) -> str:
    return NAMES[int((match.lastgroup or "u0")[1:])]


def unit_beside(text: str, start: int, end: int) -> Unit | None:
    """Return the unit beside a number, given its place in a text.

    >>> unit_beside("It is 120 cm long.", 6, 9), unit_beside("EUR 50", 4, 6), unit_beside("20 men", 0, 2)
    (Unit(start=6, end=12, symbol='cm'), Unit(start=0, end=6, symbol='EUR'), None)
    """
    if match := _AFTER.match(text, end):
        return Unit(start, match.end(), _symbol(match))
    first = max(0, start - _LONGEST_BEFORE)
    if match := _BEFORE.search(text[first:start]):
        return Unit(first + match.start(), end, match[0].strip())
    return None


def written_with_unit(number: str, symbol: str, language: str) -> str:
    """Return a number with a unit, as a language writes it.

    >>> [written_with_unit("50", "EUR", language) for language in ("en", "de", "zh")]
    ['EUR 50', '50 EUR', '50欧元']
    """
    if language == "zh":
        return number + _SYMBOLS[symbol][2]
    return f"{symbol} {number}" if symbol in _CODES and language == "en" else f"{number} {symbol}"


def without_units(text: str) -> str:
    """Return a text without the units beside its numbers.

    >>> without_units("20 EUR, 5 km, EUR 3")
    '20, 5,  3'
    """
    return _CODES_BEFORE.sub("", _IN_SOURCE.sub("", text))


def lost_units(source: str, translation: str, target_lang: str) -> list[int]:
    """Return the places of the units of a source that its translation has less often.

    Args:
        target_lang: its code; in a language whose words for units are not known, none is lost.

    >>> [lost_units("It is 120 cm long.", f"Es ist 120 {unit} lang.", "de") for unit in ("cm", "Zentimeter", "Uhr")]
    [[], [], [9]]
    """
    if not has_number_words(target_lang):
        return []
    places: dict[str, list[int]] = defaultdict(list)
    for match in _IN_SOURCE.finditer(source):
        places[_symbol(match)].append(match.start())
    for match in _CODES_BEFORE.finditer(source):
        places[match[1]].append(match.start())
    return sorted(
        place
        for symbol, own in places.items()
        if len(MENTIONS[symbol].findall(translation)) < len(own)
        for place in own
    )
