"""The patterns and the tables of `text/` and `translator/`, as a module of JavaScript.

JavaScript repeats the code of these modules, but takes their patterns and tables from here.
"""

from __future__ import annotations

import json
import re
from types import ModuleType

from dragoman.alignment import word_spans
from dragoman.content.language import all_languages
from dragoman.exchange.regular_expressions import to_javascript
from dragoman.text import (
    cleaning,
    command_options,
    icu_messages,
    invisible,
    odd_characters,
    sentences,
    shouting,
    spans,
    tags,
)
from dragoman.text.languages import KNOWN_CODES, base_language, known_scripts
from dragoman.translator import content_check, cutting, frames, marks, reading

#: The names of patterns in each module. Most are private: no other Python code needs them.
_PATTERNS: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (cleaning, ("NOT_TEXT", "_WITHOUT_WIDTH")),
    (invisible, ("_SUSPECT", "_OTHER", "_JOINER", "_RUN", "_JOINING", "_UNCOMMON", "_MONGOLIAN", "_EMOJI", "_REGION")),
    (tags, ("TAG",)),
    (sentences, ("_WIDE_SPACE", "_BLANK_LINE", "_MARKS", "_NO_BEGINNING")),
    (sentences, ("_WORD_BEFORE", "_WORD_AFTER", "_NAME_ENDS", "_IN_WORD")),
    (cutting, ("_NO_WORD", "_CLAUSE", "_SPACE", "_BETWEEN_UNBROKEN")),
    (spans, ("_SIGN",)),
    (command_options, ("_CLEAR", "_BEFORE", "_AFTER", "_ABOUT_OPTIONS")),
    (reading, ("RESERVED", "_AFTER_SPACE")),
    (marks, ("_OPENING", "_CLOSING", "_SPACED", "_LETTERS_BEFORE", "_LETTERS_AFTER")),
    (shouting, ("_WORD", "_WORD_CHARACTER")),
    (icu_messages, ("_HEAD",)),
    (odd_characters, ("_PART", "_SMALL", "_UNIT", "_NUMBER_BEFORE")),
    (content_check, ("_QUOTE", "_NO_QUOTE")),
    (frames, ("_BETWEEN", "_LEADING_TAGS", "_TRAILING_TAGS", "_ITEM", "_LETTER")),
    (word_spans, ("_WORD", "_INVISIBLE")),
)


def rules() -> str:
    """Return the module `rules.js`."""
    tables = {
        "PATTERNS": (
            "Record<string, [string, string]>",
            {name: to_javascript(each) for name, each in _patterns().items()},
        ),
        "SCRIPTS": (
            "Record<string, string>",
            {each.characters: each.languages for each in known_scripts() if not each.is_everywhere},
        ),
        "SCRIPT_LANGUAGES": ("string[]", sorted({*map(base_language, KNOWN_CODES)})),
        "MARKS": (
            "Record<string, string>",
            {"unspaced": sentences._UNSPACED, "clear": sentences._CLEAR, "opening": sentences._OPENING},
        ),
        "PARTNERS": ("Record<string, string>", frames.QUOTES),
        "QUOTES": ("Record<string, string[]>", {each.code: each.quotes for each in all_languages()}),
    }
    first = "// Made by `dragoman export web` from the patterns and tables of the Python package.\n"
    return first + "".join(
        f"\n/** @type {{{kind}}} */\nexport const {name} = {json.dumps(table, separators=(',', ':'))};\n"
        for name, (kind, table) in tables.items()
    )


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
