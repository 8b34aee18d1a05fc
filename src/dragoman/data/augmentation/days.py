"""Days and months on both sides, which others may replace: "tomorrow", "morgen" -> "on May 22", "am 22. Mai".

Texts of everyday sentences have many such words and hardly a date, so the names of most months are rare in them. A date
stands only where a listed word before it, or its being an adverb, says which words it needs. Everything else stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from numpy.random import Generator

from dragoman.data.augmentation.shared import Languages, Pair, Place, Shared
from dragoman.data.perturbations.picking import pick
from dragoman.text.calendar_names import MONTHS, WEEKDAYS

#: Tomorrow and yesterday: the days 7 and 8, after the weekdays.
_ADVERBS = {"en": ("tomorrow", "yesterday"), "de": ("morgen", "gestern"), "fr": ("demain", "hier"),
            "zh": ("明天", "昨天")}  # fmt: skip
#: A word before a weekday, and before a date; those after the first two stand before "tomorrow", too.
_PREPOSITIONS: Mapping[str, Mapping[str, str]] = {
    "en": {"": "on ", "on ": "on ", **{word: word for word in ("until ", "by ", "before ", "after ", "since ")}},
    "de": {"": "am ", "am ": "am ", "bis ": "bis zum ", "vor ": "vor dem ", "nach ": "nach dem ", "seit ": "seit dem "},
    "fr": {"": "le ", "le ": "le ", "jusqu'à ": "jusqu'au ", "d'ici ": "d'ici au ", "avant ": "avant le ",
           "après ": "après le ", "depuis ": "depuis le "},
    "zh": {"": ""},
}  # fmt: skip
#: Words before an adverb, or before a French or Chinese weekday alone, with which it is no adverb.
_NO_ADVERB_AFTER = {
    "en": r"\b(?:for|of|than|from|to|and|or|is|was|about|with|like|between|as|on|day)\s",
    "de": r"\b(?:für|von|als|und|oder|ist|war|mit|auf|zu|über|wie|ab|um|am|guten)\s",
    "fr": r"\b(?:pour|de|et|ou|est|était|que|à|dès|par|sur|comme|un|ce|du|des|les|chaque|dernier|jour)\s|['’-]",
    "zh": "[下上每这這那个個到和是从至周週期月前大]",
}
#: What follows a day that is a part of a longer word or phrase.
_LONGER = {
    "en": r"['’]|s?\w|\s(?:morning|noon|afternoon|evening|night|is|was|will|and|or|to|through)\b",
    "de": r"\w|\s?-|\s(?:früh|morgen|mittag|vormittag|nachmittag|abend|nacht|ist|war|wird|und|oder)\b",
    "fr": r"\w|-|\s(?:prochain|dernier|matin|midi|après-midi|soir|est|était|sera|et|ou)\b",
    "zh": "[早晚上下中夜凌见見和是的一到]",
}
_ZH_DAY = "(?P<stem>星期|礼拜|禮拜|[周週])(?P<weekday>[一二三四五六日天])|(?P<adverb>明天|昨天)"


def _day_pattern(language: str) -> re.Pattern[str]:
    if language == "zh":
        return re.compile(f"(?P<preposition>)(?:{_ZH_DAY})(?!{_LONGER['zh']})")
    either_case = [f"[{word[0].upper()}{word[0]}]{word[1:-1]}\\s" for word in _PREPOSITIONS[language] if word]
    preposition = "|".join(either_case).replace("'", "['’]")
    weekdays = "|".join(WEEKDAYS[language])
    if language == "fr":
        weekdays = "|".join(f"[{name[0].upper()}{name[0]}]{name[1:]}" for name in WEEKDAYS[language])
    adverbs = "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in _ADVERBS[language])
    day = f"(?P<stem>)(?:(?P<weekday>{weekdays})|(?P<adverb>{adverbs}))(?!{_LONGER[language]})"
    return re.compile(rf"(?<![\w'’-])(?P<preposition>{preposition})?{day}")


_DAYS = {language: _day_pattern(language) for language in WEEKDAYS}
_AFTER = {language: re.compile(rf"(?:{words})\Z", re.IGNORECASE) for language, words in _NO_ADVERB_AFTER.items()}
#: The beginning of a sentence, where an adverb has a capital.
_BEGINNING = re.compile(r"(?:\A|[.!?…:]\s|[\"„“”«‘])\s*\Z")
#: A month where words beside it say that it is no name and no other word, such as "may".
_MONTH_PATTERNS = {
    "en": re.compile(
        rf"(?:\b(?:in|last|next|since|until|early|late)\s|\b\d\d?(?:st|nd|rd|th)?\s(?:of\s)?)(?P<a>{'|'.join(MONTHS['en'])})\b"
        rf"|\b(?P<b>{'|'.join(MONTHS['en'])})(?=\s\d)", re.IGNORECASE),
    "de": re.compile(
        rf"(?:\b(?:im|anfang|mitte|ende|seit|bis|letzten|nächsten)\s|\d\.\s)(?P<a>{'|'.join(MONTHS['de'])})\b",
        re.IGNORECASE),
    "fr": re.compile(
        rf"(?:\b(?:en|début|fin|depuis)\s|\b(?:\d\d?|1er)\s)(?P<a>{'|'.join(MONTHS['fr'])})\b", re.IGNORECASE),
    "zh": re.compile(
        "(?<![一二三四五六七八九十0-9个個几幾])(?P<a>十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])(?=月(?!亮|球))"),
}  # fmt: skip
#: A day that not every month has.
_LATE_DAY = re.compile(r"(?<!\d)(?:29|30|31)(?!\d)")
_ANY_MONTH = {
    language: re.compile("月" if language == "zh" else rf"\b(?:{'|'.join(MONTHS[language])})\b", re.IGNORECASE)
    for language in MONTHS
}
#: The share of weekdays that become other weekdays where they could become dates, and of dates with a year.
_WEEKDAY_SHARE, _YEAR_SHARE = 0.35, 0.4
_FIRST_YEAR, _N_YEARS, _N_DAYS = 1990, 46, 28


class _Day(NamedTuple):
    """A day in a text; a weekday from Monday, 0, or tomorrow, 7, or yesterday, 8."""

    number: int
    #: Of the preposition and the day.
    place: Place
    preposition: str
    #: The beginning of the name that changes from weekday to weekday.
    name_start: int
    takes_date: bool


def shared_days(pair: Pair, languages: Languages) -> list[Shared]:
    """Return the only day of both sides, or the months, that may be replaced."""
    days = _shared_day(pair, languages)
    if days is not None:
        return [Shared("day", ((days[0].place,), (days[1].place,)))]
    if not all(language in MONTHS for language in languages) or any(map(_LATE_DAY.search, pair)):
        return []
    months = [_months(text, language) for text, language in zip(pair, languages, strict=True)]
    return [
        Shared("month", ((place,), (other,)))
        for month, place in months[0].items()
        if place is not None and (other := months[1].get(month)) is not None
    ]


def _shared_day(pair: Pair, languages: Languages) -> tuple[_Day, _Day] | None:
    """Return the only day of each side, if it is the same and something may replace it."""
    if not all(language in _DAYS for language in languages):
        return None
    source, target = (_only_day(text, language) for text, language in zip(pair, languages, strict=True))
    if source is None or target is None or source.number != target.number:
        return None
    is_replaceable = _is_weekday(source) or (source.takes_date and target.takes_date)
    return (source, target) if is_replaceable else None


def _is_weekday(day: _Day) -> bool:
    return day.number < len(WEEKDAYS["en"])


def _only_day(text: str, language: str) -> _Day | None:
    """Return the day of a text that has one."""
    matches = list(_DAYS[language].finditer(text))
    if len(matches) != 1:
        return None
    (match,) = matches
    before, preposition = text[: match.start()], match["preposition"] or ""
    if match["weekday"]:
        number = WEEKDAYS[language].index(_usual_name(match["weekday"], language))
        needs_no_preposition = language in ("fr", "zh")
    else:
        number = len(WEEKDAYS["en"]) + _ADVERBS[language].index(match["adverb"].lower())
        if match["adverb"][0].isupper() and not _BEGINNING.search(before):
            return None  # German "Morgen" is the morning, too
        needs_no_preposition = True
        if preposition.lower() in list(_PREPOSITIONS[language])[:2] and preposition:
            return None
    takes_date = bool(preposition) or (needs_no_preposition and not _AFTER[language].search(before))
    if any(character.isdigit() for character in text) or _ANY_MONTH[language].search(text):
        takes_date = False  # it has a date already
    name_start = match.start("weekday") if match["weekday"] else match.end()
    return _Day(number, match.span(), preposition, name_start, takes_date)


def _usual_name(word: str, language: str) -> str:
    return {"zh": word.replace("天", "日"), "fr": word.lower()}.get(language, word)


def _months(text: str, language: str) -> dict[int, Place | None]:
    """Return the place of each month, by its number from 0; None for one that stands there several times."""
    found: dict[int, Place | None] = {}
    names = [name.lower() for name in MONTHS[language]]
    for match in _MONTH_PATTERNS[language].finditer(text):
        word = match[match.lastgroup or 0]
        month = int(word) - 1 if word.isdecimal() else names.index(word.lower())
        found[month] = None if month in found else match.span(match.lastgroup or 0)
    return found


def draw_day(pair: Pair, languages: Languages, generator: Generator) -> Pair | None:
    """Return a date for the day of a pair, or for a weekday another one, as each language writes it."""
    days = _shared_day(pair, languages)
    if days is None:
        return None
    takes_date = days[0].takes_date and days[1].takes_date
    if _is_weekday(days[0]) and (not takes_date or generator.random() < _WEEKDAY_SHARE):
        number = pick([each for each in range(len(WEEKDAYS["en"])) if each != days[0].number], generator)
        source, target = (
            text[day.place[0] : day.name_start] + _like(WEEKDAYS[language][number], text[day.name_start])
            for text, day, language in zip(pair, days, languages, strict=True)
        )
        return source, target
    number, month = 1 + pick(range(_N_DAYS), generator), pick(range(12), generator)
    year = _FIRST_YEAR + pick(range(_N_YEARS), generator) if generator.random() < _YEAR_SHARE else None
    source, target = (
        _like(
            _preposition(day.preposition, language) + _date(number, month, year, language, generator),
            text[day.place[0]],
        )
        for text, day, language in zip(pair, days, languages, strict=True)
    )
    return source, target


def _like(text: str, old: str) -> str:
    """Return the text with a capital if the old one begins with one."""
    return text[0].upper() + text[1:] if old.isupper() else text


def _preposition(word: str, language: str) -> str:
    return _PREPOSITIONS[language][word.lower().replace("’", "'")]


def _date(day: int, month: int, year: int | None, language: str, generator: Generator) -> str:
    name = MONTHS[language][month]
    if language == "zh":
        return ("" if year is None else f"{year}年") + f"{month + 1}月{day}日"
    if language == "en":
        form, end = pick(((f"{name} {day}", f", {year}"), (f"{day} {name}", f" {year}")), generator)
        return form if year is None else form + end
    number = f"{day}." if language == "de" else "1er" if day == 1 else f"{day}"
    return f"{number} {name}" + ("" if year is None else f" {year}")


def draw_month(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return another month, as each language writes it; in Chinese in digits if the old one was."""
    old = [text[slice(*places[0])] for text, places in zip(pair, shared.places, strict=True)]
    names = [each.lower() for each in MONTHS[languages[0]]]
    before = int(old[0]) - 1 if old[0].isdecimal() else names.index(old[0].lower())
    month = pick([each for each in range(12) if each != before], generator)
    source, target = (
        str(month + 1) if word.isdecimal() else MONTHS[language][month]
        for word, language in zip(old, languages, strict=True)
    )
    return source, target
