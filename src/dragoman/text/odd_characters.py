"""Characters that a model can copy but not translate: symbols such as © and →, and letters that it has never seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

from dragoman.text.languages import UNSPACED, foreign_scripts
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.protection import Stretch

#: Symbols beyond ASCII that a language may write in words: "20 °C" is "20 Grad".
_TRANSLATED = frozenset("°№℃℉")
#: A word of a script with spaces, or a character beyond ASCII that is in no such word.
_PART = lazy_pattern(rf"(?P<word>[^\W{UNSPACED}]+)|[{UNSPACED}]|[^\x00-\x7f\w\s]")
_UNSPACED = lazy_pattern(f"[{UNSPACED}]")
#: Small letters and digits, above the line or below.
_SMALL = lazy_pattern("[²³¹ᵃ-ᵿᶛ-ᶿ\u2070-\u209f]")
#: A unit with an exponent, after a number or in one word with it.
_UNIT = lazy_pattern(r"\d*[^\W\d_]{1,3}[²³]")
_NUMBER_BEFORE = lazy_pattern(r"\d\s?\Z")
_AMOUNT_BEFORE, _AMOUNT_AFTER = lazy_pattern(r"\d[\d.,]{0,20} ?\Z"), lazy_pattern(r" ?\d(?:[\d.,]{0,20}\d)?")
_NEAR = 22


class KnownCharacters:
    """Tells if a tokenizer has a piece for a character, and does not spell it in bytes.

    Args:
        encode: returns the ids of a text; a space before it may have a piece of its own.
        unknown: the id of an unknown piece.
    """

    def __init__(self, encode: Callable[[str], Sequence[int]], unknown: int) -> None:
        self._encode, self._unknown = encode, unknown
        self._known: dict[str, bool] = {}

    def __call__(self, character: str) -> bool:
        """Return True if a character has a piece."""
        if (is_known := self._known.get(character)) is None:
            ids = self._encode(character)
            is_known = self._known[character] = len(ids) <= 2 and self._unknown not in ids
        return is_known

    def in_language(self, language: str) -> Callable[[str], bool]:
        """Return a function that tells if a model can translate a character from a language.

        It cannot if the language is not written in the script, although another language of the model may have a piece
        for the letter. Scripts without spaces have rare characters that are spelled in bytes; these are left to it.

        Args:
            language: its code; of one that is not known in `languages.py`, all scripts without spaces are left to it.
        """
        foreign = _foreign(language)
        return lambda one: not foreign.match(one) and (_UNSPACED.match(one) is not None or self(one))


@cache
def _foreign(language: str) -> re.Pattern[str]:
    foreign = foreign_scripts(language)
    return re.compile(f"[{foreign}]" if foreign else r"(?!)")


def foreign_letters(source: str, translation: str, language: str) -> set[str]:
    """Return the letters of a translation that its language does not use, and that the source does not have.

    >>> foreign_letters("Open a terminal.", "Öffne ein终端.", "de") == {"终", "端"}
    True
    """
    return set() if translation.isascii() else {*_foreign(language).findall(translation)}.difference(source)


def symbols(text: str) -> set[str]:
    """Return the symbols of a text that every language writes in the same way.

    >>> sorted(symbols("© 2026: 20 °C → 3 × 4, $5"))
    ['©', '×', '→']
    """
    return set() if text.isascii() else {character for character in set(text) if _is_symbol(character)}


def odd_stretches(text: str, is_known: Callable[[str], bool]) -> list[Stretch]:
    """Return the places of symbols, and of words with a character that the model does not know.

    A currency sign that it does not know goes with its amount. Words with small letters or digits are there too, except
    units after a number: "CO₂", but not "5 m²".

    Args:
        is_known: returns True for a character that has a piece of its own.
    """
    if text.isascii():
        return []
    odd = {character for character in set(text) if _is_symbol(character) or _is_unknown(character, is_known)}
    if not odd and not _SMALL.search(text):
        return []
    found: list[Stretch] = []
    for match in _PART.finditer(text):
        start, end = match.span()
        is_next = bool(found) and found[-1][1] == start
        is_mark = is_next and unicodedata.category(match[0][0])[0] == "M"
        goes_on = is_next and match["word"] is not None and _is_sign(text[start - 1])
        if odd.isdisjoint(match[0]) and not is_mark and not goes_on and not _has_exponent(match):
            continue
        if goes_on or (is_next and match["word"] is None):  # a word, or a row of symbols or of letters
            start = found.pop()[0]
        found.append((start, end))
    return [_with_amount(text, *place) for place in found]


def _is_sign(character: str) -> bool:
    """Return True for a mark on a letter, such as a vowel in Hindi, but not for those that follow a picture."""
    return unicodedata.category(character) in ("Mn", "Mc") and not "\ufe00" <= character <= "\ufe0f"


def _has_exponent(match: re.Match[str]) -> bool:
    """Return True if a word has small letters or digits, and is no unit of a number."""
    if match["word"] is None or not _SMALL.search(match[0]):
        return False
    is_unit = _UNIT.fullmatch(match[0]) is not None
    has_number = match[0][0].isdigit() or _NUMBER_BEFORE.search(match.string[max(0, match.start() - 2) : match.start()])
    return not (is_unit and has_number)


def has_foreign_letter(text: str, is_known: Callable[[str], bool]) -> bool:
    """Return True if a text has a letter that the model does not know and that is not Latin, as in most names."""
    letters = [] if text.isascii() else [one for one in set(text) if one.isalpha() and _is_unknown(one, is_known)]
    return any("LATIN" not in unicodedata.name(letter, "") for letter in letters)


def _is_symbol(character: str) -> bool:
    is_symbol = character > "\x7f" and unicodedata.category(character) in ("So", "Sm")
    return is_symbol and character not in _TRANSLATED


def _is_unknown(character: str, is_known: Callable[[str], bool]) -> bool:
    """Letters for private use are marks; of the other characters, those without a shape of their own do not count."""
    if character <= "\x7f" or unicodedata.category(character)[0] in "CMZ":
        return False
    return not is_known(character)


def _with_amount(text: str, start: int, end: int) -> Stretch:
    """Return the place of a currency sign with the amount beside it, or any other place as it is."""
    if end - start != 1 or unicodedata.category(text[start]) != "Sc":
        return start, end
    if after := _AMOUNT_AFTER.match(text, end):
        return start, after.end()
    before = _AMOUNT_BEFORE.search(text[max(0, start - _NEAR) : start])
    return (start - len(before[0]) if before else start), end
