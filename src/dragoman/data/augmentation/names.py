"""Names: those of a list (`names.toml`), and new ones, made up of syllables, so that a model learns to copy letters."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick

NameKind = Literal["person", "place"]
NAME_KINDS: tuple[NameKind, ...] = ("person", "place")
_SIMPLE = "b c d f g h j k l m n p r s t v w z"
_ONSET_LIST = f"{_SIMPLE} {_SIMPLE} {_SIMPLE} br ch cr dr fl fr gl gr kl kr pl pr qu sch sh sk st th tr ts x y zh"
_VOWEL_LIST = f"{'a e i o u ' * 5} ai au ee ei ie oa ou y"
_CODA_LIST = "l m n r s t k n r l s x b d g p f z ck ff ll nd ng nk nt rd rt ss st tz"
_ONSETS, _VOWELS, _CODAS = (tuple(parts.split()) for parts in (_ONSET_LIST, _VOWEL_LIST, _CODA_LIST))
_ACCENTED = "äöüéèáíóúøåñçšł"


@cache
def _lists() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))


@cache
def listed(name: Literal["people", "families", "places"]) -> tuple[str, ...]:
    """Return the names of a list."""
    return tuple(_lists()[name].split())


@cache
def known_names() -> Mapping[str, NameKind | None]:
    """Return the kind of each name of the lists, and None for words with a capital that are no names."""
    kinds: dict[str, NameKind | None] = dict.fromkeys((*listed("families"), *listed("people")), "person")
    return kinds | dict.fromkeys(listed("places"), "place") | dict.fromkeys(_lists()["others"].split())


@cache
def names_with_chinese(kind: NameKind) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return names in Latin letters, each with its Chinese forms."""
    entries = (entry.partition("=") for entry in _lists()["with_chinese"][kind].split(";"))
    return tuple((latin.strip(), tuple(forms.split())) for latin, _, forms in entries)


def draw_name(kind: NameKind, generator: Generator) -> str:
    """Return a name of one word or two, from the lists or made up."""
    name = pick(listed("people" if kind == "person" else "places"), generator)
    if generator.random() < 0.5:
        name = _invented_name(generator)
    if kind == "place" or generator.random() < 0.8:
        return name
    return f"{name} {pick(listed('families'), generator) if generator.random() < 0.5 else _invented_name(generator)}"


def invented_word(generator: Generator) -> str:
    """Return one to four syllables in small letters of ASCII, mostly two."""
    parts = []
    for _ in range(pick((1, 2, 2, 2, 2, 2, 3, 3, 4), generator)):
        parts += [pick(_ONSETS, generator), pick(_VOWELS, generator)]
        if generator.random() < 0.3:
            parts.append(pick(_CODAS, generator))
    return "".join(parts)


def _invented_name(generator: Generator) -> str:
    """Return a made-up word, in one of ten cases with a letter that English lacks."""
    word = invented_word(generator)
    if generator.random() < 0.1:
        place = int(generator.random() * (len(word) + 1))
        word = word[:place] + pick(_ACCENTED, generator) + word[place:]
    return word.capitalize()
