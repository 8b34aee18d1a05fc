"""A check of the separators between the same digits: 42.195 km are "42,195 km" in German, and not "42.195" or "42 195".

Each function compares two texts that have the same digits in the same order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from dragoman.text.languages import base_language
from dragoman.text.unit_symbols import CURRENCY_CODES

_DIGIT = re.compile(r"\d")
#: What is between two digits that follow each other.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)(\D*)(?=\d)")
_POINTS = (".", ",", "٫")
#: A number whose separator may be a point before a fraction or a sign between thousands, by its language.
_AMBIGUOUS = re.compile(r"(?<![\d.,:/'’-])(?<!\d\s)[1-9]\d{0,2}[.,]\d{3}(?![.,:/'’-]?\d|\s\d{3})")
#: Words before the number of a version, whose point is the same in every language: "version 2.125", "v2.125".
_VERSION_BEFORE = re.compile(
    r"(?:\b(?:versions?(?:nummer|\snumber)?|firmware|kernel|v)\.?:?\s*|(?:版本|固件)[号號为為是]?[:：]?\s*)\Z",
    re.IGNORECASE,
)
#: What stands before numbers that are codes or quantities, so that their separators may stay or change: "§ 2.125",
#: "Nr. 1.250", "Python 3.125", "windows 2.125 m wide", "x>=2.125".
_CODE_BEFORE = re.compile(
    r"(?:\b(?:n[ro°]|releases?|builds?|revision|révision|chapter|section|article|figure|table|equation|chapitre|tableau|"
    r"kapitel|abschnitt|artikel|abbildung|tabelle|gleichung|python|java|windows|android|linux|ubuntu|debian|macos|ios|"
    r"php|perl|node|firefox|chrome|cuda)\.?\s*|[§№#第=_@]\s*)\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 20
#: Dates and versions; telephone numbers, the only ones with spaces here.
_ROW = re.compile(
    r"(?<![\d.,])\d+(?:\.\d+){2,}(?![\d,])|(?<!\d)(?<!\d\s)(?:(?<=\+)\d|0)\d*(?:[ /-]\d+)+|(?<!\d)\d+(?:[/-]\d+)+"
)
#: A length of "1 mètre 55" may be 155 centimetres.
_METRE = re.compile(r"\s?(?:m|mètres?|met(?:er|re)s?|米)\s?", re.IGNORECASE)
#: Telephone numbers, dates and codes, also without a 0 or + before them. Two years are none.
_CODE_WITH_GAPS = re.compile(
    r"(?<!\d)(?![12]\d{3}\D[12]\d{3}(?!\d))(?:(?<=\+)\d|0(?=\d)|(?=(?:\d[ ()/.-]{0,3}){7}))\d*(?:[ ()/.-]{1,3}\d+)+"
)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
#: A number with a fraction or groups of digits, in any language; not 10.1亿, whose digits may differ.
_WITH_SIGNS = re.compile(
    r"(?<![A-Za-z\d.,:/'’_-])(?:\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)*|\d+(?:[.,]\d+)+)"
    r"(?![.,:/]?\d|\s?[多余餘几幾十百千万萬亿億])"
)
#: Such a number as a language writes it, by its point, and the fraction.
_OWN_SIGNS = {
    ".": re.compile(r"(?:\d{1,3}(?P<gap>[, \u00a0\u2009\u202f'’])\d{3}(?:(?P=gap)\d{3})*|\d+)(?:\.(?P<fraction>\d+))?"),
    ",": re.compile(r"(?:\d{1,3}(?P<gap>[. \u00a0\u2009\u202f'’])\d{3}(?:(?P=gap)\d{3})*|\d+)(?:,(?P<fraction>\d+))?"),
}
#: A name before a number that may be a version, and what shows that it is none: "London 2.5 million", "Gewicht 2.5 kg".
_NAME_BEFORE = re.compile(
    rf"(?<![A-Za-z])(?!(?:{CURRENCY_CODES})\s)[A-Z][A-Za-z+#-]*\s?(?:\d+\.\d+(?:,?\s\w{{1,5}}\s|\s?[-–]\s?))?\Z"
)
_UNIT_AFTER = re.compile(
    r"\s?(?:[%°$€£¥]|(?:kilo|meter|metre|mile|liter|litre|million|milliard|billion|percent|degree|hour|dollar|euro|pound)"
    r"|(?:k?g|[kcm]?m|l)\b)",
    re.IGNORECASE,
)
_LIKE_TIME = re.compile(r"\d\d?[.,]\d\d")
#: The point before a fraction, by language.
_POINT_OF = {"en": ".", "zh": ".", "de": ",", "fr": ","}
#: Anything between thousands in some language.
_GROUP_SIGNS = ("", ".", ",", "'", "’", " ", "\u00a0", "\u2009", "\u202f")


def ascii_digits(text: str) -> str:
    """Return the digits of a text, of any script, as those of ASCII."""
    return "".join(str(unicodedata.decimal(digit)) for digit in _DIGIT.findall(text))


def loses_point(source: str, translation: str) -> bool:
    """Return True if the point of a fraction became a space or nothing, or the reverse."""
    gaps, others = _BETWEEN_DIGITS.findall(source), _BETWEEN_DIGITS.findall(translation)
    return any(
        (gap in _POINTS and not other.strip() and _is_fraction(gaps, number))
        or (other in _POINTS and not gap.strip() and _is_fraction(others, number))
        for number, (gap, other) in enumerate(zip(gaps, others, strict=True))
    )


def joins_numbers(source: str, translation: str) -> bool:
    """Return True if a translation has two numbers of its source as one, or the reverse: "20 for 2" as 202.

    Thousands, telephone numbers and dates in digits may be written with and without signs between their parts.

    >>> [joins_numbers(text, "234 Eier") for text in ("2 3 4 eggs", "23 or 4 eggs")], joins_numbers("1 250", "1250")
    ([True, True], False)
    """
    gaps, others = _BETWEEN_DIGITS.findall(source), _BETWEEN_DIGITS.findall(translation)
    joined = [number for number, (gap, other) in enumerate(zip(gaps, others, strict=True)) if not gap and other]
    split = [number for number, (gap, other) in enumerate(zip(gaps, others, strict=True)) if gap and not other]
    return _has_numbers(source, gaps, split) or _has_numbers(translation, others, joined)


def _has_numbers(text: str, gaps: Sequence[str], places: Sequence[int]) -> bool:
    """Return True if a gap at one of the places separates two numbers of a text, and not the parts of one."""
    if not places:
        return False
    digits = [match.start() for match in _DIGIT.finditer(text)]
    codes = {place for match in _CODE_WITH_GAPS.finditer(text) for place in range(*match.span())}
    return any(
        digits[number] not in codes
        and gaps[number] not in _POINTS
        and not _METRE.fullmatch(gaps[number])
        and not (gaps[number] in _GROUP_SIGNS and _is_group(gaps, number))
        for number in places
    )


def _is_group(gaps: Sequence[str], number: int) -> bool:
    """Return True if exactly three digits follow a gap."""
    return gaps[number + 1 : number + 3] == ["", ""] and gaps[number + 3 : number + 4] != [""]


def _is_fraction(gaps: Sequence[str], number: int) -> bool:
    """Return True if one or two digits follow a gap, not three, which a point may group."""
    return "" not in gaps[number + 1 : number + 2] or "" not in gaps[number + 2 : number + 3]


def changed_separators(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of numbers, dates and the like whose separators mean something else in a translation.

    >>> [changed_separators("42.195 km", f"{km} km", "en", "de") for km in ("42,195", "42.195", "42 195")]
    [[], [0], [0]]
    >>> changed_separators("Seit 3.4.1990.", "Since 3,4,1990.", "de", "en")
    [5]
    """
    digits = [match.start() for match in _DIGIT.finditer(source)]
    gaps = dict(zip(digits, _BETWEEN_DIGITS.findall(translation), strict=False))
    rows = (match for match in _ROW.finditer(source) if not _GROUPED.fullmatch(match[0]))
    lost = [row.start() for row in rows if _is_row_changed(source, row.span(), gaps)]
    codes = base_language(source_lang), base_language(target_lang)
    if all(code in _POINT_OF for code in codes):
        for match in _AMBIGUOUS.finditer(source):
            if _is_ambiguous_changed(source, match, gaps.get(match.end() - 5, "?"), codes):
                lost.append(match.start())
    return lost


def may_be_name(text: str, start: int, end: int) -> bool:
    """Return True if a number with a point may be a version or a code, which is the same in every language.

    >>> [may_be_name(text, len(text) - 3, len(text)) for text in ("with Blender 4.2", "Section 4.2", "about 4.2")]
    [True, True, False]
    """
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    patterns = (_VERSION_BEFORE, _CODE_BEFORE, _NAME_BEFORE)
    return _UNIT_AFTER.match(text, end) is None and any(pattern.search(before) for pattern in patterns)


def foreign_separators(
    source: str, translation: str, source_lang: str, target_lang: str, *, is_time: bool
) -> list[int]:
    """Return the places of numbers that a translation has with the same digits, but not as its language writes them.

    >>> [foreign_separators("2.5 kilos", text, "en", "de", is_time=False) for text in ("2,5 Kilo", "2.5 Kilo")]
    [[], [0]]
    """
    codes = base_language(source_lang), base_language(target_lang)
    if not all(code in _POINT_OF for code in codes):
        return []
    own, other = (_OWN_SIGNS[_POINT_OF[code]] for code in codes)
    found: dict[str, set[str]] = {}
    for match in _WITH_SIGNS.finditer(translation):
        found.setdefault(ascii_digits(match[0]), set()).add(match[0])
    return [
        match.start()
        for match in _WITH_SIGNS.finditer(source)
        if (number := own.fullmatch(match[0])) and (others := found.get(ascii_digits(match[0])))
        if not (is_time and _LIKE_TIME.fullmatch(match[0]))
        if not ("." in match[0] and may_be_name(source, *match.span()))
        if not any(_fraction(each, other) == (number["fraction"] or "") for each in others)
    ]


def _fraction(number: str, form: re.Pattern[str]) -> str | None:
    """Return the digits after the point of a number; None if it does not have that form."""
    match = form.fullmatch(number)
    return None if match is None else match["fraction"] or ""


def _is_ambiguous_changed(text: str, number: re.Match[str], sign: str, codes: tuple[str, str]) -> bool:
    """Return True if a sign means something else than the separator of an ambiguous number in the other language."""
    own, point = (_POINT_OF[code] for code in codes)
    before = text[max(0, number.start() - _LONGEST_BEFORE) : number.start()]
    if "." in number[0] and _VERSION_BEFORE.search(before):
        return sign in _GROUP_SIGNS and sign != "."
    if sign and sign in number[0] and _CODE_BEFORE.search(before):
        return False
    return (sign in _GROUP_SIGNS and sign != point) if own in number[0] else sign == point


def _is_row_changed(text: str, row: tuple[int, int], gaps: Mapping[int, str]) -> bool:
    """Return True if a comma, or in a telephone number a point, stands for a separator of a row.

    Args:
        gaps: what the translation has after each digit of the text.
    """
    places = (place for place in range(row[0], row[1] - 1) if not text[place + 1].isdecimal() and place in gaps)
    return any(gaps[place] == "," or (gaps[place] == "." and text[place + 1] == " ") for place in places)
