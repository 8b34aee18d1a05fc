"""Captions read out in Chinese: measure words, places before verbs and inside phrases, and no spaces.

The tree is that of `captions`. A verb is a pattern, such as 在看O. O stands for the object, P for an object without 那
(as places are named), and L for the place. Without L, a place comes before the verb and takes 在 from it: 在看书,
在公园里看书. A verb may have other patterns for some objects: 在弹O violin=在拉O.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.corpora.caption_words import Kind
from dragoman.corpora.captions import BARE, BARE_PLURAL, THE, THE_PLURAL, A, NounPhrase, Place, Pronoun, Sentence
from dragoman.corpora.captions_lexicon import chinese_nouns, chinese_words

_MANY: Final = "许多"  # needs no measure word


def read_chinese(sentence: Sentence) -> str:
    """Return the Chinese sentence."""
    subject = sentence.subject
    if isinstance(subject, Pronoun):
        start = chinese_words("pronouns")[subject.english]
    else:
        start = noun_phrase(subject, clothing=sentence.clothing)
    return f"{start}{_predicate(sentence)}。"


def noun_phrase(phrase: NounPhrase, *, is_bare: bool = False, clothing: NounPhrase | None = None) -> str:
    """Return a number or 那, a measure word, clothes, an adjective and the noun.

    Args:
        phrase: the phrase of the tree.
        is_bare: leave out 那, as of places: 在公园里.
        clothing: what a person wears: 一个穿红色衬衫的男人.
    """
    _, noun = chinese_nouns()[phrase.noun.english]
    adjective = chinese_words("adjectives", phrase.noun)[phrase.adjective.english] if phrase.adjective else ""
    return f"{_amount(phrase, is_bare=is_bare)}{_clothes(clothing)}{adjective}{noun}"


def _clothes(clothing: NounPhrase | None) -> str:
    """Return 穿, the colour without its own 的, the garment, and 的."""
    if clothing is None or clothing.adjective is None:
        return ""
    _, garment = chinese_nouns()[clothing.noun.english]
    colour = chinese_words("adjectives", clothing.noun)[clothing.adjective.english]
    return f"穿{colour.removesuffix('的')}{garment}的"


def _amount(phrase: NounPhrase, *, is_bare: bool) -> str:
    """Return the Chinese determiner with a measure word."""
    measure, _ = chinese_nouns()[phrase.noun.english]
    determiner, kind = phrase.determiner, phrase.noun.kind
    if determiner is A:
        return f"一{measure}"
    if determiner in (THE, THE_PLURAL):
        if is_bare or kind is Kind.UNIQUE:
            return ""
        return "那些" if determiner is THE_PLURAL and kind is not Kind.PAIR else f"那{measure}"
    if determiner in (BARE, BARE_PLURAL):
        return ""
    number = chinese_words("numbers")[determiner.english]
    return number if number == _MANY else number + measure


def _predicate(sentence: Sentence) -> str:
    pattern, place = _pattern(sentence), _place(sentence.places)
    if place and "L" not in pattern:
        aspect = "正" if pattern.startswith("正") else ""
        pattern = f"{aspect}在L{pattern.removeprefix(aspect or '在')}"
    fillers = {"L": place}
    if sentence.object:
        fillers |= {"O": noun_phrase(sentence.object), "P": noun_phrase(sentence.object, is_bare=True)}
    return re.sub("[LOP]", lambda letter: fillers[letter[0]], pattern)


def _pattern(sentence: Sentence) -> str:
    """Return the pattern of the verb that suits the object."""
    usual, *others = sentence.verb.chinese.split()
    for other in others:
        objects, _, pattern = other.partition("=")
        if sentence.object and sentence.object.noun.english in objects.split(","):
            return pattern
    return usual


def _place(places: tuple[Place, ...]) -> str:
    """Return the wider place first: 公园里的一张长椅上."""
    found = []
    for place in reversed(places):
        after = chinese_words("places", place.phrase.noun)[place.english_preposition]
        found.append(noun_phrase(place.phrase, is_bare=True) + after)
    return "的".join(found)
