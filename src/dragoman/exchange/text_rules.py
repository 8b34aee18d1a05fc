"""The patterns and the tables of `text/` and `translator/`, as a module of JavaScript.

JavaScript repeats the code of these modules, but takes their patterns and tables from here.
"""

from __future__ import annotations

import json
import re
from types import ModuleType
from typing import Any

from dragoman.alignment import word_spans
from dragoman.exchange.regular_expressions import to_javascript
from dragoman.text import (
    abbreviations,
    cleaning,
    clear_numbers,
    clock_words,
    command_options,
    contractions,
    currencies,
    dates,
    digit_numbers,
    doubled_prices,
    icu_messages,
    invisible,
    languages,
    minus_signs,
    moments,
    number_words,
    odd_characters,
    scales,
    sentences,
    separators,
    shouting,
    spans,
    spelled_numbers,
    spelling,
    tags,
    times,
    unit_symbols,
    weekdays,
)
from dragoman.translator import cutting, frames, marks, reading

#: The names of patterns in each module. Most are private: no other Python code needs them.
_PATTERNS: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (cleaning, ("NOT_TEXT", "_WITHOUT_WIDTH")),
    (invisible, ("_SUSPECT", "_OTHER", "_JOINER", "_RUN", "_JOINING", "_UNCOMMON", "_MONGOLIAN", "_EMOJI", "_REGION")),
    (tags, ("TAG",)),
    (sentences, ("_WIDE_SPACE", "_BLANK_LINE", "_MARKS", "_NO_BEGINNING")),
    (sentences, ("_WORD_BEFORE", "_WORD_AFTER", "_NAME_ENDS", "_IN_WORD")),
    (cutting, ("_NO_WORD", "_CLAUSE", "_SPACE", "_BETWEEN_UNBROKEN")),
    (spans, ("_SIGN",)),
    (command_options, ("_CLEAR", "_PROSE", "_CLEARLY_BEFORE", "_CLEARLY_AFTER", "_OPENED", "_CLOSED", "_VALUE_AFTER")),
    (command_options, ("_WORD_BEFORE", "_COMMAND_BEFORE", "_LINE_START", "_WORD_AFTER", "_WORD_AFTER_LONG")),
    (command_options, ("_FOUR_WORDS", "_ABOUT_OPTIONS")),
    (reading, ("RESERVED", "_AFTER_SPACE")),
    (marks, ("_OPENING", "_CLOSING", "_SPACED", "_LETTERS_BEFORE", "_LETTERS_AFTER")),
    (shouting, ("_WORD", "_WORD_CHARACTER")),
    (digit_numbers, ("_GROUPED", "_DECADE", "_TIME")),
    (scales, ("RANGE", "HALF")),
    (separators, ("_DIGIT", "_BETWEEN_DIGITS", "_AMBIGUOUS", "_VERSION_BEFORE", "_CODE_BEFORE", "_ROW")),
    (separators, ("_CODE_WITH_GAPS", "_METRE", "_WITH_SIGNS", "_NAME_BEFORE", "_UNIT_AFTER", "_LIKE_TIME")),
    (minus_signs, ("_MINUS", "_WORDED")),
    (moments, ("_ISO_DATE", "_NUMERIC_DATE", "_NOT_AFTER")),
    (times, ("_INNER_POINT",)),
    (clear_numbers, ("_LINK", "_PLURAL", "_MEASURE", "_BEFORE", "_AFTER", "_REFERRING", "_OTHER_WORD")),
    (currencies, ("_NUMBER", "_PRICES", "_PRICE", "_SIGN_AFTER", "_DOLLAR_LETTERS")),
    (dates, ("_DIGIT", "_IN_DIGITS")),
    (doubled_prices, ("_DOUBLED",)),
    (unit_symbols, ("_IN_SOURCE", "_CODES_BEFORE")),
    (icu_messages, ("_HEAD",)),
    (odd_characters, ("_PART", "_SMALL", "_UNIT", "_NUMBER_BEFORE")),
    (frames, ("_BETWEEN", "_LEADING_TAGS", "_TRAILING_TAGS", "_ITEM", "_LETTER")),
    (spelling, ("WORD", "_INSIDE")),
    (number_words, ("_PARTS_OF_HOUR", "_ROMAN")),
    (word_spans, ("_WORD", "_INVISIBLE")),
)


def rules() -> str:
    """Return the module `rules.js`."""
    tables = {
        "PATTERNS": (
            "Record<string, [string, string]>",
            {name: to_javascript(each) for name, each in _patterns().items()},
        ),
        "NUMBER_WORDS": ("Record<string, Record<string, [number, boolean]>>", number_words._LEXICONS),
        "NUMBER_ONES": ("Record<string, string[]>", spelled_numbers._ONE_WORDS),
        "NUMBER_TENS": ("Record<string, string[]>", spelled_numbers._TEN_WORDS),
        "NUMBER_UNITS": ("Record<string, [number, string, string][]>", spelled_numbers._UNITS),
        "NUMBER_VARIANTS": ("Record<string, string>", clear_numbers._VARIANTS),
        "UNCLEAR_NUMBERS": ("string[]", sorted(clear_numbers._UNCLEAR)),
        "HOUR_WORDS": ("Record<string, Record<string, number>>", clock_words.HOUR_WORDS),
        "MINUTE_WORDS": ("Record<string, Record<string, number>>", clock_words.MINUTE_WORDS),
        "WEEKDAY_NUMBERS": ("Record<string, Record<string, number>>", weekdays.WEEKDAY_NUMBERS),
        "DATE_PATTERNS": ("Record<string, number>", {language: len(each) for language, each in dates._DATES.items()}),
        "MONTH_NUMBERS": ("Record<string, Record<string, number>>", dates.MONTH_NUMBERS),
        "HALVES": ("Record<string, number>", times.HALVES),
        "ABBREVIATIONS": ("Record<string, Record<string, string>>", _abbreviations()),
        "UNITS": ("string[]", unit_symbols.NAMES),
        "CONTRACTIONS": ("Record<string, Record<string, string>>", contractions.CONTRACTIONS),
        "SCALE_MEANINGS": (
            "Record<string, number[][]>",
            {language: [factors for _, factors in each] for language, each in scales.MEANINGS.items()},
        ),
        "HALF_MILLIONS": ("Record<string, number>", scales.HALVES),
        "SPELLING": ("{swapped: number[], doubled: number[]} & Record<string, number>", _spelling_rules()),
        "SCRIPTS": ("Record<string, string>", languages._SCRIPTS),
        "SCRIPT_LANGUAGES": ("string[]", sorted(set(languages._SHORT.values()))),
        "MARKS": (
            "Record<string, string>",
            {"unspaced": sentences._UNSPACED, "clear": sentences._CLEAR, "opening": sentences._OPENING},
        ),
    }
    first = "// Made by `dragoman export web` from the patterns and tables of the Python package.\n"
    return first + "".join(
        f"\n/** @type {{{kind}}} */\nexport const {name} = {json.dumps(table, separators=(',', ':'))};\n"
        for name, (kind, table) in tables.items()
    )


def _abbreviations() -> dict[str, Any]:
    return {language: abbreviations.words_read(language) for language in abbreviations.LANGUAGES}


def _spelling_rules() -> dict[str, Any]:
    return {
        "clearly": spelling._CLEARLY,
        "row": spelling._ROW,
        "rarest": spelling._RAREST,
        "swapped": spelling._SWAPPED,
        "doubled": spelling._DOUBLED,
        "firstLetter": spelling._FIRST_LETTER,
        "capital": spelling._CAPITAL,
    }


def _patterns() -> dict[str, re.Pattern[str]]:
    """Return all patterns by their names in JavaScript."""
    patterns = {
        f"{module.__name__.rsplit('.')[-1]}.{name.strip('_')}": vars(module)[name]
        for module, names in _PATTERNS
        for name in names
    }
    patterns["SPACES"] = re.compile(r"\s+")
    patterns["spans.SPAN"] = spans._span_pattern()
    patterns |= _listed_patterns()
    patterns |= {f"currencies.{sign}": pattern for sign, pattern in currencies._PATTERNS.items()}
    patterns |= {f"currencies.AFTER.{sign}": pattern for sign, pattern in currencies._AFTER.items()}
    patterns |= {f"currencies.BEFORE.{sign}": pattern for sign, pattern in currencies._BEFORE.items()}
    patterns |= {f"currency_words.{language}": each for language, each in currencies.CURRENCY_WORDS.items()}
    for kind in ("_TIME_NEXT", "_DATE_NEXT", "_IN_WORDS"):
        patterns |= {f"moments.{language}.{kind.strip('_')}": each for language, each in vars(moments)[kind].items()}
    patterns |= {f"abbreviations.{language}": abbreviations.pattern(language) for language in abbreviations.LANGUAGES}
    patterns |= {f"units.{symbol}": each for symbol, each in unit_symbols.MENTIONS.items()}
    patterns |= {f"minus_signs.{language}": each for language, each in minus_signs.MINUS_WORDS.items()}
    for language, (clear, every) in clock_words.CLOCK_PATTERNS.items():
        patterns |= {f"clock_words.{language}.CLEAR": clear, f"clock_words.{language}.ALL": every}
    patterns |= {f"weekdays.{language}.CLEAR": each for language, each in weekdays.WEEKDAY_PATTERNS.items()}
    patterns |= {f"weekdays.{language}.MENTIONS": each for language, each in weekdays.WEEKDAY_MENTIONS.items()}
    for language in number_words._WORDS:
        patterns[f"number_words.{language}"] = number_words._PATTERNS[language]
        patterns[f"number_gaps.{language}"] = number_words._GAPS[language]
    patterns |= {f"separators.OWN_SIGNS.{sign}": each for sign, each in separators._OWN_SIGNS.items()}
    for language, meanings in scales.MEANINGS.items():
        patterns |= {f"scales.{language}.{number}": word for number, (word, _) in enumerate(meanings)}
        patterns[f"scales.AFTER_DIGIT.{language}"] = scales.AFTER_DIGIT[language]
        patterns[f"digit_numbers.{language}"] = digit_numbers.NUMBERS[language]
    for language, each in dates._DATES.items():
        patterns |= {f"dates.{language}.{number}": pattern for number, pattern in enumerate(each)}
        patterns[f"dates.{language}.FULL_NAMES"] = dates.FULL_NAMES[language]
        patterns[f"dates.{language}.MENTIONS"] = dates._MENTIONS[language]
    for language, each in times.TIME_PATTERNS.items():
        patterns |= {f"times.{language}.{number}": pattern for number, pattern in enumerate(each)}
        patterns[f"times.{language}.AFTERNOON"] = times.AFTERNOON_WORDS[language]
    return patterns


def _listed_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of words that are listed in files."""
    return {
        "sentences.INNER_DOT": sentences.inner_dot(),
        "sentences.SMALL_INNER_DOT": sentences.inner_dot(re.IGNORECASE),
        "sentences.MAYBE_LAST": sentences.maybe_last(),
        "sentences.PRONOUNS": sentences.pronouns(),
        "sentences.BEGINNINGS": sentences.beginnings(),
        "sentences.MORE_BEGINNINGS": sentences.more_beginnings(),
        "sentences.ABBREVIATIONS": sentences.abbreviation(),
    }
