"""Times of the day in English, German, French and Chinese: "3:30 pm", "15.30 Uhr", "15 h 30", 下午3点30分."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.languages import base_language
from dragoman.text.number_words import numbers_in_words

_MINUTE = r"[0-5]\d"
#: Times by the language that writes them so; all languages write 17:30, too.
_TIMES = {
    "en": rf"(?P<hour>\d\d?)(?::(?P<minute>{_MINUTE}))?(?:\s?(?P<half>[ap])\.?\s?m\b\.?|\so['’]clock)",
    "de": rf"(?P<hour>\d\d?)(?:[:.](?P<minute>{_MINUTE}))?\s?Uhr(?:\s(?P<after>{_MINUTE}))?\b"
    r"(?:\s(?P<half>(?:morgens|vormittags|nachmittags|abends)\b))?",
    "fr": rf"(?P<hour>\d\d?)\s?h(?:eures?)?(?:\s?(?P<minute>{_MINUTE}))?\b"
    r"(?:\s(?P<half>(?:du\smatin|de\sl['’]après-midi|du\ssoir)\b))?",
    "zh": rf"(?P<half>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?(?P<hour>\d\d?)"
    rf"(?:[点點时時](?:(?P<minute>{_MINUTE})分?)?|[:：](?P<after>{_MINUTE}))",
}
_CLOCK = rf"(?P<hour>\d\d?)[:：](?P<minute>{_MINUTE})(?![\d:：])"
#: The patterns of each language, the more exact one first.
TIME_PATTERNS = {
    language: tuple(re.compile(rf"(?<![\d.,:]){pattern}", re.IGNORECASE) for pattern in (own, _CLOCK))
    for language, own in _TIMES.items()
}
#: The halves of the day from noon on, in small letters.
AFTERNOON = ("p", "nachmittags", "abends", "de l'après-midi", "de l’après-midi", "du soir", "下午", "傍晚", "晚上")
_NOON = "中午"
#: Words that say so without an hour. German joins them to others, but "vormittags" is before noon.
_SAID = {
    "en": re.compile(r"\bp\.?\s?m\b|noon|evening|night", re.IGNORECASE),
    "de": re.compile(r"\bp\.?\s?m\b|(?<!vor)mittag|abend|nacht", re.IGNORECASE),
    "fr": re.compile(r"\bp\.?\s?m\b|midi|soir|nuit", re.IGNORECASE),
    "zh": re.compile(r"\bp\.?\s?m\b|下午|午后|午後|傍晚|晚|夜|中午", re.IGNORECASE),
}
_LATE_HOURS = range(13, 24)
#: Words before an hour in French; without them and without minutes, "2 heures" is a duration.
_BEFORE_HOUR = re.compile(r"(?:\b(?:à|vers|dès|avant|après|jusqu['’]à|il est)|\A)\s\Z", re.IGNORECASE)


class Time(NamedTuple):
    """A time of the day in a text."""

    start: int
    end: int
    hour: int
    #: Two digits.
    minute: str = "00"
    #: The half of the day in words or as "p", in small letters; None if there is none.
    half: str | None = None

    @property
    def is_afternoon(self) -> bool:
        """True if the text says that it is between noon and midnight."""
        return self.hour > 12 or self.half in AFTERNOON or (self.half == _NOON and self.hour < 3)

    @property
    def is_clear(self) -> bool:
        """True if the text says which half of the day it is in."""
        return self.half is not None or self.hour > 12 or self.hour == 0

    @property
    def late_hour(self) -> int:
        """The hour of 24."""
        if self.half == "a" and self.hour == 12:
            return 0
        return self.hour + 12 if self.is_afternoon and self.hour < 12 else self.hour


def find_times(text: str, language: str) -> Iterator[Time]:
    """Yield the times of a text; two of them may overlap.

    Args:
        language: its code. Times of four languages are known.

    >>> [(time.late_hour, time.minute) for time in find_times("At 3 pm, or at 17:45.", "en")]
    [(15, '00'), (17, '45')]
    """
    for pattern in TIME_PATTERNS.get(base_language(language), ()):
        for match in pattern.finditer(text):
            groups, hour = match.groupdict(), int(match["hour"])
            is_duration = "heure" in match[0].lower() and not groups.get("minute") and not groups.get("half")
            if is_duration and not _BEFORE_HOUR.search(text[max(0, match.start() - 9) : match.start()]):
                continue
            if hour <= _LATE_HOURS[-1]:
                half = (groups.get("half") or "").lower() or None
                yield Time(*match.span(), hour, groups.get("minute") or groups.get("after") or "00", half)


def lost_afternoons(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of times that are said to be after noon, if a translation says so nowhere.

    An hour above 12 alone says it not clearly enough: people translate "14 h 30" by "2:30".

    >>> [lost_afternoons("Come at 3 pm.", f"Komm um {time}.", "en", "de") for time in ("3 Uhr", "15 Uhr")]
    [[8], []]
    """
    said = _SAID.get(base_language(target_lang))
    late = [
        time.start
        for time in find_times(source, source_lang)
        if time.half is not None and time.is_afternoon and time.hour != 12
    ]
    if said is None or not late or said.search(translation):
        return []
    if any(time.is_afternoon for time in find_times(translation, target_lang)):
        return []
    return [] if set(_LATE_HOURS) & set(numbers_in_words(translation, target_lang)) else late


def written_times(time: Time, language: str) -> list[str]:
    """Return the usual ways to write a time in a language.

    >>> written_times(Time(0, 0, 3, "30", "p"), "de"), written_times(Time(0, 0, 15), "en")
    (['15.30 Uhr', '15:30 Uhr', '15:30'], ['3 pm', '3 p.m.', '3:00 pm', '3:00 p.m.', '15:00'])
    """
    late, minute = time.late_hour, time.minute
    early, is_full = late % 12 or 12, minute == "00"
    if language == "en":
        half = "p" if time.is_afternoon else "a"
        halves = [f" {half}m", f" {half}.m."] if time.is_clear else []
        clock = [f"{early}:{minute}{each}" for each in halves]
        hours = [f"{early}{each}" for each in halves] or [f"{early} o'clock"]
        return [*(hours if is_full else []), *clock, f"{late}:{minute}"]
    if language == "de":
        return [f"{late} Uhr"] if is_full else [f"{late}.{minute} Uhr", f"{late}:{minute} Uhr", f"{late}:{minute}"]
    if language == "fr":
        hours = [f"{late} h", f"{late} heures"]
        return hours if is_full else [f"{late} h {minute}", f"{late}h{minute}", f"{late}:{minute}"]
    early_hour = f"{('下午' if time.is_afternoon else '上午') if time.is_clear else ''}{early}点"
    return [early_hour, f"{late}点"] if is_full else [f"{early_hour}{minute}分", f"{late}:{minute}"]
