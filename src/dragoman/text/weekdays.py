"""A check that a translation has the weekdays of its source: "on Tuesday", "am Dienstag", "mardi", 星期二."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.calendar_names import WEEKDAYS
from dragoman.text.languages import base_language

_OTHER_NAMES = {"en": "", "de": "sonnabend 5", "fr": "", "zh": "天 6"}
_SHORT_NAMES = {"en": "mon 0 tue 1 tues 1 wed 2 thu 3 thur 3 thurs 3 fri 4 sat 5 sun 6"}


def _numbers_of(words: str) -> dict[str, int]:
    entries = iter(words.split())
    return {word: int(number) for word, number in zip(entries, entries, strict=True)}


#: The number of each name of a weekday, in small letters, from 0 for Monday; in Chinese, of what stands after 星期.
WEEKDAY_NUMBERS = {
    language: {name.lower(): number for number, name in enumerate(names)}
    | _numbers_of(_OTHER_NAMES[language])
    | _numbers_of(_SHORT_NAMES.get(language, ""))
    for language, names in WEEKDAYS.items()
}
_NAMES = {
    language: "|".join(name for name in numbers if name not in _numbers_of(_SHORT_NAMES.get(language, "")))
    for language, numbers in WEEKDAY_NUMBERS.items()
}
_NUMERALS = _NAMES["zh"].replace("|", "")
_CHINESE = rf"(?:(?:星期|礼拜|禮拜)|(?<![一二两兩三四五六七八九十几幾0-9])[周週])([{_NUMERALS}])"
#: Words that make the name of a day another in other languages: "Black Friday" is the same in French, "Good Friday" is
#: 耶稣受难日 in Chinese, and "Mardi gras" is English, too.
_FEASTS = "black cyber good giving super bloody fat palm ash holy maundy shrove easter whit"
_NO_FEAST = "".join(rf"(?<!\b{word}\s)" for word in _FEASTS.split())
_NO_SCHWARZER = r"(?<!\bschwarzer\s)(?<!\bschwarzen\s)"
_NO_SAINT = r"(?!\s(?:saint|gras|noir|de\spâques|de\spentecôte|des\scendres|des\srameaux)\b)"
#: Weekdays that a translation must have. Once a week is 每周一次, "this week in all" is 本周一共, and "Montage" may be
#: assemblies.
WEEKDAY_PATTERNS = {
    "en": re.compile(rf"{_NO_FEAST}\b({_NAMES['en']})s?\b(?!(?<=\bsunday)\s(?:school|best)\b)", re.IGNORECASE),
    "de": re.compile(
        rf"{_NO_SCHWARZER}\b({_NAMES['de']})(?:s?\b|(?=morgen|vormittag|mittag|nachmittag|abend|nacht))", re.IGNORECASE
    ),
    "fr": re.compile(rf"\b({_NAMES['fr']})s?\b{_NO_SAINT}", re.IGNORECASE),
    "zh": re.compile(rf"(?<!黑色)(?<!网络)(?<!網路){_CHINESE}(?![次回趟遍天共直起定十])"),
}
#: Anything that may name a weekday, also in a longer word or by its first letters.
WEEKDAY_MENTIONS = {
    "en": re.compile(rf"\b({'|'.join(WEEKDAY_NUMBERS['en'])})s?\b", re.IGNORECASE),
    "de": re.compile(f"({_NAMES['de']})", re.IGNORECASE),
    "fr": re.compile(f"({_NAMES['fr']})", re.IGNORECASE),
    "zh": re.compile(f"(?:星期|礼拜|禮拜|周|週|拜)([{_NUMERALS}])"),
}


class Weekday(NamedTuple):
    """A weekday in a text."""

    start: int
    end: int
    #: 0 for Monday.
    number: int


def find_weekdays(text: str, language: str) -> Iterator[Weekday]:
    """Yield the weekdays of a text; none in languages other than English, German, French and Chinese.

    >>> [weekday.number for weekday in find_weekdays("Am Dienstag, sonntags und am Freitagabend.", "de")]
    [1, 6, 4]
    """
    language = base_language(language)
    for match in WEEKDAY_PATTERNS[language].finditer(text) if language in WEEKDAYS else ():
        yield Weekday(*match.span(), WEEKDAY_NUMBERS[language][match[1].lower()])


def weekday_faults(source: str, translation: str, source_lang: str, target_lang: str) -> tuple[list[int], bool]:
    """Return the places of the weekdays that a translation lost, and True if it has one that its source lacks.

    >>> weekday_faults("See you on Tuesday.", "Bis Mittwoch.", "en", "de")
    ([11], True)
    """
    languages = base_language(source_lang), base_language(target_lang)
    if not all(language in WEEKDAYS for language in languages):
        return [], False
    lost, gained = list(find_weekdays(source, source_lang)), list(find_weekdays(translation, target_lang))
    kept = _mentioned(translation, languages[1]) if lost else ()
    known = _mentioned(source, languages[0]) if gained else ()
    return [each.start for each in lost if each.number not in kept], any(each.number not in known for each in gained)


def _mentioned(text: str, language: str) -> set[int]:
    return {WEEKDAY_NUMBERS[language][name.lower()] for name in WEEKDAY_MENTIONS[language].findall(text)}


def written_weekday(number: int, language: str) -> tuple[str, ...]:
    """Return the usual ways to write a weekday in a language.

    >>> written_weekday(1, "de"), written_weekday(6, "zh")
    (('Dienstag', 'dienstags'), ('星期日', '周日', '星期天'))
    """
    name = WEEKDAYS[language][number]
    if language == "zh":
        return (f"星期{name}", f"周{name}", *(["星期天"] if name == "日" else []))
    return name, f"{name.lower() if language == 'de' else name}s"
