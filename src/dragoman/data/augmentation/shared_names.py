"""Names that stand on both sides of a pair, or in Chinese on one and in Latin letters on the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from dragoman.data.augmentation.names import NAME_KINDS, NameKind, known_names, names_with_chinese
from dragoman.data.augmentation.shared import Languages, Pair, Place, Shared

#: A capitalised word in Latin letters that is no part of a longer word or address.
_WORD = re.compile(r"(?<![\w@#./_'’`-])[A-ZÀ-ÖØ-ÞĀ-Ž][a-zß-öø-ÿĀ-ž]{2,}(?![a-zA-Zà-ɏ\d_@-])")
#: The same beside characters that are written without spaces.
_WORD_IN_CHINESE = re.compile(r"(?<![A-Za-zÀ-ɏ\d@#./_-])[A-Z][a-zß-öø-ÿ]{2,}(?![A-Za-zÀ-ɏ\d_@-])")
_POSSESSIVE = re.compile(r"['’`´]s\b")
_BEGINNING = re.compile(r"(?:\A|[.!?:;…\"„“”«»「‘])\s*\Z")
_BEFORE_PLACE = re.compile(r"\b(?:in|at|near|from)\s\Z")
#: French words before a name whose form depends on its gender or number.
_ARTICLE = re.compile(r"(?:\b(?:en|au|aux|du|des|le|la|les)\s|\bl['’])\Z", re.IGNORECASE)
#: Languages in which a capital inside a sentence says nothing: they capitalise nouns, or are not known.
_NOUNS_HAVE_CAPITALS = frozenset(("de", "lb", "und", "mul"))
#: The most places of one name on a side.
_MOST = 2


def shared_names(pair: Pair, languages: Languages) -> list[Shared]:
    """Return the names that stand equally often on both sides, in the order of the source.

    A capitalised word on both sides is a name if the lists have it, or if it has its capital inside a sentence of a
    language that does not capitalise nouns.
    """
    if set(languages) == {"en", "zh"}:
        return _with_chinese(pair, languages)
    words = [_words(text, language) for text, language in zip(pair, languages, strict=True)]
    if "de" in languages:
        _add_genitives(words, pair, languages.index("de"))
    found = []
    for word, places in words[0].items():
        others = words[1].get(word, [])
        if len(places) == len(others) <= _MOST:
            kind = _kind(word, (places[0], others[0]), pair, languages)
            if kind is not None:
                found.append(Shared(kind, (tuple(places), tuple(others))))
    return _joined(found, pair) if len(found) > 1 else found


def _words(text: str, language: str) -> dict[str, list[Place]]:
    words: dict[str, list[Place]] = {}
    for match in (_WORD_IN_CHINESE if language in ("zh", "ja") else _WORD).finditer(text):
        words.setdefault(match[0], []).append(match.span())
    return words


def _add_genitives(words: list[dict[str, list[Place]]], pair: Pair, german: int) -> None:
    """Let "Toms" be a place of "Tom", where the other side has "Tom's"."""
    other = words[1 - german]
    for word in [word for word in words[german] if word.endswith("s") and word not in other]:
        places = other.get(word[:-1], ())
        if any(_POSSESSIVE.match(pair[1 - german], end) for _, end in places):
            places = [(start, end - 1) for start, end in words[german].pop(word)]
            words[german][word[:-1]] = sorted([*words[german].get(word[:-1], ()), *places])


def _kind(word: str, places: tuple[Place, Place], pair: Pair, languages: Languages) -> NameKind | None:
    """Return the kind of a word on both sides; None if it is no name, or another name would not fit there."""
    known = known_names()
    if word in known and known[word] is None:
        return None
    before = [text[max(0, start - 12) : start] for text, (start, _) in zip(pair, places, strict=True)]
    if any(language == "fr" and _ARTICLE.search(text) for text, language in zip(before, languages, strict=True)):
        return None
    if kind := known.get(word):
        return kind
    is_inside = any(
        language not in _NOUNS_HAVE_CAPITALS and not _BEGINNING.search(text)
        for text, language in zip(before, languages, strict=True)
    )
    return ("place" if any(map(_BEFORE_PLACE.search, before)) else "person") if is_inside else None


def _joined(names: list[Shared], pair: Pair) -> list[Shared]:
    """Return the names, with those of two words, such as "Tom Jackson", as one."""
    joined = names[:1]
    for name in names[1:]:
        last = joined[-1]
        sides = [(*last.places[0], *name.places[0]), (*last.places[1], *name.places[1])]
        if all(
            len(places) == 2 and text[places[0][1] : places[1][0]] == " "
            for places, text in zip(sides, pair, strict=True)
        ):
            source, target = (((first[0], second[1]),) for first, second in sides)
            joined[-1] = Shared(last.kind, (source, target))
        else:
            joined.append(name)
    return joined


def _with_chinese(pair: Pair, languages: Languages) -> list[Shared]:
    """Return the names of a pair of English and Chinese."""
    chinese = languages.index("zh")
    text, words = pair[chinese], _words(pair[1 - chinese], "en")
    places: dict[tuple[NameKind, str], list[Place]] = {}
    names, pattern = _chinese_names()
    for match in pattern.finditer(text):
        places.setdefault(names[match[0]], []).append(match.span())
    for word, latin in _words(text, "zh").items():
        if kind := known_names().get(word, "person"):
            places.setdefault((kind, word), []).extend(latin)
    found = []
    for (kind, name), own in places.items():
        others = words.get(name, ())
        if len(own) == len(others) <= _MOST:
            sides = (tuple(own), tuple(others))
            found.append(Shared(kind, sides if chinese == 0 else sides[::-1]))
    return found


@cache
def _chinese_names() -> tuple[Mapping[str, tuple[NameKind, str]], re.Pattern[str]]:
    """Return the kind and the Latin form of each Chinese name of two characters or more, and a pattern of them."""
    entries = [(kind, latin, forms) for kind in NAME_KINDS for latin, forms in names_with_chinese(kind)]
    names = {form: (kind, latin) for kind, latin, forms in entries for form in forms if len(form) > 1}
    return names, re.compile("|".join(sorted(names, key=len, reverse=True)))
