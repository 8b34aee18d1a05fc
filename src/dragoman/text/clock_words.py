"""A check of clock times in words: "half past three" is "halb vier", "trois heures et demie", 三点半, or 3:30."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dragoman.text.languages import base_language
from dragoman.text.spelled_numbers import spelled
from dragoman.text.times import Time, find_times

_LANGUAGES = ("en", "de", "fr", "zh")
_MORE_HOURS = {
    "en": {"noon": 12, "midnight": 12},
    "de": {"eins": 1},
    "fr": {"une": 1, "midi": 12, "minuit": 12},
    "zh": {"两": 2, "兩": 2},
}


def _numbers(language: str, numbers: Iterable[int]) -> dict[str, int]:
    return {word: number for number in numbers for word in (spelled(number, language), str(number))}


#: The words of each hour.
HOUR_WORDS = {language: _numbers(language, range(1, 25)) | _MORE_HOURS[language] for language in _LANGUAGES}
#: Words for parts of an hour that a translation must keep; those before an hour are negative.
PART_WORDS = {
    "en": {"half past": 30, "half-past": 30, "quarter past": 15, "quarter after": 15, "quarter to": -15},
    "de": {"halb": -30, "viertel nach": 15, "viertel vor": -15},
    "fr": {"et demie": 30, "et demi": 30, "et quart": 15, "moins le quart": -15},
    "zh": {"半": 30, "一刻": 15, "三刻": 45},
}
#: Words for minutes, also after an hour.
MINUTE_WORDS = {
    language: PART_WORDS[language] | _numbers(language, range(10 if language == "en" else 5, 60))
    for language in _LANGUAGES
}
#: The usual ways to say a quarter past an hour, half past it, and a quarter to the next one.
_SPOKEN = {
    "en": ("quarter past {0}", "half past {0}", "quarter to {1}"),
    "de": ("Viertel nach {0}", "halb {1}", "Viertel vor {1}"),
    "fr": ("{0} heures et quart", "{0} heures et demie", "{1} heures moins le quart"),
    "zh": ("{0}点一刻", "{0}点半", "{0}点三刻"),
}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_H = {code: _any(words) for code, words in HOUR_WORDS.items()}
_M = {code: _any(words) for code, words in MINUTE_WORDS.items()}
_P = {code: _any(words) for code, words in PART_WORDS.items()}
#: Clock times with a part of an hour; and all clock times in words.
CLOCK_PATTERNS = {
    "en": (
        re.compile(rf"\b(?P<minute>{_P['en']})\s(?P<hour>{_H['en']})\b", re.IGNORECASE),
        re.compile(rf"\b(?P<hour>{_H['en']})(?:\so['’]clock\b|[\s.-](?P<minute>{_M['en']})\b)", re.IGNORECASE),
    ),
    "de": (
        re.compile(rf"\b(?P<minute>{_P['de']})\s(?P<hour>{_H['de']})\b", re.IGNORECASE),
        re.compile(rf"\b(?P<hour>{_H['de']})\sUhr\b(?:\s(?P<minute>{_M['de']})\b)?", re.IGNORECASE),
    ),
    "fr": (
        re.compile(
            rf"\b(?P<hour>{_H['fr']})(?:(?<=midi)|(?<=minuit)|\sheures?)\s(?P<minute>{_P['fr']})\b", re.IGNORECASE
        ),
        re.compile(rf"\b(?P<hour>{_H['fr']})\sheures?\b(?:\s(?P<minute>{_M['fr']})\b)?", re.IGNORECASE),
    ),
    "zh": (
        re.compile(rf"(?<![一二三四五六七八九十0-9])(?P<hour>{_H['zh']})[点點](?P<minute>{_P['zh']})"),
        re.compile(rf"(?<![一二三四五六七八九十0-9])(?P<hour>{_H['zh']})[点點](?P<minute>{_M['zh']})?"),
    ),
}
_HALF_DAY = 720


def find_clock_times(text: str, language: str) -> list[Time]:
    """Return the times of a text that name a part of an hour, with the earlier of their two hours of a day.

    >>> [tuple(time)[2:4] for time in find_clock_times("At half past three or at quarter to one.", "en")]
    [(3, '30'), (0, '45')]
    """
    return list(_times(text, base_language(language), is_clear=True))


def lost_clock_times(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of such times of a source if its translation has other times of the day, and not these.

    >>> [lost_clock_times("At half past three.", f"Um {time}.", "en", "de") for time in ("halb vier", "halb drei")]
    [[], [3]]
    """
    named = find_clock_times(source, source_lang)
    found = clock_values(translation, target_lang) if named else set()
    return [time.start for time in named if found and (time.hour, time.minute) not in found]


def clock_values(text: str, language: str) -> set[tuple[int, str]]:
    """Return the hours and minutes of all times of a text, with the earlier of their two hours of a day."""
    times = [*_times(text, base_language(language), is_clear=False), *find_times(text, language)]
    return {(time.hour % 12, time.minute) for time in times}


def _times(text: str, language: str, *, is_clear: bool) -> Iterator[Time]:
    patterns = CLOCK_PATTERNS.get(language, ())
    for pattern in patterns[:1] if is_clear else patterns:
        for match in pattern.finditer(text):
            words = MINUTE_WORDS[language]
            minutes = words[" ".join(match["minute"].lower().split())] if match["minute"] else 0
            total = (60 * HOUR_WORDS[language][match["hour"].lower()] + minutes) % _HALF_DAY
            yield Time(*match.span(), total // 60, f"{total % 60:02}")


def spoken_time(time: Time, language: str) -> str:
    """Return the usual way to say a time with a part of an hour.

    >>> [spoken_time(Time(0, 0, 3, "30"), language) for language in ("en", "de", "fr", "zh")]
    ['half past three', 'halb vier', 'trois heures et demie', '三点半']
    """
    hour = time.hour % 12
    names = [spelled(each or 12, language) for each in (hour, (hour + 1) % 12)]
    one = {"de": "eins", "fr": "une"}.get(language)
    names = [one or name if number == 1 else name for name, number in zip(names, (hour, (hour + 1) % 12), strict=True)]
    spoken = _SPOKEN[language][int(time.minute) // 15 - 1].format(*names)
    return spoken.replace("une heures", "une heure")
