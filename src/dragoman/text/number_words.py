"""Numbers in words, in English, German, French and Chinese: "thirty-five", "fünfunddreißig", "trente-cinq", 三十五.

A reading is generous: it serves to find out that a number may be there, not to say which one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dragoman.text.calendar_names import MONTHS
from dragoman.text.languages import base_language

#: Words and their numbers. The first word of a number is its cardinal, if that is one word: "two", not "twice". "~" is
#: a number that the one before it is multiplied by. Parts of an hour count as the numbers that stand for them in times,
#: and months (calendar_names.py) as those that stand for them in dates.
_WORDS = {
    "en": """
        zero 0 one 1 a 1 an 1 once 1 first 1 two 2 twice 2 double 2 second 2 both 2 pair 2 couple 2 three 3 thrice 3
        third 3 four 4 five 5 fif 5 six 6 seven 7 eight 8 eigh 8 nine 9 nin 9 ten 10 eleven 11 twelve 12 twelf 12
        dozen ~12 thirteen 13 fourteen 14 fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20
        twentie 20 thirty 30 thirtie 30 forty 40 fortie 40 fifty 50 fiftie 50 sixty 60 sixtie 60 seventy 70
        seventie 70 eighty 80 eightie 80 ninety 90 ninetie 90 hundred ~100 thousand ~1000 million ~1000000
        billion ~1000000000 trillion ~1000000000000 half 30 quarter 15 noon 12 midnight 12 fortnight 14""",
    "de": """
        null 0 ein 1 eins 1 erst 1 zwei 2 zwo 2 beid 2 doppel 2 drei 3 dritt 3 vier 4 fünf 5 sechs 6 sech 6 sieben 7
        sieb 7 acht 8 neun 9 zehn 10 elf 11 zwölf 12 dutzend ~12 zwanzig 20 dreißig 30 dreissig 30 vierzig 40 fünfzig 50
        sechzig 60 siebzig 70 achtzig 80 neunzig 90 hundert ~100 tausend ~1000 million ~1000000
        millionen ~1000000 milliarde ~1000000000 milliarden ~1000000000 billion ~1000000000000
        billionen ~1000000000000 halb 30 viertel 15 dreiviertel 45 mittag 12 mitternacht 12 jänner 1""",
    "fr": """
        zéro 0 un 1 une 1 premier 1 première 1 deux 2 second 2 seconde 2 double 2 couple 2 trois 3 quatre 4 quatr 4
        cinq 5 cinqu 5 six 6 sept 7 huit 8 neuf 9 neuv 9 dix 10 diz 10 onze 11 onz 11 douze 12 douz 12 treize 13
        treiz 13 quatorze 14 quatorz 14 quinze 15 quinz 15 seize 16 seiz 16 vingt 20 trente 30 trent 30 quarante 40
        quarant 40 cinquante 50 cinquant 50 soixante 60 soixant 60 septante 70 huitante 80 octante 80 nonante 90
        cent ~100 mille ~1000 millier ~1000 million ~1000000 milliard ~1000000000 billion ~1000000000000 demi 30
        demie 30 quart 15 midi 12 minuit 12""",
    "zh": """
        零 0 〇 0 一 1 两 2 二 2 兩 2 双 2 三 3 四 4 五 5 六 6 七 7 八 8 九 9 十 ~10 廿 20 百 ~100 千 ~1000 万 ~10000
        萬 ~10000 亿 ~100000000 億 ~100000000 半 30 刻 15""",
}
_ENDS = {"en": "(?:th|s|ths|fold)?", "fr": "(?:s|e|i?ème|i?èmes|aine|aines)?"}
#: Words between the words of one number.
_BETWEEN = {"en": r"(?:[\s-]|and\b)*", "de": r"(?:[\s-]|und)*", "fr": r"(?:[\s-]|et\b)*", "zh": "[多余餘]?"}
#: Words for parts of an hour that are counted from the next one: "halb drei" is 2:30, "quarter to three" 2:45.
_PARTS_OF_HOUR = re.compile(r"\bhalb|viertel|\bquarter\b|\bquart\b|刻")
#: Most words of one number; fewer in a long row of them, so that the time stays short.
_MANY_WORDS, _LONG_ROW = 12, 240
_ROMAN = re.compile(r"\b(?:([IVXLC]{2,9})|([IVX]))(?:e|er|re|ème)?\b")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}

#: A number and True if the one before it is multiplied by it.
Word = tuple[int, bool]


class NumberWord(NamedTuple):
    """A word of a number in a text."""

    start: int
    end: int
    number: int
    #: True if the number before it is multiplied by it.
    multiplies: bool


def _lexicon(language: str) -> dict[str, Word]:
    entries = iter(_WORDS[language].split())
    words = {
        word: (int(value.lstrip("~")), value.startswith("~")) for word, value in zip(entries, entries, strict=True)
    }
    months = () if language == "zh" else MONTHS[language]
    return words | {name.lower(): (number, False) for number, name in enumerate(months, start=1)}


def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of one word of a number: a whole word, or anywhere at the beginning of one in German."""
    stems = "|".join(sorted(_lexicon(language), key=len, reverse=True))
    if language in _ENDS:
        return re.compile(rf"\b({stems}){_ENDS[language]}\b")
    return re.compile(f"({stems})")


_LEXICONS = {language: _lexicon(language) for language in _WORDS}
_PATTERNS = {language: _pattern(language) for language in _WORDS}
_GAPS = {language: re.compile(pattern) for language, pattern in _BETWEEN.items()}


def has_number_words(language: str) -> bool:
    """Return True for a language whose numbers in words are known here."""
    return base_language(language) in _WORDS


def cardinals(language: str, numbers: Iterable[int]) -> dict[str, int]:
    """Return numbers by their first words in the table: "two", not "twice". Those without a word are left out."""
    words = {number: word for word, (number, _) in reversed(_LEXICONS[language].items())}
    return {words[number]: number for number in numbers if number in words}


def numbers_in_words(text: str, language: str) -> set[int]:
    """Return the numbers that a text may have in words, also in parts of longer ones, and in Roman numerals.

    A language that is not known here is read as all that are.
    """
    code = base_language(language)
    numbers = {_roman(match[1] or match[2]) for match in _ROMAN.finditer(text) if match[0] != "I"}
    lowered = text.lower()
    for known in [code] if code in _WORDS else list(_WORDS):
        for run in number_word_runs(lowered, known):
            most = min(_MANY_WORDS, max(2, _LONG_ROW // len(run)))
            for first in range(len(run)):
                for end in range(first + 1, min(len(run), first + most) + 1):
                    numbers.update(_values(run[first:end], known))
    if _PARTS_OF_HOUR.search(lowered):
        numbers |= {45, *((number - 2) % 12 + 1 for number in numbers if 1 <= number <= 12)}
    return numbers


def number_word_runs(text: str, language: str) -> Iterator[list[NumberWord]]:
    """Yield the words of each number, or of several in a row.

    Args:
        text: in small letters.
        language: a base language whose number words are known.
    """
    run: list[NumberWord] = []
    end = -1
    for match in _PATTERNS[language].finditer(text):
        follows = bool(run) and _GAPS[language].fullmatch(text, end, match.start()) is not None
        if language == "de" and not follows and text[match.start() - 1 : match.start()].isalpha():  # "acht" in "machte"
            continue
        if run and not follows:
            yield run
            run = []
        run.append(NumberWord(*match.span(), *_LEXICONS[language][match[1]]))
        end = match.end()
    if run:
        yield run


def _values(words: Sequence[NumberWord], language: str) -> Iterator[int]:
    """Yield the number of all words; as a year, "nineteen fifty-four"; and as digits in a row, 二〇〇五."""
    yield value_of(words, language)
    for cut in range(1, len(words)):
        first, second = value_of(words[:cut], language), value_of(words[cut:], language)
        if 10 <= first < 100 and second < 100:
            yield 100 * first + second
    if len(words) > 1 and all(word.number < 10 and not word.multiplies for word in words):
        yield int("".join(str(word.number) for word in words))


def value_of(words: Sequence[NumberWord], language: str) -> int:
    """Return the sum of units, tens and hundreds, multiplied by the thousands and millions after them.

    Chinese counts up to thousands before it multiplies: 一亿一千万.
    """
    total = hundreds = unit = 0
    least = 10_000 if language == "zh" else 1000
    for _, _, number, multiplies in words:
        if multiplies and number >= least:
            below, hundreds, unit = hundreds + unit, 0, 0
            total = (total + below or 1) * number if number > total else total + (below or 1) * number
        elif multiplies:
            hundreds, unit = hundreds + (unit or 1) * number, 0
        elif (language, unit, number) == ("fr", 4, 20):  # quatre-vingts
            unit = 80
        else:
            unit += number
    return total + hundreds + unit


def _roman(letters: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in letters]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )
