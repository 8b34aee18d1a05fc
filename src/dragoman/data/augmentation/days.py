"""Days and months on both sides, which a date may replace: "tomorrow", "morgen" -> "on May 22", "am 22. Mai".

Texts of everyday sentences have many such words and hardly a date, so the names of most months are rare in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from numpy.random import Generator

from dragoman.data.augmentation.shared import Languages, Pair, Place, Shared
from dragoman.data.perturbations.picking import pick


def _split(names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {language: tuple(words.split()) for language, words in names.items()}


WEEKDAYS: Mapping[str, Sequence[str]] = _split(
    {
        "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "zh": "一 二 三 四 五 六 日",
    }
)
MONTHS: Mapping[str, Sequence[str]] = _split(
    {
        "en": "January February March April May June July August September October November December",
        "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "zh": "一 二 三 四 五 六 七 八 九 十 十一 十二",
    }
)
#: Words for the day after and before today, which count like weekdays.
_NEAR_DAYS = {"en": ("tomorrow", "yesterday"), "de": ("morgen", "gestern"), "fr": ("demain", "hier"),
              "zh": ("明天", "昨天")}  # fmt: skip
#: What may stand before a day as part of it, and what stands there before a date.
_BEFORE_DATE: Mapping[str, Mapping[str, str]] = {
    "en": {"": "on ", **{word: word for word in ("on ", "until ", "by ", "before ", "after ", "since ")}},
    "de": {"": "am ", "am ": "am ", "bis ": "bis zum ", "vor ": "vor dem ", "nach ": "nach dem ", "seit ": "seit dem "},
    "fr": {"": "le ", "le ": "le ", "jusqu'à ": "jusqu'au ", "d'ici ": "d'ici le ", "avant ": "avant le ",
           "après ": "après le ", "depuis ": "depuis le "},
    "zh": {"": ""},
}  # fmt: skip
#: Words before and after a day with which a date would not fit.
_UNFIT_BEFORE = {
    "en": "next|last|this|every|each|for|of|than|from|to|and|or|is|was|it's|today's|till",
    "de": "nächsten|letzten|diesen|jeden|kommenden|für|von|als|und|oder|ist|war|guten|ab",
    "fr": "pour|de|et|ou|est|était|c'est|chaque|ce|du|que|des|les|à|dès",
    "zh": "[下上每这这個个到和是从周期月前大]",
}
_UNFIT_AFTER = {
    "en": r"['’]|s\b|\s(?:morning|noon|afternoon|evening|night|is|was|will|and|or|to|through)\b",
    "de": r"\w|\s?-|\s(?:früh|morgen|mittag|vormittag|nachmittag|abend|nacht|ist|war|wird|und|oder)\b",
    "fr": r"\w|-|\s(?:prochain|dernier|matin|midi|après-midi|soir|est|était|sera|et|ou)\b",
    "zh": "[早晚上下中夜凌见見和是的一到]",
}
_LATIN_DAYS = {
    language: re.compile(
        rf"(?<![\w'’-])(?P<before>{'|'.join(filter(None, _BEFORE_DATE[language]))})?"
        rf"(?P<day>{'|'.join((*WEEKDAYS[language], *_NEAR_DAYS[language]))})(?!{_UNFIT_AFTER[language]})",
        re.IGNORECASE,
    )
    for language in ("en", "de", "fr")
}
_DAYS = {
    **_LATIN_DAYS,
    "zh": re.compile(
        "(?P<before>)(?P<day>(?:星期|礼拜|禮拜|周)[一二三四五六日天]|明天|昨天)" + f"(?!{_UNFIT_AFTER['zh']})"
    ),
}
_NOT_DAYS = {
    language: re.compile(rf"{words}\Z" if language == "zh" else rf"(?<!\w)(?:{words})\s\Z", re.IGNORECASE)
    for language, words in _UNFIT_BEFORE.items()
}
_MONTH_PATTERNS = {
    **{language: re.compile(rf"(?<![\w'’-])(?:{'|'.join(MONTHS[language])})\b") for language in ("en", "de", "fr")},
    "zh": re.compile(
        "(?<![一二三四五六七八九十0-9个個几幾])(?:十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])(?=月(?!亮|球))"
    ),
}
#: French words that end in an apostrophe before a vowel.
_ELIDED = re.compile(r"d['’]\Z|\bde\s\Z")
#: The share of weekdays that become other weekdays, and the share of dates with a year.
_WEEKDAY_SHARE, _YEAR_SHARE = 0.35, 0.4


def shared_days(pair: Pair, languages: Languages) -> list[Shared]:
    """Return the one day, or the months, that stand exactly once on both sides."""
    if not all(language in WEEKDAYS for language in languages):
        return []
    days = [_days(text, language) for text, language in zip(pair, languages, strict=True)]
    if days[0] and len(days[0]) == len(days[1]) == 1 and days[0].keys() == days[1].keys():
        places = [place for side in days for place in side.values()]
        return [Shared("day", ((places[0],), (places[1],)))]
    months = [_months(text, language) for text, language in zip(pair, languages, strict=True)]
    return [
        Shared("month", ((place,), (other,)))
        for month, place in months[0].items()
        if (other := months[1].get(month)) is not None and place is not None
    ]


def _days(text: str, language: str) -> dict[int | str, Place]:
    """Return the days of a text by their names in English; one that no date may replace counts, without a place."""
    found: dict[int | str, Place] = {}
    for match in _DAYS[language].finditer(text):
        is_unfit = _NOT_DAYS[language].search(text[: match.start()])
        key: int | str = "unfit" if is_unfit else _day(match["day"], language)
        found[f"{key} again" if key in found else key] = match.span()
    return {} if "unfit" in found else found


def _day(word: str, language: str) -> int:
    """Return the number of a weekday from 0; 7 is tomorrow, 8 is yesterday."""
    near = _NEAR_DAYS[language]
    if word.lower() in near:
        return 7 + near.index(word.lower())
    if language == "zh":
        return WEEKDAYS["zh"].index(word[-1].replace("天", "日"))
    return [name.lower() for name in WEEKDAYS[language]].index(word.lower())


def _months(text: str, language: str) -> dict[int, Place | None]:
    found: dict[int, Place | None] = {}
    for match in _MONTH_PATTERNS[language].finditer(text):
        word = match[0]
        if language == "fr" and _ELIDED.search(text[: match.start()]):
            continue
        month = int(word) if word.isdecimal() else MONTHS[language].index(word) + 1
        found[month] = None if month in found else match.span()
    return found


def draw_day(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair | None:
    """Return a date for a day, or for a weekday another one, as each language writes it."""
    old = [text[slice(*places[0])] for text, places in zip(pair, shared.places, strict=True)]
    matches = [_DAYS[language].fullmatch(text) for language, text in zip(languages, old, strict=True)]
    if matches[0] is None or matches[1] is None:
        return None
    is_weekday = _day(matches[0]["day"], languages[0]) < len(WEEKDAYS["en"])
    if is_weekday and generator.random() < _WEEKDAY_SHARE:
        new = int(generator.random() * len(WEEKDAYS["en"]))
        words = [WEEKDAYS[language][new] for language in languages]
        texts = [
            text[: match.start("day")] + (match["day"][:-1] if language == "zh" else "") + word
            for text, match, language, word in zip(old, matches, languages, words, strict=True)
            if match is not None
        ]
    else:
        day, month = 1 + int(generator.random() * 28), 1 + int(generator.random() * 12)
        year = 1990 + int(generator.random() * 46) if generator.random() < _YEAR_SHARE else None
        texts = [
            _BEFORE_DATE[language][(match["before"] or "").lower()] + _date(day, month, year, language, generator)
            for match, language in zip(matches, languages, strict=True)
            if match is not None
        ]
    source, target = (
        new_text[0].upper() + new_text[1:] if text[0].isupper() and places[0][0] == 0 else new_text
        for new_text, text, places in zip(texts, old, shared.places, strict=True)
    )
    return source, target


def _date(day: int, month: int, year: int | None, language: str, generator: Generator) -> str:
    name = MONTHS[language][month - 1]
    if language == "zh":
        return ("" if year is None else f"{year}年") + f"{month}月{day}日"
    if language == "en":
        forms = (f"{name} {day}", f"{day} {name}")
        endings = ("", "") if year is None else (f", {year}", f" {year}")
        place = int(generator.random() * 2)
        return forms[place] + endings[place]
    number = {"de": f"{day}.", "fr": "1er" if day == 1 else f"{day}"}[language]
    return f"{number} {name}" + ("" if year is None else f" {year}")


def draw_month(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return another month, as each language writes it; in Chinese in digits if the old one was."""
    month = pick(range(12), generator)
    sides = zip(pair, shared.places, languages, strict=True)
    source, target = (
        str(month + 1) if text[slice(*places[0])].isdecimal() else MONTHS[language][month]
        for text, places, language in sides
    )
    return source, target
