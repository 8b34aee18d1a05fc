"""Names of a text, with the forms that the target language has of those that are known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import TypeVar

from dragoman.text.chinese_names import find_chinese_names
from dragoman.text.languages import base_language
from dragoman.text.name_words import NameWord, find_names
from dragoman.text.place_names import place_forms, place_rows
from dragoman.text.protection import Stretch, overlaps
from dragoman.text.quantities import Quantity

_Part = TypeVar("_Part", NameWord, Quantity)

#: Words that make another place of the one behind them: "South Korea", "Nouvelle Angleterre".
_OTHER_PLACE = re.compile(
    "New|(?:Nor|Sou)th(?:ern)?|(?:Ea|We)st(?:ern)?|Central|Great(?:er)?|Air|Radio|Royal|"
    "Neu|Nord|Süd|Ost|Groß|Nouvel(?:le)?|Nouveau|Grande?|Petite?"
)
#: Characters after the name of a place that make another word of it.
_NO_PLACE_BEFORE = "人语語文话話菜餐式裔籍史币幣军軍队隊货貨"


def name_groups(text: str, languages: tuple[str, str], others: Sequence[Stretch] = ()) -> list[list[NameWord]]:
    """Return the words of a text that may be names, in groups of neighbours.

    Args:
        languages: the codes of the source and the target language.
        others: places whose words are no names.

    >>> [[name.forms for name in group] for group in name_groups("Tom is in Hungary.", ("en", "de"))]
    [[()], [('Ungarn',)]]
    """
    groups = []
    for group in find_names(text, languages[0], others):
        place = _with_forms(group[-1], text, languages) if _is_alone(text, group) else group[-1]
        groups += [group[:-1], [place]] if place.forms and group[:-1] else [[*group[:-1], place]]
    people = find_chinese_names(text) if writes_names(languages) else []
    places = _chinese_places(text, languages) if base_language(languages[0]) == "zh" else []
    return groups + [[name] for name in (*people, *_outside(places, people)) if not overlaps(name[:2], others)]


def writes_names(languages: tuple[str, str]) -> bool:
    """Return True if names of people in the script of the source language have known forms in the target language."""
    return tuple(map(base_language, languages)) == ("zh", "en")


def with_names(
    quantities: Sequence[Quantity], text: str, languages: tuple[str, str], names: Collection[str]
) -> list[Quantity]:
    """Return the quantities of a text and some of its names, each with its usual form, in order without overlaps.

    >>> with_names([], "玛丽莲和玛丽", ("zh", "en"), ["玛丽"])
    [Quantity(start=4, end=6, forms=('Mary',))]
    """
    words = (word for group in name_groups(text, languages) for word in group if word.forms)
    found = [Quantity(*word[:2], word.forms[:1]) for word in words if text[slice(*word[:2])] in names]
    return sorted([*found, *_outside(quantities, found)])


def _outside(parts: Sequence[_Part], others: Iterable[NameWord | Quantity]) -> list[_Part]:
    """Return the parts of a text that share no character with others, in linear time."""
    taken = {at for other in others for at in range(other.start, other.end)}
    return [part for part in parts if taken.isdisjoint(range(part.start, part.end))]


def _chinese_places(text: str, languages: tuple[str, str]) -> list[NameWord]:
    """Return the places in a Chinese text, except in words for peoples, languages and the like: 日本人."""
    forms = [(match.span(), place_forms(match[0], *languages)) for match in _chinese_pattern().finditer(text)]
    return [NameWord(*place, is_marked=True, forms=own) for place, own in forms if own]


@cache
def _chinese_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(place_rows("zh"), key=lambda name: (-len(name), name)))
    return re.compile(f"(?:{names})(?![{_NO_PLACE_BEFORE}])")


def _is_alone(text: str, group: Sequence[NameWord]) -> bool:
    """Return True if the last word of a group is no part of a longer name, except of one at the beginning: "In"."""
    return len(group) == 1 or (
        len(group) == 2 and not group[0].is_marked and not _OTHER_PLACE.fullmatch(text, *group[0][:2])
    )


def _with_forms(word: NameWord, text: str, languages: tuple[str, str]) -> NameWord:
    forms = place_forms(text[word.start : word.end], *languages)
    return word._replace(is_marked=True, forms=forms) if forms else word
