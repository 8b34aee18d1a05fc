"""Write `src/dragoman/content/cldr/xx.json`: how languages write numbers, dates, money and units.

All of it comes from the Unicode Common Locale Data Repository (CLDR; `LICENSES/Unicode-3.0.txt`). Babel reads most.
Number words, the shortest signs of currencies and the cases of units are read by ICU 72, of which only the C library is
needed (`libicu72` of Debian):

    pip install babel==2.19.0 && python lab/cldr.py

Special spaces become plain ones; soft hyphens and marks of direction go. A number word that only joins its tens and its
unit ("twenty-one") is left out, because a reader of number words joins them too. Words for years and signs
for cheques are left out as well.
"""

import ctypes
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import babel
from babel import Locale

FOLDER = Path(__file__).parents[1] / "src/dragoman/content/cldr"
LANGUAGES = """
    ar cs da de el en es fi fr hu it ja ko nl pl pt ro ru sv tr uk zh
"""
WEEKDAYS = range(7)
MONTHS = range(1, 13)

# By trade. An ambiguous sign such as "$" belongs to the first unless a language gives it to another.
CURRENCIES = """
    USD EUR JPY GBP CNY AUD CAD CHF HKD SGD SEK KRW NOK NZD INR MXN TWD ZAR BRL DKK PLN THB ILS IDR CZK AED TRY HUF CLP
    SAR PHP MYR COP RUB RON PEN BGN UAH ISK KZT EGP ARS VND PKR MAD NGN
"""

UNITS = {
    "area": "acre hectare square-centimeter square-foot square-inch square-kilometer square-meter square-mile",
    "digital": "bit byte kilobyte megabyte gigabyte terabyte megabit gigabit",
    "duration": "second minute hour day week month year millisecond century decade",
    "electric": "ampere volt",
    "energy": "calorie kilocalorie joule kilojoule kilowatt-hour",
    "frequency": "hertz kilohertz megahertz gigahertz",
    "length": "millimeter centimeter meter kilometer inch foot yard mile nautical-mile micrometer light-year",
    "mass": "milligram gram kilogram tonne ounce pound stone",
    "power": "watt kilowatt megawatt gigawatt horsepower",
    "pressure": "bar hectopascal",
    "speed": "kilometer-per-hour mile-per-hour meter-per-second knot",
    "temperature": "celsius fahrenheit kelvin",
    "volume": "milliliter centiliter deciliter liter cubic-centimeter cubic-meter cubic-foot "
    "gallon pint fluid-ounce barrel tablespoon teaspoon",
}
SCALES = (100, 1000, 10**4, 10**6, 10**8, 10**9, 10**12)
NumberWords = Callable[[int], str]
DIGITS = {"arab": "٠١٢٣٤٥٦٧٨٩"}


def plain(text: str) -> str:
    """`text` with plain spaces, without soft hyphens and marks of direction."""
    return re.sub(r"\s+", " ", re.sub("[\u00ad\u200b-\u200f\u061c]", "", text)).strip()


def unique(texts: Iterable[str]) -> list[str]:
    """Texts in their order, cleaned, each once."""
    return list(dict.fromkeys(filter(None, map(plain, texts))))


class Icu:
    """What is needed of ICU 72's C interface, in one language."""

    def __init__(self, language: str) -> None:
        self._language = language.encode()
        self._international = ctypes.CDLL("libicui18n.so.72")
        self._common = ctypes.CDLL("libicuuc.so.72")

    def _call(self, library: ctypes.CDLL, name: str, *values: object, result: Any = ctypes.c_void_p) -> Any:
        function = getattr(library, f"{name}_72")
        function.restype = result
        status = ctypes.c_int(0)
        answer = function(*values, ctypes.byref(status))
        return None if status.value > 0 else answer  # below zero is a warning

    def number_words(self) -> Iterator[tuple[str, NumberWords]]:
        """Names of the public rule sets of spelling out, with a function from a whole number to its words."""
        library, spellout, default, public = self._international, 5, 6, 7
        formatter = ctypes.c_void_p(self._call(library, "unum_open", spellout, None, 0, self._language, None))
        buffer = ctypes.create_unicode_buffer(10_000)  # of 32-bit units, more than enough for 16-bit ones

        def text(length: int) -> str:
            return ctypes.string_at(buffer, 2 * length).decode("utf-16-le")

        length = self._call(library, "unum_getTextAttribute", formatter, public, buffer, 10_000, result=ctypes.c_int)
        for name in filter(None, text(length).split(";")):

            @cache
            def words(number: int, name: str = name) -> str:
                units = name.encode("utf-16-le")
                self._call(library, "unum_setTextAttribute", formatter, default, units, len(units) // 2, result=None)
                value = ctypes.c_int64(number)
                size = self._call(
                    library, "unum_formatInt64", formatter, value, buffer, 10_000, None, result=ctypes.c_int
                )
                return plain(text(size))

            yield name.removeprefix("%spellout-"), words

    def narrow_sign(self, currency: str) -> str:
        """The shortest sign of a currency."""
        length = ctypes.c_int32(0)
        code = (currency + "\0").encode("utf-16-le")
        answer = self._call(self._common, "ucurr_getName", code, self._language, 2, None, ctypes.byref(length))
        return ctypes.string_at(answer, 2 * length.value).decode("utf-16-le")

    def quotes(self) -> list[str]:
        """The quotation marks: start and end, and those of a quotation inside another."""
        data = ctypes.c_void_p(self._call(self._international, "ulocdata_open", self._language))
        buffer, found = ctypes.create_unicode_buffer(10), []
        for kind in range(4):
            size = self._call(self._international, "ulocdata_getDelimiter", data, kind, buffer, 10, result=ctypes.c_int)
            found.append(ctypes.string_at(buffer, 2 * size).decode("utf-16-le"))
        return found

    def unit_patterns(self, width: str, path: str, *, language: bytes | None = None) -> list[str]:
        """Patterns of a unit such as "length/meter" in one width, in all numbers and cases."""
        bundle = ctypes.c_void_p(self._call(self._common, "ures_open", b"icudt72l-unit", language or self._language))
        for key in (width, *path.split("/")):
            below = self._call(self._common, "ures_getByKey", bundle, key.encode(), None)
            if below is None:
                return []
            bundle = ctypes.c_void_p(below)
        return [text for text in self._strings(bundle) if "{0}" in text]

    def _strings(self, bundle: ctypes.c_void_p) -> Iterator[str]:
        """All texts of a resource, except the patterns of "per meter"."""
        kind = self._common.ures_getType_72(bundle)
        key = self._call_plain("ures_getKey", bundle)
        if kind == 0 and key != b"per":
            length = ctypes.c_int32(0)
            answer = self._call(self._common, "ures_getString", bundle, ctypes.byref(length))
            yield ctypes.string_at(answer, 2 * length.value).decode("utf-16-le")
        elif kind == 2:
            for index in range(self._common.ures_getSize_72(bundle)):
                yield from self._strings(
                    ctypes.c_void_p(self._call(self._common, "ures_getByIndex", bundle, index, None))
                )

    def _call_plain(self, name: str, value: ctypes.c_void_p) -> bytes | None:
        function = getattr(self._common, f"{name}_72")
        function.restype = ctypes.c_char_p
        return function(value)


def table(forms: dict[int, list[str]]) -> dict[str, list[str]]:
    """The same with texts as keys, without empty rows."""
    return {str(number): found for number, found in sorted(forms.items()) if found}


def joined(tens: list[str], units: list[str]) -> set[str]:
    """All that a plain joining of two words gives."""
    return {f"{ten}{mark}{unit}" for ten in tens for unit in units for mark in ("", " ", "-")}


def scale_words(sets: list[NumberWords], scale: int, forms: dict[int, list[str]]) -> list[str]:
    """Words for a power of ten, read off its multiples: "two thousand" without "two"."""

    def multiplier_off(number: int) -> Iterator[str]:
        for words in sets:
            text, multiplier = words(number * scale), words(number)
            if text.startswith(multiplier) and text != multiplier:
                yield text.removeprefix(multiplier)

    multiples = [off for number in (2, 3, 5, 9) for off in multiplier_off(number)]
    once = [*multiplier_off(1)]
    whole = {words(scale) for words in sets}
    # "doscientos" is a word of its own: nobody says "cientos" for a hundred.
    several = [off.strip() for off in multiples if off.startswith(" ") or scale > 100 or off in {*once, *whole}]
    if not several and scale > 100:
        return []
    one = [off.strip() for off in once if off.startswith(" ") or off in several]
    undivided = [words(scale) for words in sets if words(scale) not in joined([words(1)], [*one, *several])]
    hundreds = [
        words(101).removesuffix(last) for words in sets if scale == 100 and words(101).endswith(last := f" {words(1)}")
    ]
    below = tuple(form for number in SCALES if number < scale for form in forms[number])
    found = unique([*undivided, *one, *several, *hundreds])
    return [word for word in found if not word.endswith(below) and not re.search(r"[\d ]", word)]


def number_words(icu: Icu) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Cardinals and ordinals."""
    every = {name: words for name, words in icu.number_words() if not re.search("year|days|financial", name)}
    cardinals = [words for name, words in every.items() if not name.startswith("ordinal")]
    ordinals = [words for name, words in every.items() if name.startswith("ordinal")]

    def spelled(sets: list[NumberWords], number: int) -> list[str]:
        return [text for text in unique(words(number) for words in sets) if not re.search(r"\d", text)]

    forms = {number: spelled(cardinals, number) for number in range(100)}
    order = {number: spelled(ordinals, number) for number in range(1, 32)}
    for scale in SCALES:
        forms[scale] = scale_words(cardinals, scale, forms)
    for number in range(2, 10):
        known = joined(forms[number], forms[100])
        forms[100 * number] = [
            form for form in spelled(cardinals, 100 * number) if " " not in form and form not in known
        ]
    for number in range(99, 20, -1):
        if number % 10:
            tens = forms[number // 10 * 10]
            forms[number] = [form for form in forms[number] if form not in joined(tens, forms[number % 10])]
            if number in order:
                order[number] = [form for form in order[number] if form not in joined(tens, order[number % 10])]
    return table(forms), table(order)


def currencies(locale: Locale, icu: Icu) -> dict[str, dict[str, list[str]]]:
    """Signs and names of each currency."""
    data: Any = locale._data
    usual = {code: plain(data["currency_symbols"].get(code, code)) for code in CURRENCIES.split()}
    taken = set(usual.values())
    found, english = {}, Icu("en")
    for code in CURRENCIES.split():
        narrow = [
            sign for sign in (plain(icu.narrow_sign(code)), plain(english.narrow_sign(code))) if sign not in taken
        ]
        signs = unique(sign for sign in (usual[code], *narrow) if sign != code)
        taken.update(narrow)
        plural = dict(data["currency_names_plural"].get(code) or {})
        found[code] = {"signs": signs, "names": unique([data["currency_names"].get(code, ""), *plural.values()])}
    return dict(sorted(found.items()))


def units(icu: Icu) -> dict[str, dict[str, list[str]]]:
    """Short patterns and full names of each unit."""
    found = {}
    for kind, names in UNITS.items():
        for name in names.split():
            path = f"{kind}/{name}"
            short = [text for width in ("unitsShort", "unitsNarrow") for text in icu.unit_patterns(width, path)]
            full = icu.unit_patterns("units", path) or short
            short = short or icu.unit_patterns("unitsShort", path, language=b"root")
            found[f"{kind}-{name}"] = {
                "short": unique(short),
                "names": unique(text.replace("{0}", "") for text in full),
            }
    return dict(sorted(found.items()))


def calendar(locale: Locale) -> dict[str, object]:
    """Names of months and days, and patterns of dates and times."""
    data: Any = locale._data

    def names(kind: str, width: str, keys: Iterable[int]) -> list[list[str]]:
        return [unique(data[kind][context][width][key] for context in ("format", "stand-alone")) for key in keys]

    skeletons = {name: plain(str(pattern)) for name, pattern in data["datetime_skeletons"].items()}
    periods = data["day_periods"]

    def halves(half: str) -> list[str]:
        contexts = ("format", "stand-alone")
        return unique(periods[c][w].get(half, "") for w in ("abbreviated", "wide") for c in contexts if w in periods[c])

    return {
        "months": names("months", "wide", MONTHS),
        "short_months": names("months", "abbreviated", MONTHS),
        "weekdays": names("days", "wide", WEEKDAYS),
        "short_weekdays": names("days", "abbreviated", WEEKDAYS),
        "dates": {
            "long": plain(data["date_formats"]["long"].pattern),
            "month_day": skeletons.get("MMMMd", skeletons["MMMd"]),
            "month_year": skeletons.get("yMMMM", skeletons["yMMM"]),
            "numeric": re.sub("y+", "yyyy", plain(data["date_formats"]["short"].pattern)),
        },
        "times": {"short": plain(data["time_formats"]["short"].pattern)},
        "day_periods": {half: halves(half) for half in ("am", "pm")},
    }


def numbers(locale: Locale) -> dict[str, str]:
    """Signs and patterns of numbers."""
    data: Any = locale._data
    symbols = data["number_symbols"]["latn"]

    def pattern(text: str) -> str:
        return plain(re.sub(r"[#0,.]+", "{0}", text.split(";")[0])).replace("¤", "{1}")

    return {
        "decimal": symbols["decimal"],
        "group": re.sub(r"\s", " ", symbols["group"]),
        "native_digits": DIGITS.get(data["numbering_systems"].get("native", ""), ""),
        "percent": pattern(data["percent_formats"][None].pattern),
        "money": pattern(data["currency_formats"]["standard"].pattern),
    }


def language_data(language: str) -> dict[str, object]:
    """All that a file says about a language."""
    locale, icu = Locale.parse(language), Icu(language)
    cardinals, ordinals = number_words(icu)
    source = f"Unicode CLDR, by Babel {babel.__version__} and ICU 72; Unicode-3.0; written by lab/cldr.py"
    return {
        "source": source,
        **numbers(locale),
        "quotes": icu.quotes(),
        **calendar(locale),
        "currencies": currencies(locale, icu),
        "units": units(icu),
        "number_words": cardinals,
        "ordinals": ordinals,
    }


def readable(value: object, indent: str = "") -> str:
    """JSON with a line for each entry and lists of texts on one line."""
    if isinstance(value, dict) and any(isinstance(below, dict | list) for below in value.values()):
        deeper = indent + "  "
        rows = (
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: {readable(below, deeper)}" for key, below in value.items()
        )
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], list):
        deeper = indent + "  "
        return "[\n" + ",\n".join(f"{deeper}{readable(below)}" for below in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write a file for each language."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES.split():
        text = readable(language_data(language)) + "\n"
        FOLDER.joinpath(f"{language}.json").write_text(text, encoding="utf-8")
        print(language, len(text.encode()))


if __name__ == "__main__":
    main()
