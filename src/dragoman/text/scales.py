"""Scales after numbers: 3万, "30 thousand", "2,5 Millionen", "1,5 milliard"; and amounts written with them."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import product
from math import prod

from dragoman.text.languages import base_language
from dragoman.text.written_numbers import Number, written

#: The key of the words of all languages.
UNKNOWN = "und"
#: Words by language, as patterns. English "billion" is German "Milliarde", and German "Billion" English "trillion".
_WORDS = {
    "en": {
        r"hundreds?\b": 100,
        r"thousands?\b": 1000,
        r"(?:millions?|mn)\b": 10**6,
        r"(?:billions?|bn)\b": 10**9,
        r"(?:trillions?|tn)\b": 10**12,
    },
    "de": {
        r"hundert\b": 100,
        r"(?:tausend|tsd)\b": 1000,
        r"(?:million(?:en)?|mio\b)": 10**6,
        r"(?:milliarden?|mrd\b)": 10**9,
        r"billion(?:en)?": 10**12,
    },
    "fr": {
        r"(?:milliers?|mille)\b": 1000,
        r"millions?\b": 10**6,
        r"(?:milliards?|mds?)\b": 10**9,
        r"billions?\b": 10**12,
    },
}
_WORDS["zh"] = _WORDS["en"]
#: Words that may also mean something else: "4K", "5 m", "50 cents".
_UNCLEAR = {
    "en": {r"k\b": 1000, r"m\b": 10**6, r"b\b": 10**9},
    "de": {r"k\b": 1000},
    "fr": {r"k\b": 1000, r"m\b": 10**6, r"cents?\b": 100},
    "zh": {r"k(?![a-z])": 1000},
}
_SIGNS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
#: Words between a number and its scale: 200多万 is more than two million.
_SOME = "[多余餘来來几幾]"
#: Signs in a row: 3千万. 千 also begins units: 2千米, 5千克.
_CHINESE = rf"{_SOME}?(?:[十百万萬亿億]|千(?![米克瓦卡赫伏帕])){{1,3}}(?:{_SOME}?[万萬亿億])?"
_GAP = r"\+?[ \u00a0\u202f-]?"
#: What may be between the two numbers of a range, whose scale is that of the second: "5 to 6 million", 5到6万.
RANGE = re.compile(r"\s?(?:[-–—~～至到]|to|and|or|bis|und|oder|à|et|ou)\s?")
#: Scales that amounts are written with: the least amount, the singular and the plural.
_WRITTEN = {
    "en": ((10**12, "trillion", "trillion"), (10**9, "billion", "billion"), (10**6, "million", "million")),
    "de": ((10**12, "Billion", "Billionen"), (10**9, "Milliarde", "Milliarden"), (10**6, "Million", "Millionen")),
    "fr": ((10**12, "billion", "billions"), (10**9, "milliard", "milliards"), (10**6, "million", "millions")),
    "zh": ((10**8, "亿", "亿"), (10**4, "万", "万")),
}
#: Most digits after the point of an amount that is written with a scale.
_MOST_FRACTION = 3
HALF = re.compile(r"(?:\bhalf a|\ba half|\bhalbe|\bdemi)[\s-](thousand|million|billion|milliarde?)", re.IGNORECASE)
HALVES = {"thousand": 500, "million": 5 * 10**5, "billion": 5 * 10**8, "milliard": 5 * 10**8, "milliarde": 5 * 10**8}


def _meanings(language: str) -> tuple[tuple[re.Pattern[str], tuple[int, ...]], ...]:
    """Return the pattern of each word of a language and the factors that it may mean: 1 if it may be no scale."""
    signs = [(sign, (factor,)) for sign, factor in _SIGNS.items()]
    clear = _WORDS.get(language) or {}
    unclear = [entry for each in _WORDS for entry in (*_WORDS[each].items(), *_UNCLEAR[each].items())]
    unclear = list(_UNCLEAR[language].items()) if clear else unclear
    words = [*((word, (factor,)) for word, factor in clear.items()), *((word, (1, factor)) for word, factor in unclear)]
    return tuple((re.compile(word, re.IGNORECASE), factors) for word, factors in (*signs, *words))


#: The meanings by base language; `UNKNOWN` has the words of all, which may all be no scales.
MEANINGS = {language: _meanings(language) for language in (*_WORDS, UNKNOWN)}


def scale_key(language: str) -> str:
    """Return the key of a language in tables of scales."""
    return base_language(language) if base_language(language) in _WORDS else UNKNOWN


def _pattern(language: str, *, is_clear: bool = False) -> str:
    meanings = MEANINGS[language][len(_SIGNS) :]
    words = "|".join(pattern.pattern for pattern, factors in meanings if not (is_clear and 1 in factors))
    return rf"(?:(?:{_GAP}(?:{words})){{1,2}}|\s?{_CHINESE})" if words else rf"\s?{_CHINESE}"


#: The patterns of a scale after a number, and of a digit with one that is no other word, by base language.
SCALES = {language: re.compile(_pattern(language), re.IGNORECASE) for language in MEANINGS}
AFTER_DIGIT = {language: re.compile(rf"\d{_pattern(language, is_clear=True)}", re.IGNORECASE) for language in MEANINGS}


def has_scale(text: str, language: str) -> bool:
    """Return True if a number of a text has a scale that is no other word.

    >>> [has_scale(text, "en") for text in ("3 million", "two million", "3 m")]
    [True, False, False]
    """
    return AFTER_DIGIT[scale_key(language)].search(text) is not None


def is_chinese_scale(scale: str) -> bool:
    """Return True for a scale of Chinese signs."""
    return scale[-1:] in _SIGNS


def factors_of(scale: str, language: str) -> set[int]:
    """Return the factors that a scale may mean.

    >>> factors_of(" Millionen", "de"), factors_of("k", "en") == {1, 1000}
    ({1000000}, True)
    """
    place, choices = 0, []
    while place < len(scale):
        matches = ((pattern.match(scale, place), factors) for pattern, factors in MEANINGS[scale_key(language)])
        found = [(match.end(), factors) for match, factors in matches if match is not None]
        if found:
            choices.append({factor for _, factors in found for factor in factors})
        place = max((end for end, _ in found), default=place + 1)
    return {prod(factors) for factors in product(*choices)}


def halves_in_words(text: str) -> set[int]:
    """Return the numbers of phrases such as "half a million" and "eine halbe Milliarde"."""
    return {HALVES[word.lower()] for word in HALF.findall(text)}


def written_scaled(value: Decimal, language: str) -> list[str]:
    """Return the usual ways to write a large number in a language.

    >>> written_scaled(Decimal(1_500_000), "de"), written_scaled(Decimal(1_500_000), "zh")
    (['1,5 Millionen', '1.500.000'], ['150万', '1500000'])
    >>> written_scaled(Decimal(30_000), "en")
    ['30,000']
    """
    forms = []
    size, one, many = next((scale for scale in _WRITTEN[language] if value >= scale[0]), (0, "", ""))
    if size:
        whole, _, fraction = f"{(value / size).normalize():f}".partition(".")
        if len(fraction) <= _MOST_FRACTION:
            number = Number("decimal", (whole, fraction)) if fraction else Number("whole", (whole,))
            is_one = value == size or (language == "fr" and value < 2 * size)
            amount = written(number, language, "" if language != "zh" else whole)
            forms.append(f"{amount}{'' if language == 'zh' else ' '}{one if is_one else many}")
    digits = f"{value.normalize():f}"
    if digits.isdecimal():
        forms.append(digits if language == "zh" else written(Number("whole", (digits,)), language, ""))
    return forms
