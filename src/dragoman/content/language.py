"""Data of a language: generated from CLDR, and a small file of the words that CLDR does not have."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from dragoman.text.languages import UNSPACED, base_language
from dragoman.text.lazy_patterns import lazy_pattern

#: A word matches by its beginning where it is only looked for: endings change, "środa" is "środę".
_LEAST_STEM = 4
_LONGEST_ENDING = 2
_WORD, _DIGIT = lazy_pattern(r"[^\W\d_]+"), lazy_pattern(r"\d")
_LEAST_SURE = 4
_SPEED = lazy_pattern(r"speed-(\w+)-per-\w+")
_UNSPACED = lazy_pattern(f"[{UNSPACED}]")
#: Units of time are words of everyday language ("a minute"), and are compared as numbers alone.
#: "Pounds" are money in half of the languages, and "4K" is hardly ever a temperature.
_NOT_MEASURES = ("duration-", "concentr-", "graphics-", "mass-pound", "temperature-kelvin")


class Language:
    """The data of one language; patterns are made when first needed.

    Two rules hold for each kind of entity: it is found only in its full forms, and looked for by the beginnings of
    words. So a check would rather miss a fault than invent one.
    """

    def __init__(self, code: str, cldr: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        self.code = code
        self.cldr = cldr
        self._known = known

    def known(self, key: str) -> list[str]:
        """Return a list of words that people know and CLDR does not; empty if there is none."""
        return list(self._known.get(key, ()))

    @property
    def least_sure(self) -> int:
        """The least number that its words surely show; endings of words may hide smaller ones."""
        return int(self._known.get("least_sure", 1 if self._known else _LEAST_SURE))

    @property
    def least_told(self) -> int:
        """The least number that a text has only because its source says it; smaller ones are articles and plurals."""
        return int(self._known.get("least_told", 1))

    @property
    def before_vowels(self) -> Mapping[str, str]:
        """The forms that words have before a vowel; one that ends in an apostrophe has no space after it."""
        forms: Mapping[str, str] = self._known.get("before_vowels", {})
        return forms

    @property
    def quotes(self) -> list[str]:
        """The quotation marks: start and end, and those of a quotation in another; with the spaces inside them."""
        return self.known("quotes") or list(self.cldr["quotes"])

    @property
    def vowels(self) -> str:
        """The letters, without accents, before which words have these forms; none if it is not known."""
        return str(self._known.get("vowels", ""))

    @property
    def doubtful_vowels(self) -> str:
        """The letters before which words have these forms in some words: "l'hôpital", "le hasard"."""
        return str(self._known.get("doubtful_vowels", ""))

    @cached_property
    def number_words(self) -> Mapping[str, int]:
        """The numbers by their words in small letters, ordinals and the words of the own file included."""
        words: dict[str, int] = {}
        for table in (self.cldr["number_words"], self.cldr["ordinals"], self._known.get("numbers", {})):
            for number, forms in table.items():
                if self.has_spaces or not 10 < int(number) < 100:  # 六百一十一 is read by its parts
                    words.update((form.lower(), int(number)) for form in forms)
        return words

    @cached_property
    def cardinals(self) -> Mapping[str, int]:
        """The numbers by the words that are surely cardinal ones: those of CLDR, and own ones from a million on."""
        large = [forms for number, forms in self._known.get("numbers", {}).items() if int(number) >= 10**6]
        words = {form.lower() for forms in (*self.cldr["number_words"].values(), *large) for form in forms}
        return {word: number for word, number in self.number_words.items() if word in words}

    @cached_property
    def scales(self) -> Mapping[str, int]:
        """The factors by words that may follow digits: "million", 万."""
        least = 100 if self.joins_scales else 1000
        scales = {word: number for word, number in self.number_words.items() if number >= least and _is_power(number)}
        for number, forms in self._known.get("scales", {}).items():
            scales |= {form if len(form) == 1 else form.lower(): int(number) for form in forms}
        return scales

    def scale_of(self, written: str) -> int:
        """Return the factor of what `scale_pattern` found."""
        return self.scales.get(written) or self.scales[written.lower()]

    @cached_property
    def scale_pattern(self) -> re.Pattern[str]:
        """Pattern of a scale right after digits; a letter alone keeps its case: "5 M€" are millions, "5 m" a length."""
        end = "" if self.joins_scales else self._word_end
        letters = [form for form in self.scales if len(form) == 1]
        return re.compile(rf"[ \u00a0\u202f-]?((?i:{any_of({*self.scales} - {*letters})})|{any_of(letters)}){end}")

    @cached_property
    def millions(self) -> re.Pattern[str]:
        """Pattern of a word for a million or more."""
        return re.compile(
            any_of(
                word
                for word, number in self.scales.items()
                if (number >= 10**6 and len(word) > 3) or (not self.has_spaces and number >= 10**4)
            )
        )

    @cached_property
    def months(self) -> re.Pattern[str]:
        """Pattern of a month's full name."""
        return self._whole(form for forms in self.cldr["months"] for form in forms)

    @cached_property
    def month_numbers(self) -> Mapping[str, int]:
        """The numbers of months by their names in small letters."""
        tables = self.cldr["short_months"], self.cldr["months"]
        return {form.lower(): number for table in tables for number, forms in enumerate(table, 1) for form in forms}

    @cached_property
    def weekday_numbers(self) -> Mapping[str, int]:
        """The numbers of weekdays by their full names and plurals in small letters; 0 is Monday."""
        plurals = {form.lower(): number for number, form in enumerate(self.known("weekday_plurals"))}
        return plurals | {form.lower(): number for number, forms in enumerate(self.cldr["weekdays"]) for form in forms}

    @cached_property
    def weekdays(self) -> re.Pattern[str]:
        """Pattern of a weekday's full name, its group; or of a phrase that names no day, such as "Black Friday"."""
        return re.compile(f"{any_of(self.known('not_weekdays'))}|{self._whole(self.weekday_forms).pattern}")

    @property
    def weekday_forms(self) -> list[str]:
        """The full names of weekdays, and their plurals."""
        return [*self.known("weekday_plurals"), *(form for forms in self.cldr["weekdays"] for form in forms)]

    def may_have_entities(self, text: str) -> bool:
        """Return False for a text without a digit, a month, a weekday and a million: it has no entity. It is quick."""
        return _DIGIT.search(text) is not None or self._first_look.search(text) is not None

    @cached_property
    def _first_look(self) -> re.Pattern[str]:
        """Words alone, without digits: the search then looks only at their first letters."""
        months = [form for forms in self.cldr["months"] for form in forms]
        words = any_of([*months, *self.weekday_forms])
        return re.compile(rf"{words}|{self.millions.pattern}|{self.words_look.pattern}")

    @cached_property
    def words_look(self) -> re.Pattern[str]:
        """Pattern that a text with money in words, or with a number such as "twenty-one", has. It is quick, too."""
        money = [form for form in self.currencies if len(form) > _LEAST_STEM and " " not in form]
        tens = [word for word, number in self.cardinals.items() if 20 <= number < 100] if self.has_spaces else ["十"]
        return re.compile(any_of([*money, *tens]))

    @cached_property
    def _traces(self) -> dict[tuple[str, str | int], re.Pattern[str]]:
        return {}

    def mentions(self, text: str, kind: str, value: str | int) -> bool:
        """Return True if a text may name a month, a weekday, a currency or a unit."""
        key = kind, value
        if key not in self._traces:
            self._traces[key] = self._trace(kind, value)
        return self._traces[key].search(text) is not None

    def _trace(self, kind: str, value: str | int) -> re.Pattern[str]:
        forms, signs = self._names(kind, value)
        stems = {pattern for form in forms for pattern in _stems(form)}
        marks = {
            re.escape(sign) + ("(?![A-Za-z])" if sign[-1].isascii() and sign[-1].isalpha() else "")
            for sign in signs
            if sign
        }
        return re.compile("|".join(sorted({*stems, *marks}, key=len, reverse=True)) or r"(?!)", re.IGNORECASE)

    def _names(self, kind: str, value: str | int) -> tuple[list[str], list[str]]:
        """Return the words for a thing, and the signs that stand for it."""
        own = list(self._known.get(kind, {}).get(str(value), ()))
        if kind == "months":
            return [*own, *self.cldr["months"][int(value) - 1]], list(self.cldr["short_months"][int(value) - 1])
        if kind == "weekdays":
            days = self.cldr["weekdays"]
            shared = {word for day in days[int(value) - 1] for word in _WORD.findall(day)}  # "feira" in Portuguese
            names = [word for day in days[int(value)] for word in _WORD.findall(day) if word not in shared]
            return [*own, *names], list(self.cldr["short_weekdays"][int(value)])
        if kind == "currencies":
            entry = self.cldr["currencies"].get(value, {"names": [], "signs": []})
            return [*own, *entry["names"]], [*entry["signs"], str(value), *SIGNS_OF.get(str(value), ())]
        entry = self.cldr["units"].get(value, {"names": [], "short": []})
        names, signs = [*own, *entry["names"]], [*self._short(str(value)), *LATIN_UNITS.get(str(value), ())]
        if length := _SPEED.fullmatch(str(value)):  # "every hour 80 kilometers"
            more = self._names("units", f"length-{length[1]}")
            return [*names, *more[0]], [*signs, *more[1]]
        return names, signs

    def _short(self, unit: str) -> list[str]:
        return [form.replace("{0}", "").strip() for form in self.cldr["units"].get(unit, {"short": []})["short"]]

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The CLDR units by their short forms and names; forms of several units are left out."""
        units: dict[str, str] = {}
        guards, doubtful = set(self.known("not_units")), set()
        for unit, entry in self.cldr["units"].items():
            if unit.startswith(_NOT_MEASURES):
                doubtful |= {*self._short(unit), *entry["names"]}
                continue
            latin = () if unit.startswith("temperature-") else LATIN_UNITS.get(unit, ())
            for form in (*self._short(unit), *entry["names"], *latin):
                if units.setdefault(form, unit) != unit:
                    doubtful.add(form)
        found = {form: unit for form, unit in units.items() if form not in guards | doubtful and form}
        # "5m" may be millions or minutes, "5 m" is a length.
        apart = [(form, unit) for unit, forms in LATIN_UNITS.items() for form in forms if form in doubtful]
        return found | {f" {form}": unit for form, unit in apart if form.isalpha()}

    @cached_property
    def unit_pattern(self) -> re.Pattern[str]:
        """Pattern of a unit right after digits."""
        return re.compile(rf"[ \u00a0\u202f]?({any_of(self.units)}){self._word_end}")

    @cached_property
    def currencies(self) -> Mapping[str, str]:
        """The ISO 4217 codes by signs, codes and names."""
        found = {code: code for code in self.cldr["currencies"]} | SIGNS
        found.update((form, code) for code, forms in self._known.get("money", {}).items() for form in forms)
        for code, entry in self.cldr["currencies"].items():
            found.update((form, code) for form in entry["names"])
        return found

    @cached_property
    def currency_after(self) -> re.Pattern[str]:
        """Pattern of a currency right after digits."""
        return re.compile(rf"[ \u00a0\u202f]?({any_of(self.currencies)})(?![^\W\d_])")

    @cached_property
    def has_spaces(self) -> bool:
        """True if words are written with spaces between them."""
        return _UNSPACED.search(self.cldr["months"][0][0] + self.cldr["weekdays"][0][0]) is None

    @property
    def joins_scales(self) -> bool:
        """True if digits, scales and the next word are written as one: 3万5千人."""
        return not self.has_spaces or bool(self._known.get("joins_scales"))

    @property
    def _word_end(self) -> str:
        return r"(?![^\W\d_])" if self.has_spaces else ""

    def _whole(self, forms: Iterable[str]) -> re.Pattern[str]:
        """Return the pattern of whole words; without regard to capitals, except those that CLDR writes."""
        start = r"(?<![\w])" if self.has_spaces else r"(?<!\d)"
        return re.compile(f"{start}({any_of(forms)}){self._word_end}")

    @cached_property
    def day_halves(self) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
        """Patterns of words for the first and the second half of the day; None if they are not known."""
        if not self.known("am"):
            return None
        am, pm = (
            re.compile(
                rf"(?:(?<=\d)|(?<!\w))(?:{any_of(map(str.lower, words))}){self._word_end}"
                if self.has_spaces
                else any_of(map(str.lower, words))
            )
            for words in (
                [*self.known("am"), *self.cldr["day_periods"]["am"]],
                [*self.known("pm"), *self.cldr["day_periods"]["pm"]],
            )
        )
        return am, pm


#: Signs that are the same everywhere.
SIGNS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₪": "ILS"}
SIGNS_OF: dict[str, list[str]] = {
    **{code: [sign] for sign, code in SIGNS.items()},
    "JPY": ["¥", "￥"],
    "CNY": ["¥", "￥"],
    "USD": ["$"],
}
#: Units that people write in Latin letters in any language.
LATIN_UNITS = {
    "area-square-kilometer": ["km2"],
    "area-square-meter": ["m2"],
    "frequency-gigahertz": ["GHz"],
    "length-centimeter": ["cm"],
    "length-inch": ["″"],
    "length-kilometer": ["km"],
    "length-meter": ["m"],
    "length-mile": ["mi"],
    "length-millimeter": ["mm"],
    "mass-gram": ["g"],
    "mass-kilogram": ["kg"],
    "speed-kilometer-per-hour": ["km/h", "kph", "kmh"],
    "speed-mile-per-hour": ["mph"],
    "temperature-celsius": ["°", "C"],
    "temperature-fahrenheit": ["°", "F"],
    "volume-liter": ["l", "L"],
}


def _stems(form: str) -> Iterator[str]:
    """Yield patterns of the words of a form.

    A short one of several is a whole word, and none in the middle: "US" and "yen", not "des" in "dollar des États".
    """
    words = [word for word in _WORD.findall(form) if len(word) > 1 or _UNSPACED.match(word)]
    for place, word in enumerate(words):
        if len(words) == 1 or len(word) >= _LEAST_STEM or not word.isascii():
            yield re.escape(stem(word))
        elif place in (0, len(words) - 1):
            yield rf"(?<!\w){word}(?!\w)"


def stem(word: str) -> str:
    """Return the beginning of a word that its endings leave."""
    return word.lower()[: max(_LEAST_STEM, len(word) - _LONGEST_ENDING)]


def any_of(forms: Iterable[str]) -> str:
    """Return a pattern of any of the forms, the longest first; of nothing if there are none."""
    return "|".join(map(re.escape, sorted(set(forms), key=lambda form: (-len(form), form)))) or "(?!)"


def _is_power(number: int) -> bool:
    return str(number).rstrip("0") == "1"


#: Between the codes of the languages that a text may be in.
ANY_OF = "|"


def languages_of(codes: str) -> list[Language]:
    """Return the languages of codes with `ANY_OF` between them; none if there is no data for one of them."""
    found = [language_of(code) for code in codes.split(ANY_OF)]
    return [] if None in found else [each for each in found if each is not None]


def all_languages() -> list[Language]:
    """Return the languages that there is data for."""
    codes = sorted(path.name.removesuffix(".json") for path in (files("dragoman.content") / "cldr").iterdir())
    return [known for code in codes if (known := language_of(code)) is not None]


@cache
def language_of(code: str) -> Language | None:
    """Return the language of a code, such as "de-AT"; None if there is no data for it."""
    return _load(base_language(code))


@cache
def _load(code: str) -> Language | None:
    folder = files("dragoman.content")
    path = folder / "cldr" / f"{code}.json"
    if not code.isalpha() or not path.is_file():
        return None
    own = folder / "languages" / f"{code}.toml"
    known = tomllib.loads(own.read_text(encoding="utf-8")) if own.is_file() else {}
    return Language(code, json.loads(path.read_text(encoding="utf-8")), known)
