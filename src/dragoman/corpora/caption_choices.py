"""Words that go with a verb in a caption: objects, their determiners and adjectives, clothes, pronouns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from dragoman.corpora.caption_words import Adjective, Counting, Kind, Noun, Verb
from dragoman.corpora.captions import (
    BARE,
    BARE_PLURAL,
    NUMBERS,
    PRONOUNS,
    SEVERAL,
    THE,
    THE_PLURAL,
    THREE,
    TWO,
    A,
    Determiner,
    Pronoun,
)
from dragoman.corpora.captions_lexicon import nouns

_CLOTHED = "adults family children"
_CLOTHING = "shirt coat jacket sweater"
_NOT_YET = ("old", "hot")

#: Determiners in the singular, and in the plural.
Amounts = tuple[tuple[Determiner, ...], tuple[Determiner, ...]]

_OBJECTS: Final[Mapping[Counting, Amounts]] = MappingProxyType(
    {
        Counting.ANY: ((A, THE), (THE_PLURAL, BARE_PLURAL, TWO, THREE, SEVERAL)),
        Counting.FEW: ((A, THE), (THE_PLURAL, TWO, THREE, SEVERAL)),
        Counting.ONE: ((A, THE), ()),
        Counting.BULK: ((), (BARE_PLURAL,)),
        Counting.THE: ((THE,), ()),
        Counting.BARE: ((BARE,), ()),
    }
)


def subject_amounts(verb: Verb) -> Amounts:
    """Return the determiners that a subject of `verb` may have."""
    return (A, THE), (THE_PLURAL, TWO) if verb.cramped else (THE_PLURAL, *NUMBERS)


def object_amounts(verb: Verb, noun: Noun, plural_subject: bool) -> Amounts:
    """Return the determiners that `noun` may have as the object of `verb`."""
    if noun.kind is Kind.UNIQUE:
        return (THE,), ()
    if noun.kind is Kind.MASS:
        return ((BARE,) if verb.counting in (Counting.BULK, Counting.BARE) else (BARE, THE)), ()
    if noun.kind is Kind.PAIR:
        return (), ((THE_PLURAL,) if verb.counting is Counting.OWN else (BARE_PLURAL, THE_PLURAL))
    if verb.counting is Counting.OWN:
        return ((), (THE_PLURAL,)) if plural_subject else ((THE,), ())
    if verb.counting is Counting.SAME:
        return ((), (BARE_PLURAL,)) if plural_subject else ((A, THE), ())
    return _OBJECTS[verb.counting]


@cache
def objects_of(verb: Verb, *taken: Noun | None) -> list[Noun]:
    """Return the objects of a verb without nouns that the sentence already has: no man helps a man."""
    return [noun for noun in nouns(verb.what) if noun not in taken]


def garments_of(verb: Verb, subject: Noun | None) -> tuple[Noun, ...]:
    """Return clothes that may describe a subject: a man in a red shirt, but no horse, and nobody swims in one."""
    return nouns(_CLOTHING) if not verb.undressed and subject in nouns(_CLOTHED) else ()


def object_adjectives(verb: Verb, noun: Noun) -> tuple[Adjective, ...]:
    """Return the adjectives that an object may have.

    An instrument or game has none: one plays the guitar, not the old guitar. A thing in the making is not old or hot.
    """
    if verb.counting is Counting.BARE:
        return ()
    return tuple(adjective for adjective in noun.adjectives if not (verb.making and adjective.english in _NOT_YET))


@cache
def pronouns_of(verb: Verb) -> tuple[Pronoun, ...]:
    """Return the pronouns that may be the subject."""
    return PRONOUNS if set(nouns("adults")) <= set(nouns(verb.who)) else ()


def place_amounts(noun: Noun) -> Amounts:
    """Return the determiners of a place."""
    return ((THE,) if noun.kind is Kind.UNIQUE else (THE, A)), ()
