"""Numbers in words, of any language that has a table of atomic words: units, tens, hundred, thousand, million."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from dragoman.content.language import Language, any_of

#: Words of the longest number that is read, and of one in a long row, so that reading takes linear time.
_MANY_WORDS, _FEW_WORDS, _LONG_ROW = 10, 3, 30
_LETTER = re.compile(r"[^\W\d_]")
_ROMAN = re.compile(r"\b(?=[IVXLC])(?:XL|L?X{0,3}|XC)(?:IX|IV|V?I{0,3})(?=\b|[a-zè]{1,3}\b)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
#: Words such as "decade" and "dozen" count what is before them.
_MEASURED = (10, 12)
#: What may stand between the words of one number, beside the joiners of the language.
_GAP = r"[\s\u00a0-]{0,2}"


def numbers_in_words(text: str, language: Language) -> set[int]:
    """Return the numbers that a text may have in words, also in parts of longer ones, and in Roman numerals.

    >>> from dragoman.content.language import language_of
    >>> sorted(numbers_in_words("zweihundertfünfzig", language_of("de")))
    [2, 50, 100, 150, 200, 250]
    """
    numbers = {_roman(match[0]) for match in _ROMAN.finditer(text) if match[0]}
    for _, _, row in rows(text, language):
        longest = _MANY_WORDS if len(row) <= _LONG_ROW else _FEW_WORDS
        for first in range(len(row)):
            for end in range(first + 1, min(len(row), first + longest) + 1):
                numbers.update(_values(row[first:end]))
    return numbers


def lowered(text: str) -> str:
    """Return a text in small letters, with a plain i for the İ of Turkish."""
    return text.lower().replace("i\u0307", "i")


@cache
def _patterns(language: Language, is_sure: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of an atomic word, and of what may stand between two."""
    words, joiners = any_of(language.cardinals if is_sure else language.number_words), any_of(language.known("joiners"))
    rest = rf"(?!{_LETTER.pattern})|(?:{joiners})?(?:{words})" if is_sure and language.has_spaces else ""
    return re.compile(rf"(?:{words})(?={rest})"), re.compile(rf"{_GAP}(?:(?:{joiners}){_GAP})?")


def rows(text: str, language: Language, is_sure: bool = False) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the atomic numbers that follow one another, with their place.

    The first begins a word where words have spaces.

    Args:
        is_sure: read only words that are surely cardinal numbers, not those such as "second" and "half", nor the
            beginnings of others, such as "Einwohner".
    """
    text = lowered(text)
    words = language.cardinals if is_sure else language.number_words
    atoms, gap = _patterns(language, is_sure)
    row: list[int] = []
    start, end = 0, -1
    for match in atoms.finditer(text):
        follows = bool(row) and gap.fullmatch(text, end, match.start()) is not None
        if not follows:
            if row:
                yield start, end, row
            row, start = [], match.start()
            if language.has_spaces and len(match[0]) < 3 and _LETTER.match(text, match.end()):
                continue
            if language.has_spaces and match.start() and _LETTER.match(text, match.start() - 1):
                continue
        row.append(words[match[0]])
        end = match.end()
    if row:
        yield start, end, row


def _values(words: Sequence[int]) -> Iterator[int]:
    """Yield the number of all words; as a year, "nineteen fifty-four"; and as digits in a row, 二〇〇五."""
    yield value_of(words)
    for cut in range(1, len(words)) if len(words) <= 4 else ():
        first, second = value_of(words[:cut]), value_of(words[cut:])
        if 10 <= first < 100 and second < 100:
            yield 100 * first + second
    if len(words) == 2 and words[1] in _MEASURED:
        yield words[0] * words[1]
    if len(words) > 1 and all(word < 10 for word in words):
        yield int("".join(map(str, words)))


def value_of(words: Sequence[int]) -> int:
    """Return the value of atomic numbers: a power of ten multiplies all smaller ones right before it.

    >>> value_of([2, 100, 50]), value_of([1, 20]), value_of([1, 10**8, 1, 1000, 10**4])
    (250, 21, 110000000)
    """
    terms: list[int] = []
    for word in words:
        if word >= 10 and str(word).rstrip("0") == "1":
            if word == 10 and terms and terms[-1] >= 10:
                terms.append(10)
                continue
            below = 0
            while terms and terms[-1] < word:
                below += terms.pop()
            terms.append((below or 1) * word)
        else:
            terms.append(word)
    return sum(terms)


def _roman(letters: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in letters]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
