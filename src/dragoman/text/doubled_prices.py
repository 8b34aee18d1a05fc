"""Prices whose currency is written twice: "$19,99 $"."""

from __future__ import annotations

import re

_SIGN = "[$€£¥]"
#: A sign, an amount, and the sign again or a name; or a sign twice after a digit. "$5 $7" are two prices.
_DOUBLED = re.compile(
    rf"({_SIGN})\s?\d(?:[\d.,'’\s]{{0,24}}\d)?\s?(?:\1(?!\s?\d)|(?:dollars?|euros?|pounds?|pfund|livres?|yens?)\b|[美欧日]元|英镑)"
    rf"|\d\s?({_SIGN})\s?\2(?!\s?\d)",
    re.IGNORECASE,
)


def has_doubled_price(source: str, translation: str) -> bool:
    """Return True if a translation writes the currency of a price twice, and its source does so less often.

    >>> [has_doubled_price("$5 a day", text) for text in ("$5 $ am Tag", "5 $ am Tag", "$5 Dollar am Tag")]
    [True, False, True]
    """
    return sum(1 for _ in _DOUBLED.finditer(translation)) > sum(1 for _ in _DOUBLED.finditer(source))
