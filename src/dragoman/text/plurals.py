"""Forms of words beside numbers: the categories of CLDR and the rules of gettext, by language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from dragoman.text.languages import base_language

#: All categories of CLDR.
CATEGORIES = ("zero", "one", "two", "few", "many", "other")
_N_PLURALS = re.compile(r"nplurals\s*=\s*(\d{1,2})")
#: Most plural forms of a language.
_MOST_PLURALS = 10


@cache
def _table(name: str) -> Mapping[str, str]:
    """Return a table of the data by language."""
    data = tomllib.loads(Path(__file__).with_name("plural_forms.toml").read_text(encoding="utf-8"))
    return {language: rule for rule, languages in data[name].items() for language in languages.split()}


def plural_categories(language: str | None) -> Sequence[str]:
    """Return the categories of a language; none if they are not known.

    >>> plural_categories("ru-RU"), plural_categories("tlh")
    (['one', 'few', 'many', 'other'], [])
    """
    return _table("categories").get(base_language(language or ""), "").split()


def has_one_plural(language: str) -> bool:
    """Return True if words beside all whole numbers over one have the same forms; False if that is not known."""
    return base_language(language) in _table("over_one")


def plural_rule(language: str) -> str:
    """Return the rule of gettext for a language; "" if it is not known."""
    return _table("gettext").get(base_language(language), "")


def n_plurals(rule: str) -> int:
    """Return the number of forms in a rule of gettext; 0 if it has none."""
    match = _N_PLURALS.search(rule)
    return min(max(int(match[1]), 1), _MOST_PLURALS) if match else 0
