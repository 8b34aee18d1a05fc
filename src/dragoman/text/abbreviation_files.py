"""The lists of abbreviations with a point, and of words that begin a sentence: a file for each language."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

#: The languages that have a file.
LANGUAGES = ("de", "el", "en", "es", "fr", "hi", "hy", "it", "ru", "th")
_FOLDER = Path(__file__).with_name("abbreviation_lists")

ListName = Literal["inner", "often_last", "before_numbers", "pronouns", "beginnings", "more_beginnings"]


def listed(name: ListName) -> list[str]:
    """Return the words that a list has in all languages: a text may have another language in it."""
    return list(dict.fromkeys(word for language in LANGUAGES for word in _read(language)[name]))


@cache
def _read(language: str) -> dict[str, list[str]]:
    with (_FOLDER / f"{language}.toml").open("rb") as file:
        return tomllib.load(file)
