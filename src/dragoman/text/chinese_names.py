"""Names of people in Chinese characters, which have no capitals, and how English writes them.

Names from other languages are in a table ("大卫" is David). Chinese names have a frequent surname, and one or two
characters that are frequent in given names ("陈洁" is Chen Jie), or a title ("王先生" is Mr. Wang).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice, product

from dragoman.text import chinese_name_tables as tables
from dragoman.text.name_words import NameWord

_DOTS = "·‧・•"
#: Characters that may begin or go on with a foreign name, so that the known one is a part of another.
_BEFORE_FOREIGN = frozenset(f"{_DOTS}斯尔姆莎娜蒂妮莉娅弗圣阿戴黛诺艾埃伊")
_AFTER_FOREIGN = re.compile(f"[{_DOTS}斯尔姆娜莎莉莲蒂妮娅弗伦逊顿森基尼维科诺亚娃丽文里内县省州港湖岛]|夫(?!人)")
#: Characters that end a word with a surname: 国王, 女王, 主张, 一张, 行李.
_BEFORE_SURNAME = "国女大霸帝天亲魔君主紧夸慌扩纸嚣铺一两三四五六七八九十几这那每多张行桃小老最很太"
#: Characters of words that stand before a name.
_BEFORE_NAME = "和跟与同给叫找是请让把被对诉到见为像问了识事友"
#: Titles of people with a foreign name. Others may begin the next word: "告诉大卫医生来了".
_FOREIGN_TITLES = "先生|太太|夫人|女士|小姐|教授|博士"
#: The most forms of one name.
_MOST_FORMS = 12


def find_chinese_names(text: str) -> list[NameWord]:
    """Return the names of people in a Chinese text with the forms that they may have in English, the usual one first.

    >>> [name.forms[0] for name in find_chinese_names("约翰·史密斯和陳潔在王先生家。")]
    ['John Smith', 'Chen Jie', 'Mr. Wang']
    """
    simplified = text.translate(_simplification())
    found = []
    for match in _pattern().finditer(simplified):
        kind = match.lastgroup or ""
        if kind == "none" or (kind == "foreign" and _is_part(simplified, *match.span())):
            continue
        if forms := _FORMS[kind](match[0]):
            found.append(NameWord(*match.span(), True, tuple(forms)))
    return found


def _is_part(text: str, start: int, end: int) -> bool:
    """Return True if a foreign name is a part of a longer one."""
    return text[start - 1 : start] in _BEFORE_FOREIGN or _AFTER_FOREIGN.match(text, end) is not None


def _foreign(name: str) -> list[str]:
    name, title = _without_title(name)
    parts = [_foreign_names()[part] for part in _foreign_pattern().findall(name)]
    forms = [" ".join(part) for part in islice(product(*parts), _MOST_FORMS)]
    return [f"{title} {forms[0]}", *forms] if title else forms


def _person(name: str) -> list[str]:
    name, title = _without_title(name)
    surname = name[:2] if name[:2] in _syllables() else name[:1]
    first, syllables = _syllables()[surname], [_syllables()[character] for character in name[len(surname) :]]
    given = "".join(syllables).capitalize()
    others = dict.fromkeys(("-".join(syllables).capitalize(), " ".join(map(str.capitalize, syllables))))
    forms = [f"{first} {given}", f"{given} {first}", first + given.lower(), *(f"{first} {each}" for each in others)]
    if not given:
        forms = [first]
    return _with_plain_letters([f"{title} {forms[0]}", *forms] if title else forms)


def _familiar(name: str) -> list[str]:
    syllable = _syllables()[name[1]].capitalize()
    before = "Lao" if name[0] == "老" else "Xiao"
    joined = before + syllable.lower()
    is_surname = name[1] in tables.SURNAMES
    spaced = f"{before} {syllable}"
    return _with_plain_letters([*((spaced, joined) if is_surname else (joined, spaced)), syllable])


_FORMS = {"foreign": _foreign, "person": _person, "titled": _person, "familiar": _familiar}


def _with_plain_letters(forms: list[str]) -> list[str]:
    return list(dict.fromkeys([*forms, *(form.replace("ü", "u") for form in forms)]))


def _without_title(name: str) -> tuple[str, str]:
    """Return a name without its title, and the English title; "" if it has none."""
    for chinese, english in _titles().items():
        if name.endswith(chinese):
            return name.removesuffix(chinese), english
    return name, ""


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of names, in simplified characters. Each kind has a group."""
    foreign, titles = _any_of(_foreign_names()), f"(?:{'|'.join(_titles())})(?!们)"
    sure, words = _any_of(_pairs(tables.SURNAMES)), _any_of(_pairs(tables.WORDS_AND_SURNAMES))
    surname = rf"(?:(?<![{_BEFORE_SURNAME}]){sure}|(?<![^\W{_BEFORE_NAME}]){words})"
    alone, given = "".join(_pairs(tables.GIVEN_ALONE)), "".join(_pairs(tables.GIVEN))
    after = "|".join(f"(?<={word[0]})[{word[1:]}]" for word in tables.WORDS_AFTER.split())
    nick = tables.FAMILIAR_SURNAMES
    return re.compile(
        f"(?P<none>{_any_of(f'{tables.NO_NAMES} {tables.NO_PEOPLE}'.split())})"
        f"|(?P<foreign>(?!爱玛丽){foreign}(?:[{_DOTS}]?(?!爱){foreign}){{0,3}}(?:{_FOREIGN_TITLES})?)"
        f"|(?P<person>{surname}(?!{_any_of(tables.NO_GIVEN_NAMES.split())})(?:[{alone}{given}{''.join(_pairs(tables.GIVEN_FIRST))}][{alone}{given}]|[{alone}])"
        f"(?!{after}|[县省州港湖岛])(?:{titles})?)"
        f"|(?P<titled>{surname}{titles})"
        f"|(?P<familiar>(?<![最大从很太更])(?:[小老][{nick}]|小[{tables.FAMILIAR_NAMES}])(?![子女们国朝{tables.FAMILIAR_END}])"
        f"(?!{after}))"
    )


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of words that finds the longest."""
    return f"(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})"


@cache
def _foreign_pattern() -> re.Pattern[str]:
    return re.compile(_any_of(_foreign_names()))


@cache
def _foreign_names() -> dict[str, tuple[str, ...]]:
    """Return the forms of foreign names by the ways to write them in Chinese."""
    names: dict[str, tuple[str, ...]] = {}
    for entry in tables.FOREIGN.split(";"):
        latin, chinese = re.findall(r"[^一-鿿]*[^一-鿿\s]|[一-鿿].*", entry.strip())
        for name in chinese.split():
            names.setdefault(name, tuple(latin.split("/")))
    return names


@cache
def _syllables() -> dict[str, str]:
    """Return the syllables of surnames, which have capitals, and of characters of given names."""
    texts = tables.GIVEN_ALONE + tables.GIVEN + tables.GIVEN_FIRST, tables.SURNAMES + tables.WORDS_AND_SURNAMES
    given, surnames = map(_pairs, texts)
    return given | surnames


@cache
def _titles() -> dict[str, str]:
    return dict(re.findall(r"([一-鿿]+)(\S+)", tables.TITLES))


def _pairs(text: str) -> dict[str, str]:
    return dict(re.findall(r"([一-鿿]+)([A-Za-zü]+)", text))


@cache
def _simplification() -> dict[int, int]:
    return str.maketrans(tables.TRADITIONAL[::2], tables.TRADITIONAL[1::2])
