"""Titles before names, and how other languages write them: "Mrs. Green" is "Frau Green", "Mme Green" and Green女士."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from dragoman.text.languages import base_language
from dragoman.text.name_words import NameWord

#: How a man, a woman and a couple are written, the usual way first; "_" is the name.
_FORMS = {
    "en": ("Mr. _|Mr _|Mister _", "Mrs. _|Ms. _|Mrs _|Ms _|Miss _", "Mr. and Mrs. _|Mr and Mrs _|Mr. & Mrs. _"),
    "de": ("Herr _|Herrn _", "Frau _|Fräulein _", "Herr und Frau _|Herrn und Frau _"),
    "fr": (
        "M. _|Monsieur _|monsieur _",
        "Mme _|Madame _|madame _|Mlle _|Mademoiselle _|mademoiselle _",
        "M. et Mme _|Monsieur et Madame _|monsieur et madame _",
    ),
    "zh": ("_先生", "_女士|_太太|_小姐|_夫人", "_夫妇|_夫婦|_先生和太太|_先生和夫人"),
}
#: Words with a capital that stand after a title and are no names.
_NO_NAME = (
    r"(?!(?:Mrs?|Ms|Miss|Mister|Herrn?|Frau|Fräulein|Mme|Mlle|Madame|Monsieur|M|Dr|Prof|Doctor|Professor|President|Chairman|Speaker|Secretary|Minister|Ambassador|Mayor|Right|Universe|"
    r"Doktor|Präsident\w*|Direktor\w*|Ministerin|Botschafter\w*|Bürgermeister\w*|Kolleg\w+)\b)"
)
_NAME = rf"{_NO_NAME}[^\W\d_](?:[\w-]*\w)?(?:['’]\w{{2,}})?"
#: The titles of a couple, of a man, and of a woman. A name in German is one word: the next may be any noun.
_TITLES = {
    "en": r"(?P<couple>Mr\.?\s(?:and|&)\sMrs)|(?P<man>Mr|Mister)|Mrs|Ms|Miss",
    "de": r"(?P<couple>Herrn?\sund\sFrau)|(?P<man>Herrn?)|Frau|Fräulein",
    "fr": r"(?P<couple>M\.\set\sMme|[Mm]onsieur\set\s[Mm]adame)|(?P<man>M(?=\.)|[Mm]onsieur)|Mme|Mlle|[Mm]adame|"
    "[Mm]ademoiselle",
}
_PATTERNS = {
    language: re.compile(
        rf"(?<!\w)(?:{titles})\.?\s(?=(?P<name>{_NAME}(?:\s{_NAME}){{0,{0 if language == 'de' else 2}}}))"
    )
    for language, titles in _TITLES.items()
}
#: German words before "Frau" as a noun: "eine Frau", "jede Frau Angst hat".
_NOUN_BEFORE = re.compile(
    r"\b(?:die|[ksm]?eine|jede|diese|deine|ihre|unsere|eure|welche|manche|andere|alte|junge|erste|letzte)\s\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 12


def find_titles(text: str, languages: tuple[str, str]) -> Iterator[NameWord]:
    """Yield the names of a text that have a title, each with its title, and with the forms of the target language.

    Args:
        languages: the codes of the source and the target language.

    >>> [name.forms[0] for name in find_titles("I know Mr. Green and Mrs. Ann Gray well.", ("en", "de"))]
    ['Herr Green', 'Frau Ann Gray']
    """
    source, target = map(base_language, languages)
    if source == target or source not in _PATTERNS or target not in _FORMS:
        return
    for match in _PATTERNS[source].finditer(text):
        is_noun = source == "de" and _NOUN_BEFORE.search(text[max(0, match.start() - _LONGEST_BEFORE) : match.start()])
        if name := "" if is_noun else _name(match["name"]):
            kind = 2 if match["couple"] else 0 if match["man"] else 1
            forms = tuple(form.replace("_", name) for form in _FORMS[target][kind].split("|"))
            yield NameWord(match.start(), match.start("name") + len(name), True, forms)


def _name(words: str) -> str:
    """Return the words that may be a name, up to the first one without a capital, or with nothing else."""
    names = takewhile(lambda word: word[0].isupper() and (len(word) == 1 or not word.isupper()), words.split())
    return " ".join(names)
