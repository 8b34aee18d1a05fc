"""Number of the captions, and their vocabulary."""

from __future__ import annotations

from functools import cache

from dragoman.corpora.caption_choices import (
    Amounts,
    garments_of,
    object_adjectives,
    object_amounts,
    objects_of,
    place_amounts,
    pronouns_of,
    subject_amounts,
)
from dragoman.corpora.caption_words import Adjective, Noun, Verb
from dragoman.corpora.captions import NUMBERS, colours
from dragoman.corpora.captions_lexicon import all_verbs, nouns, sites


def captions_vocabulary() -> tuple[str, ...]:
    """Return the English nouns, verbs, adjectives and numbers, each once, in the dictionary form or in -ing."""
    found = {determiner.english for determiner in NUMBERS}
    for verb in all_verbs():
        found.add(verb.english.split()[0])
        company = {*nouns(verb.who), *nouns(verb.what), *(site.noun for site in sites(f"{verb.where} {verb.setting}"))}
        for noun in company:
            found |= {noun.english, *(adjective.english for adjective in noun.adjectives)}
    return tuple(sorted(found))


@cache
def captions_size(verbs: tuple[Verb, ...] | None = None) -> int:
    """Count the distinct English sentences, verb by verb, from the number of choices at each step."""
    return sum(
        _count_with_subject(verb, noun, plural)
        for verb in (all_verbs() if verbs is None else verbs)
        for plural in (False, True)
        for noun in (None, *nouns(verb.who))
    )


def _count_with_subject(verb: Verb, subject: Noun | None, plural: bool) -> int:
    """Count the sentences of a verb with this noun as subject, or with a pronoun if None."""
    if subject is None:
        bare, adorned = sum(pronoun.plural == plural for pronoun in pronouns_of(verb)), 0
    else:
        bare = len(subject_amounts(verb)[plural])
        adorned = bare * len(subject.adjectives)
    total = 0
    for noun in objects_of(verb, subject) if verb.what else [None]:
        phrases = _count_phrases(object_amounts(verb, noun, plural), object_adjectives(verb, noun)) if noun else 1
        taken = frozenset({subject, noun})
        clothed = bare * sum(
            len(colours(garment.adjectives)) for garment in garments_of(verb, subject) if garment is not noun
        )
        total += phrases * bare * _count_places(verb, taken, adorned=True, settings=True)
        total += phrases * adorned * _count_places(verb, taken, adorned=False, settings=True)
        total += phrases * clothed * _count_places(verb, taken, adorned=False, settings=False)
    return total


def _count_phrases(amounts: Amounts, suits: tuple[Adjective, ...]) -> int:
    return sum(map(len, amounts)) * (1 + len(suits))


@cache
def _count_places(verb: Verb, taken: frozenset[Noun | None], adorned: bool, settings: bool) -> int:
    """Count the ways in which a sentence may go on after its object; to end is one, if the verb allows it."""
    count = 0 if verb.needs_place else 1
    if not (verb.needs_place or settings):
        return count
    for site in sites(verb.where):
        if site.noun not in taken:
            around = [wider for wider in sites(verb.setting) if wider.noun not in taken | {site.noun}]
            second = sum(_count_phrases(place_amounts(wider.noun), ()) for wider in around) if settings else 0
            suits = site.noun.adjectives if adorned else ()
            count += _count_phrases(place_amounts(site.noun), suits) * (1 + second)
    return count
