"""Words of the captions in English, German and Chinese, read from files.

They are in `captions_words/`; `captions` puts them into sentences. In these files, "_" is a space, and a name stands
for a group. `nouns.txt` has groups of nouns: the adjectives that suit all of them, then for each noun the English
singular and plural, the German article, singular and plural, and for weak nouns the singular of the other cases.
`places.txt` has groups of places: two prepositions, and the nouns after them. `verbs.tsv` has fields of `Verb`; a trait
without a value is true. `chinese.txt` has the Chinese nouns by their measure words, then the other Chinese words;
a heading may say for which nouns they are, and the last that suits a noun counts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dragoman.corpora.caption_words import Adjective, Counting, Kind, Noun, Site, Verb
from dragoman.corpora.german import Case, Form

_FOLDER: Final = Path(__file__).with_name("captions_words")
_GENDERS: Final = {"der": Form.MASCULINE, "die": Form.FEMININE, "das": Form.NEUTER}


@cache
def all_verbs() -> tuple[Verb, ...]:
    """Return all verbs."""
    with open(_FOLDER / "verbs.tsv", encoding="utf-8", newline="") as file:
        return tuple(map(_verb, csv.DictReader(file, delimiter="\t")))


@cache
def nouns(words: str) -> tuple[Noun, ...]:
    """Return the nouns that `words` names, each by itself or by a group, without repetition."""
    single = {noun.english.replace(" ", "_"): (noun,) for group in _noun_groups().values() for noun in group}
    named = {**_noun_groups(), **single}
    larger = _larger_groups()
    names = (name for word in words.split() for name in larger.get(word, word).split())
    return tuple(dict.fromkeys(noun for name in names for noun in named[name]))


@cache
def sites(kinds: str) -> tuple[Site, ...]:
    """Return the places of the groups that `kinds` names, without repetition."""
    groups = dict(_groups("places.txt"))
    places = []
    for kind in kinds.split():
        for entry in groups[kind].split(","):
            prepositions, *words = entry.split()
            english, german = prepositions.replace("_", " ").split("/")
            places += [Site(english, german, noun) for word in words for noun in nouns(word)]
    return tuple(dict.fromkeys(places))


@cache
def chinese_nouns() -> Mapping[str, tuple[str, str]]:
    """Return the Chinese nouns, each with its measure word, by their English."""
    groups = [(name, page) for name, page in _groups("chinese.txt") if not name.isascii()]
    words = ((measure, *entry) for measure, page in groups for entry in _entries(page))
    return MappingProxyType({english: (measure, chinese) for measure, english, chinese in words})


@cache
def chinese_words(kind: str, noun: Noun | None = None) -> Mapping[str, str]:
    """Return the Chinese numbers, pronouns, adjectives of a noun, or the words after a place, by their English."""
    found: dict[str, str] = {}
    for heading, page in _groups("chinese.txt"):
        name, *names = heading.split()
        if name == kind and (not names or noun in nouns(" ".join(names[1:]))):
            found |= {english: chinese.strip("-") for english, chinese in _entries(page)}
    return MappingProxyType(found)


def _verb(row: Mapping[str, str]) -> Verb:
    traits: dict[str, Any] = {"chinese": row["chinese"]}
    for trait in row["traits"].split():
        name, _, value = trait.partition("=")
        traits[name] = value.replace("_", " ") or True
    for name, kind in (("counting", Counting), ("case", Case)):
        if name in traits:
            traits[name] = kind[traits[name]]
    singular, plural = row["german"].split()
    return Verb(row["english"], singular, plural, row["who"], row["what"], row["where"], **traits)


@cache
def _noun_groups() -> Mapping[str, tuple[Noun, ...]]:
    adjectives, every_colour = _adjectives()
    groups = {}
    for heading, group in _groups("nouns.txt"):
        name, _, kind = heading.rstrip(")").partition(" (")
        suitable, _, page = group.replace("COLOURS", every_colour).partition("\n")
        suits = tuple(adjectives[word] for word in suitable.split())
        groups[name] = tuple(
            Noun(english, plural, _GENDERS[article], german, german_plural, (*weak, german)[0], Kind(kind), suits)
            for english, plural, article, german, german_plural, *weak in _entries(page)
        )
    return MappingProxyType(groups)


def _adjectives() -> tuple[dict[str, Adjective], str]:
    """Return the adjectives by their English, and the names of the colours."""
    pages = dict(_groups("adjectives.txt"))
    colours = [Adjective(english, stem, is_colour=True) for english, stem in _entries(pages["colours"])]
    others = [Adjective(english, stem) for english, stem in _entries(pages["others"])]
    return {word.english: word for word in others + colours}, " ".join(word.english for word in colours)


@cache
def _larger_groups() -> Mapping[str, str]:
    """Groups of groups and nouns."""
    return MappingProxyType(dict(_groups("groups.txt")))


def _groups(name: str) -> Iterator[tuple[str, str]]:
    """Yield the groups of a file: heading, and the entries after or below it."""
    for group in re.split(r"\n(?=\S)", (_FOLDER / name).read_text(encoding="utf-8").strip()):
        heading, _, page = group.partition(":")
        yield heading, page


def _entries(page: str) -> list[list[str]]:
    """Return the entries of a page, between commas, each as its fields."""
    return [[field.replace("_", " ") for field in entry.split()] for entry in page.split(",")]
