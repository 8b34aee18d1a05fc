"""Numbers as each language writes them."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Languages whose decimals begin with a point; the others have a comma.
_POINT = frozenset(("en", "zh", "ja", "ko", "th", "he", "hi", "ga", "ms", "tl", "sw"))
#: Languages that write thousands with a space.
_SPACE = frozenset(("fr", "ru", "uk", "pl", "cs", "sk", "sv", "nb", "nn", "no", "fi", "hu", "bg", "et", "lv", "lt"))
_GROUP_SIGNS = ".,'’ \u00a0\u2009\u202f"
_TIME = re.compile(r"([01]?\d|2[0-4])([:：.])([0-5]\d)")
_PLAIN = re.compile(r"\d+")
_GROUPED = re.compile(rf"\d{{1,3}}(?:[{_GROUP_SIGNS}]\d{{3}})+(?=[.,]\d|\Z)")


class Number(NamedTuple):
    """The value of a number, the same however a language writes it."""

    kind: str  # time, whole or decimal; or the signs of a date, a version or the like
    digits: tuple[str, ...]


def parse(text: str, language: str, after: str) -> Number:
    """Return the value of a number as a language writes it.

    Args:
        after: the text that follows, in which "Uhr" makes "17.30" a time.

    >>> parse("1.250,50", "de", " Euro") == parse("1,250.50", "en", "")
    True
    """
    time = _TIME.fullmatch(text)
    if time and (time[2] != "." or re.match(r"\s?Uhr", after)):
        return Number("time", (time[1], time[3]))
    if _PLAIN.fullmatch(text):
        return Number("whole", (text,))
    point = "." if language in _POINT else ","
    whole, sign, fraction = text.rpartition(point)
    if not sign or not fraction.isdecimal() or text.count(point) > 1:
        whole, fraction = text, ""
    if _PLAIN.fullmatch(whole) or (_GROUPED.fullmatch(whole) and point not in whole):
        digits = re.sub(r"\D", "", whole)
        return Number("decimal", (digits, fraction)) if fraction else Number("whole", (digits,))
    return Number(re.sub(r"\d", "", text), tuple(re.findall(r"\d+", text)))


def written(number: Number, language: str, like: str) -> str:
    """Return a number as a language writes it.

    Args:
        like: a number as an example: its separators are used if it has any.
    """
    if number.kind == "time":
        sign = next((character for character in like if not character.isdecimal()), ":")
        return sign.join(number.digits)
    if number.kind not in ("whole", "decimal"):
        parts = iter(number.digits)
        return re.sub(r"\d+", lambda match: next(parts), like)
    whole = number.digits[0]
    if (len(whole) > 4 and (len(like) < 4 or not like.isdecimal())) or (len(whole) == 4 and _GROUPED.match(like)):
        whole = f"{int(whole):,}".replace(",", _group_sign(language, like))
    fraction = number.digits[1:]
    return whole + ("." if language in _POINT else ",") + fraction[0] if fraction else whole


def _group_sign(language: str, like: str) -> str:
    own = re.search(rf"(?<=\d)[{_GROUP_SIGNS}](?=\d{{3}}(?!\d))", like)
    if own and own[0] != ("." if language in _POINT else ","):
        return own[0]
    return "," if language in _POINT else " " if language in _SPACE else "."
