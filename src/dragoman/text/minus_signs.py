"""A check that a translation has the minus signs of its source: "-5 °C" may be "minus 5 Grad" or 零下5度."""

from __future__ import annotations

import re

from dragoman.text.languages import UNSPACED, base_language
from dragoman.text.spelled_numbers import spelled

#: A minus before a number: no hyphen, no range such as "3-5", no part of a formula.
_MINUS = re.compile(rf"(?<![^\W{UNSPACED}])(?<![.,)\]}}⟩%°/月日号號年点點时時至-])(?<!\d\s)[-−–](?=[$€£¥]?\d)")
#: Numbers of degrees in words.
_WORDS = "|".join(
    dict.fromkeys(spelled(number, language) for language in ("en", "de", "fr") for number in range(99, 0, -1))
)
_DEGREES = r"(?:[°℃]|(?:degrees?|grad|degrés?)\b)"
#: A minus in words, only with degrees, because the words mean much more: "five minus two", "au moins cinq".
_WORDED = re.compile(
    rf"\b(?:minus|moins)\s(?:\d[\d.,]*|{_WORDS})\s?{_DEGREES}"
    rf"|{_DEGREES}(?:\s?[CF]\b|\scelsius)?\s(?:below\s(?:zero|freezing)|unter\snull|(?:au-dessous\sde|sous)\széro)\b"
    r"|零下\s?[\d一二三四五六七八九十]|[负負]\s?(?:\d[\d.]*|[一二三四五六七八九十]{1,3})\s?(?:度|摄氏|攝氏|°|℃)",
    re.IGNORECASE,
)
#: Words of a translation that stand for it.
MINUS_WORDS = {
    "en": re.compile(r"minus|below|negative|sub-?zero|of frost", re.IGNORECASE),
    "de": re.compile("minus|unter|negativ|grad (?:frost|kälte)", re.IGNORECASE),
    "fr": re.compile("moins|sous|dessous|négati", re.IGNORECASE),
    "zh": re.compile("零下|负|負|减|減"),
}


def lost_minus_signs(source: str, translation: str, target_lang: str) -> list[int]:
    """Return the places of the minus signs of a source if its translation has fewer, and no word for them.

    A source may also have a minus in words: "minus five degrees", 零下5度.

    >>> [lost_minus_signs("It is -5 °C.", text, "de") for text in ("Es sind 5 °C.", "Es sind minus 5 Grad.")]
    [[6], []]
    >>> lost_minus_signs("今晚零下12度。", "It will be 12 degrees.", "en")
    [2]
    """
    words = MINUS_WORDS.get(base_language(target_lang))
    places = [match.start() for pattern in (_MINUS, _WORDED) for match in pattern.finditer(source)]
    if not places or words is None or len(places) <= len(_MINUS.findall(translation)) or words.search(translation):
        return []
    return places


def start_with_minus(text: str, start: int) -> int:
    """Return the start of a number with its minus sign, given that of the number.

    >>> start_with_minus("It is -5 °C.", 7), start_with_minus("3-5", 2)
    (6, 2)
    """
    return start - 1 if start and _MINUS.match(text, start - 1) else start
