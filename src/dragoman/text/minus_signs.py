"""A check that a translation has the minus signs of its source: "-5 °C" may be "minus 5 Grad" or 零下5度."""

from __future__ import annotations

import re

from dragoman.text.languages import UNSPACED, base_language

#: A minus before a number: no hyphen, no range such as "3-5", no part of a formula.
_MINUS = re.compile(rf"(?<![^\W{UNSPACED}])(?<![.,)\]}}⟩%°/月日号號年点點时時至-])(?<!\d\s)[-−–](?=[$€£¥]?\d)")
#: Words that stand for it.
MINUS_WORDS = {
    "en": re.compile(r"minus|below|negative|sub-?zero", re.IGNORECASE),
    "de": re.compile("minus|unter|negativ", re.IGNORECASE),
    "fr": re.compile("moins|sous|dessous|négati", re.IGNORECASE),
    "zh": re.compile("零下|负|負|减|減"),
}


def lost_minus_signs(source: str, translation: str, target_lang: str) -> list[int]:
    """Return the places of the minus signs of a source if its translation has fewer, and no word for them.

    >>> [lost_minus_signs("It is -5 °C.", text, "de") for text in ("Es sind 5 °C.", "Es sind minus 5 Grad.")]
    [[6], []]
    """
    words = MINUS_WORDS.get(base_language(target_lang))
    places = [match.start() for match in _MINUS.finditer(source)]
    if not places or words is None or len(places) <= len(_MINUS.findall(translation)) or words.search(translation):
        return []
    return places


def start_with_minus(text: str, start: int) -> int:
    """Return the start of a number with its minus sign, given that of the number.

    >>> start_with_minus("It is -5 °C.", 7), start_with_minus("3-5", 2)
    (6, 2)
    """
    return start - 1 if start and _MINUS.match(text, start - 1) else start
