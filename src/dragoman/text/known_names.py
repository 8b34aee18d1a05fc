"""Names of a text, with the forms that the target language has of those that are known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import TypeVar

from dragoman.text.chinese_names import find_chinese_names
from dragoman.text.languages import base_language
from dragoman.text.name_words import NameWord, find_names
from dragoman.text.place_names import accepted_forms, place_rows
from dragoman.text.protection import Stretch, overlaps
from dragoman.text.quantities import Quantity

_Part = TypeVar("_Part", NameWord, Quantity)

#: Words that make another place of the one behind them, or a person: "South Korea", "Nouvelle Angleterre", "Herr Wien".
_OTHER_BEFORE = re.compile(
    r"(?<!\w)(?:New|(?:Nor|Sou)th(?:ern)?|(?:Ea|We)st(?:ern)?|Central|Great(?:er)?|Air|Radio|Royal|"
    "Neu|Nord|Süd|Ost|Groß|Nouvel(?:le)?|Nouveau|Grande?|Petite?|"
    r"(?:Mr|Mrs|Ms|Dr|Prof|M|Mme|Mlle)\.?|Miss|Sir|Lady|Lord|Herrn?|Frau|Madame|Monsieur)\s\Z"
)
#: The most characters of such a word and the space behind it.
_LONGEST_BEFORE = 10
#: Chinese words that contain the name of a place and are none, and characters after it that make another word of it.
_NO_PLACES = (
    "沿海地|近海地|其中国|展中国家|集中国|今日本|生日本|节日本|印度洋|日本海|巴西利亚|雅典娜|内蒙古|蒙古包|南京都|增加纳|参加纳|"
    "东躲西藏|海上海|都灵[机活敏巧]|罗马数字|德州扑克|印度教|荷兰豆|土耳其烤肉"
)
_AFTER_NO_PLACE = "人语語文话話菜餐式裔籍史币幣军軍队隊货貨"


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
        if whole := _as_one_place(group, text, languages):
            groups += whole
            continue
        first = _with_forms(group[0], text, languages)
        if group[1:] and first.end < group[0].end:  # a genitive: "Ungarns Hauptstadt"
            groups.append([first])
            group = group[1:]
        place = _with_forms(group[-1], text, languages) if _is_alone(text, group) else group[-1]
        groups += [group[:-1], [place]] if place.forms and group[:-1] else [[*group[:-1], place]]
    people = find_chinese_names(text) if _writes_names(languages) else []
    places = _chinese_places(text, languages) if base_language(languages[0]) == "zh" else []
    return groups + [[name] for name in (*people, *_outside(places, people)) if not overlaps(name[:2], others)]


def _writes_names(languages: tuple[str, str]) -> bool:
    """Return True if names of people in the script of the source language have known forms in the target language."""
    return tuple(map(base_language, languages)) == ("zh", "en")


def quantities_with_names(
    quantities: Sequence[Quantity], text: str, languages: tuple[str, str], names: Collection[str]
) -> list[Quantity]:
    """Return the quantities of a text and some of its names, each with its usual form, in order without overlaps.

    >>> [name[:3] for name in quantities_with_names([], "玛丽莲和玛丽", ("zh", "en"), ["玛丽"])]
    [(4, 6, ('Mary',))]
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
    found = _chinese_pattern().finditer(text)
    forms = [(match.span(), accepted_forms(match["place"] or "", *languages)) for match in found]
    return [NameWord(*place, is_marked=True, forms=own) for place, own in forms if own]


@cache
def _chinese_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(place_rows("zh"), key=lambda name: (-len(name), name)))
    return re.compile(f"{_NO_PLACES}|(?P<place>{names})(?![{_AFTER_NO_PLACE}])")


def _as_one_place(group: Sequence[NameWord], text: str, languages: tuple[str, str]) -> list[list[NameWord]]:
    """Return a group as one place of several words, "South Korea"; a word at the beginning, "In", is not part of it."""
    for start in (0,) if group[0].is_marked else (0, 1):
        words = group[start:]
        forms = accepted_forms(text[words[0].start : words[-1].end], *languages) if words[1:] else ()
        if forms:
            return [
                list(each) for each in (group[:start], [NameWord(words[0].start, words[-1].end, True, forms)]) if each
            ]
    return []


def _is_alone(text: str, group: Sequence[NameWord]) -> bool:
    """Return True if the last word of a group is no part of a longer name, except of one at the beginning: "In"."""
    start = group[-1].start
    return (len(group) == 1 or (len(group) == 2 and not group[0].is_marked)) and not _OTHER_BEFORE.search(
        text[max(0, start - _LONGEST_BEFORE) : start]
    )


def _with_forms(word: NameWord, text: str, languages: tuple[str, str]) -> NameWord:
    """Return a word with its forms as a place; without the "s" of a German genitive: "Ungarns"."""
    own, end = text[word.start : word.end], word.end
    if base_language(languages[0]) == "de" and own not in place_rows("de") and own.endswith("s"):
        own, end = own.removesuffix("s"), word.end - 1
    forms = accepted_forms(own, *languages)
    return word._replace(end=end, is_marked=True, forms=forms) if forms else word
