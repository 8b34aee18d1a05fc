"""Times of the day in English, German, French and Chinese: "3:30 pm", "15.30 Uhr", "15 h 30", 下午3点30分."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.languages import base_language
from dragoman.text.number_words import numbers_in_words

_MINUTE = r"[0-5]\d"
#: The sign of the hour in Chinese. It also counts points: 3点建议 are three suggestions.
HOUR_SIGN = "(?:[时時]|[点點](?!建[议議]|意[见見]|要求|理由|原因|[内內]容|看法|想法|[问問][题題]))"
#: Times by the language that writes them so; all languages write 17:30, too.
_TIMES = {
    "en": rf"(?P<hour>\d\d?)(?::(?P<minute>{_MINUTE}))?(?:\s?(?P<half>[ap])\.?\s?m\b|\so['’]clock)",
    "de": rf"(?P<hour>\d\d?)(?:[:.](?P<minute>{_MINUTE}))?\s?Uhr(?:\s(?P<after>{_MINUTE}))?\b"
    r"(?:\s(?P<half>(?:morgens|vormittags|nachmittags|abends)\b))?",
    "fr": rf"(?P<hour>\d\d?)\s?h(?:eures?)?(?:\s?(?P<minute>{_MINUTE}))?\b"
    r"(?:\s(?P<half>(?:du\smatin|de\sl['’]après-midi|du\ssoir)\b))?",
    "zh": rf"(?P<half>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?(?P<hour>\d\d?)"
    rf"(?:{HOUR_SIGN}(?:(?P<minute>{_MINUTE})分?)?|[:：](?P<after>{_MINUTE}))",
}
_CLOCK = rf"(?P<hour>\d\d?)[:：](?P<minute>{_MINUTE})(?![\d:：])"
#: The patterns of each language, the more exact one first.
TIME_PATTERNS = {
    language: tuple(re.compile(rf"(?<![\d.,:]){pattern}", re.IGNORECASE) for pattern in (own, _CLOCK))
    for language, own in _TIMES.items()
}
#: The first of the twelve hours of 24 that a half of the day stands for: "12 am" is 0, 晚上12点 is 24.
HALVES = {
    **{"a": 0, "p": 12, "凌晨": 0, "早上": 1, "早晨": 1, "上午": 1, "中午": 3, "下午": 12, "傍晚": 12, "晚上": 13},
    **{"morgens": 1, "vormittags": 1, "nachmittags": 12, "abends": 13},
    **{"du matin": 1, "de l'après-midi": 12, "du soir": 13},
}
#: Words for hours after noon, without an hour. German joins them to others, but "vormittags" is before noon.
AFTERNOON_WORDS = {
    "en": re.compile(r"\bp\.?\s?m\b|noon|evening|night", re.IGNORECASE),
    "de": re.compile(r"\bp\.?\s?m\b|(?<!vor)mittag|abend|nacht", re.IGNORECASE),
    "fr": re.compile(r"\bp\.?\s?m\b|midi|soir|nuit", re.IGNORECASE),
    "zh": re.compile(r"\bp\.?\s?m\b|下午|午后|午後|傍晚|晚|夜|中午", re.IGNORECASE),
}
_HOURS_OF_DAY = range(24)
_AFTERNOON = range(13, 24)
#: Words before an hour in French; without them and without minutes, "2 heures" is a duration. "15 heures" may be one.
_BEFORE_HOUR = re.compile(r"(?:\b(?:à|vers|dès|avant|après|jusqu['’]à|il est)\s|\A)\Z", re.IGNORECASE)
_LONGEST_BEFORE = 9
_HOUR_AND_MINUTE = re.compile(r"\d\d?[:：]\d\d")
#: Words before a time of the day that has no other sign of one.
_BEFORE_CLOCK = re.compile(
    r"\b(?:at|by|before|after|until|till|from|since|around|to|um|ab|bis|vor|nach|seit|gegen|von|à|vers|dès|avant|après|"
    r"depuis)\s\Z",
    re.IGNORECASE,
)
#: The end of an abbreviation inside a sentence.
_INNER_POINT = re.compile(r"\.(?=\s+[a-z0-9(]|[,;:])")
#: The half of the day in Chinese, by its last hour.
_CHINESE_HALVES = {5: "凌晨", 11: "上午", 12: "中午", 17: "下午", 23: "晚上"}


class Time(NamedTuple):
    """A time of the day in a text."""

    start: int
    end: int
    #: Of 24; 3 for "3 o'clock", which may be 15.
    hour: int
    #: Two digits.
    minute: str = "00"
    #: True if a word names the half of the day.
    has_half: bool = False

    @property
    def is_clear(self) -> bool:
        """True if the text says which half of the day it is in."""
        return self.has_half or self.hour > 12 or self.hour == 0


def find_times(text: str, language: str) -> Iterator[Time]:
    """Yield the times of a text. No two overlap: "3:30 pm" is not "3:30", too.

    Args:
        language: its code. Times of four languages are known.

    >>> [(time.hour, time.minute) for time in find_times("At 3 pm, at 12 am, or at 17:45.", "en")]
    [(15, '00'), (0, '00'), (17, '45')]
    """
    starts: set[int] = set()
    for pattern in TIME_PATTERNS.get(base_language(language), ()):
        for match in pattern.finditer(text):
            if match.start("hour") in starts:
                continue
            starts.add(match.start("hour"))
            groups, hour = match.groupdict(), int(match["hour"])
            minute, half = groups.get("minute") or groups.get("after"), groups.get("half")
            may_last = "heure" in match[0].lower() and minute is None and half is None and hour not in _AFTERNOON
            if may_last and not _BEFORE_HOUR.search(text[max(0, match.start() - _LONGEST_BEFORE) : match.start()]):
                continue
            if hour in _HOURS_OF_DAY:
                point = _INNER_POINT.match(text, match.end()) if half and base_language(language) == "en" else None
                end = match.end() if point is None else point.end()
                yield Time(match.start(), end, _hour_of_day(hour, half), minute or "00", half is not None)


def may_last(text: str, time: Time) -> bool:
    """Return True for French hours that may be a duration: "20 heures", but not "à 20 heures".

    >>> [may_last(text, *find_times(text, "fr")) for text in ("Il dort 20 heures.", "Il dort à 20 heures.")]
    [True, False]
    """
    is_hour = text[time.start : time.end].lower().endswith(("heure", "heures"))
    return is_hour and not _BEFORE_HOUR.search(text[max(0, time.start - _LONGEST_BEFORE) : time.start])


def is_bare(text: str, time: Time) -> bool:
    """Return True for hours and minutes that may be something else: a verse of the Bible, a score.

    >>> [is_bare(text, *find_times(text, "en")) for text in ("See John 3:16.", "Come at 3:16.", "Come 3:16 pm.")]
    [True, False, False]
    """
    is_clock = _HOUR_AND_MINUTE.fullmatch(text, time.start, time.end) is not None
    return is_clock and not _BEFORE_CLOCK.search(text[max(0, time.start - _LONGEST_BEFORE) : time.start])


def _hour_of_day(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    first = HALVES[" ".join(half.lower().replace("’", "'").split())]
    return (first + (hour - first) % 12) % 24


def lost_halves(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of times whose half of the day a word names, and a translation loses.

    It loses the afternoon if it says so nowhere, and any half if it has the same hour of the other half. An hour above
    12 does not count as such a word: people translate "14 h 30" by "2:30".

    >>> [lost_halves("Come at 3 pm.", f"Komm um {time}.", "en", "de") for time in ("3 Uhr", "15 Uhr")]
    [[8], []]
    >>> [lost_halves("Come at 3 am.", f"Komm um {time}.", "en", "de") for time in ("3 Uhr", "15 Uhr")]
    [[], [8]]
    """
    words = AFTERNOON_WORDS.get(base_language(target_lang))
    named = [time for time in find_times(source, source_lang) if time.has_half]
    if words is None or not named:
        return []
    hours = {time.hour for time in find_times(translation, target_lang)}
    says_afternoon = (
        words.search(translation) is not None
        or any(hour in _AFTERNOON for hour in hours)
        or any(number in _AFTERNOON for number in numbers_in_words(translation, target_lang))
    )

    def is_lost(hour: int) -> bool:
        if hour in _AFTERNOON:
            return not says_afternoon
        return hour not in hours and (hour + 12) % 24 in hours

    return [time.start for time in named if is_lost(time.hour)]


def written_times(time: Time, language: str) -> list[str]:
    """Return the usual ways to write a time in a language.

    >>> written_times(Time(0, 0, 15, "30"), "de"), written_times(Time(0, 0, 15), "en")
    (['15.30 Uhr', '15:30 Uhr', '15:30'], ['3 pm', '3 p.m.', '3:00 pm', '3:00 p.m.', '15:00'])
    """
    hour, minute = time.hour, time.minute
    early, is_full = hour % 12 or 12, minute == "00"
    if language == "en":
        half = "p" if hour >= 12 else "a"
        halves = [f" {half}m", f" {half}.m."] if time.is_clear else []
        clock = [f"{early}:{minute}{each}" for each in halves]
        hours = [f"{early}{each}" for each in halves] or [f"{early} o'clock"]
        return [*(hours if is_full else []), *clock, f"{hour}:{minute}"]
    if language == "de":
        return [f"{hour} Uhr"] if is_full else [f"{hour}.{minute} Uhr", f"{hour}:{minute} Uhr", f"{hour}:{minute}"]
    if language == "fr":
        hours = [f"{hour} h", f"{hour} heure{'s' * (hour > 1)}"]
        return hours if is_full else [f"{hour} h {minute}", f"{hour}h{minute}", f"{hour}:{minute}"]
    half = next(word for last, word in _CHINESE_HALVES.items() if hour <= last) if time.is_clear else ""
    return [f"{half}{early}点", f"{hour}点"] if is_full else [f"{half}{early}点{minute}分", f"{hour}:{minute}"]
