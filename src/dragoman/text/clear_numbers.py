"""Numbers in words that every translation must keep: "twenty-one", but not "one", "second" or "a couple".

Clear numbers are cardinals from two on, written as usual. A word of other meanings is none: "acht", "neuf".
In a translation, `number_words.py` reads generously, so that ordinals, dozens and parts of longer words count, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dragoman.text.digit_numbers import names_time, values_in_digits
from dragoman.text.languages import base_language
from dragoman.text.number_words import NumberWord, has_number_words, number_word_runs, numbers_in_words, value_of
from dragoman.text.spelled_numbers import SPELLED_END, spelled

#: Spaces and words between the words of a number.
_LINK = re.compile(r"[\s-]+(?:(?:and|et)\b[\s-]*)?")
_PLURAL = re.compile(r"(?:(?<=cent)|(?<=vingt)|(?<=ein))s\b")
#: Characters with the same meaning as others.
_VARIANTS = {"两": "二", "兩": "二", "〇": "零", "萬": "万", "億": "亿", "ss": "ß"}
#: Single words that often are no numbers.
_UNCLEAR = frozenset(("acht", "neuf", "hundert", "tausend", "cent", "cents", "mille", "un million", "un milliard"))
#: Words before the infinitive of a verb.
_MODAL = (
    "muss|musst|müssen|müsst|musste|kann|kannst|können|könnt|soll|sollst|sollen|sollt|will|willst|wollen|wollt|möchte|"
    "möchten|darf|darfst|dürfen|lass|lasst|lassen|werde|wirst|wird|werden"
)
_CLAUSE_END = r"\s?(?:[.,;:!?…)\"“»]|\Z)"
#: Numbers in words that are other words: the verb "sieben" (sift), the noun "Elf" (team, elf), and in fixed phrases.
_OTHER_WORD = re.compile(
    rf"\b(?:(?:{_MODAL})\b[^.!?;:]{{0,80}}\s|zu\s)(?<!\sum\s)(?<!\sbis\s)(?<!\sab\s)(?<!\svor\s)(?<!\sgegen\s)"
    rf"(?<!\snach\s)sieben(?={_CLAUSE_END}|\s(?:und|oder)\b)|\bwir\ssieben\b|\bsieben(?=\s(?:sie|das|den|die)\b)"
    rf"|\b(?:der|die|ein|eine|diese|dieser|unsere|jeder)\self(?={_CLAUSE_END}|\s(?:ist|war|hat|spielt)\b)"
    r"|\ben\squatre(?=\spour\b)|\bà\squatre(?=\spattes)"
)
#: Chinese words after a number of one character which show that it is one, and not a part of a word.
_MEASURE = re.compile(
    "个|個|岁|歲|天|年|小时|小時|分钟|分鐘|点|點|本|只|隻|人|次|公里|米|名|位|张|張|杯|美元|欧元|歐元"
)
#: Words before a small number that refers to what was said: "these two", "aucun des deux".
_REFERRING = re.compile(r"\b(?:the|these|those|you|us|ces|des|les|nous|vous|tous|toutes)\s\Z")
_LAST_REFERRING, _LONGEST_REFERRING = 4, 8
#: Characters before and words after a number that change its meaning: 几十 is dozens, "quinze jours" two weeks.
_BEFORE, _AFTER = re.compile("[几幾数數第初期拜周週0-9]"), re.compile(r"月|\s(?:jours|tagen?|augen)\b")


class ClearNumber(NamedTuple):
    """A number in words."""

    start: int
    end: int
    value: int


def find_clear_numbers(text: str, language: str) -> Iterator[ClearNumber]:
    """Yield the clear numbers of a text; none in languages whose number words are not known.

    >>> [number.value for number in find_clear_numbers("One of the twenty-one has a second.", "en")]
    [21]
    """
    language, lowered = base_language(language), text.lower()
    if not has_number_words(language) or len(lowered) != len(text):
        return
    other_ends = {match.end() for match in _OTHER_WORD.finditer(lowered)}
    for run in number_word_runs(lowered, language):
        inner = run[1:] if run[0].number == 1 else run
        shorter = [each[:-1] for each in (run, inner) if each and each[-1].number == 1]
        for words in (run, inner, *shorter) if language != "zh" else (run,):
            if words and words[-1].end not in other_ends and (value := _clear_value(lowered, words, language)):
                yield ClearNumber(words[0].start, words[-1].end, value)
                break


def lost_clear_numbers(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of the clear numbers of a source that a translation has neither in words nor in digits.

    >>> lost_clear_numbers("She is twenty-one.", "Sie ist zwanzig.", "en", "de")
    [7]
    >>> lost_clear_numbers("She is twenty-one.", "Sie ist 21.", "en", "de")
    []
    """
    found = list(find_clear_numbers(source, source_lang))
    if not found or not has_number_words(target_lang):
        return []
    kept = {*map(str, numbers_in_words(translation, target_lang)), *values_in_digits(translation, target_lang)}
    is_time = names_time(source) or names_time(translation)
    changes = (0, 12, -12) if is_time else (0,)  # "at six", "à dix-huit heures"
    return [each.start for each in found if not any(str(each.value + change) in kept for change in changes)]


def _clear_value(text: str, words: Sequence[NumberWord], language: str) -> int:
    """Return the value of words in a row; 0 if they are not one number as it is usually written."""
    start, end, value = words[0].start, words[-1].end, value_of(words, language)
    written = text[start:end]
    if (
        not 2 <= value < SPELLED_END
        or written in _UNCLEAR
        or _plain(written) != _plain(spelled(value, language).lower())
    ):
        return 0
    if _BEFORE.match(text[max(0, start - 1) : start]) or _AFTER.match(text, end):
        return 0
    if value <= _LAST_REFERRING and _REFERRING.search(text[max(0, start - _LONGEST_REFERRING) : start]):
        return 0
    is_part = len(written) == 1 and not _MEASURE.match(text, end) if language == "zh" else text[end : end + 1].isalpha()
    return 0 if is_part else value


def _plain(written: str) -> str:
    """Return a number in words without what may vary: spaces, hyphens, "and", the "s" of "deux cents" and "eins"."""
    plain = _LINK.sub("", _PLURAL.sub("", written))
    for variant, usual in _VARIANTS.items():
        plain = plain.replace(variant, usual)
    return plain
