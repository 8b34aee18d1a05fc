"""Captions drawn at random, so that no word is rare."""

from __future__ import annotations

import random
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
from dragoman.corpora.captions import BARE_PLURAL, NounPhrase, Place, Pronoun, Sentence, colours
from dragoman.corpora.captions_lexicon import all_verbs, nouns, sites


def draw(generator: random.Random) -> Sentence:
    """Draw a sentence.

    At most one of subject and place has an adjective, and a person described by clothes does not also get a place
    that the verb can do without, so a sentence has at most fourteen words.
    """
    verb = generator.choices(all_verbs(), weights=_verb_weights())[0]
    subject, clothing = _draw_subject(verb, generator)
    subject_noun = subject.noun if isinstance(subject, NounPhrase) else None
    phrase = None
    if verb.what:
        objects = objects_of(verb, subject_noun, clothing.noun if clothing else None)
        noun = generator.choices(objects, weights=[_share(noun) for noun in objects])[0]
        phrase = _draw_phrase(
            noun, object_amounts(verb, noun, subject.plural), object_adjectives(verb, noun), generator
        )
    taken = {subject_noun, phrase.noun if phrase else None}
    bare = isinstance(subject, Pronoun) or subject.adjective is None
    places: list[Place] = []
    if verb.where and (verb.needs_place or (not clothing and generator.random() < 0.5)):
        places.append(_draw_place(verb.where, taken, bare and not clothing, generator))
        if verb.setting and not clothing and generator.random() < 0.5:
            places.append(_draw_place(verb.setting, taken | {places[0].phrase.noun}, False, generator))
    return Sentence(verb, subject, clothing, phrase, tuple(places))


def _draw_subject(verb: Verb, generator: random.Random) -> tuple[NounPhrase | Pronoun, NounPhrase | None]:
    """Draw a subject and clothes; only a subject without an adjective has any."""
    pronouns = pronouns_of(verb)
    if pronouns and generator.random() < 0.15:
        return generator.choice(pronouns), None
    noun = generator.choice(nouns(verb.who))
    subject = _draw_phrase(noun, subject_amounts(verb), noun.adjectives, generator)
    garments = garments_of(verb, noun)
    if subject.adjective or not garments or generator.random() < 0.7:
        return subject, None
    garment = generator.choice(garments)
    colour = generator.choice(colours(garment.adjectives))
    return subject, NounPhrase(garment, BARE_PLURAL if subject.plural else subject.determiner, colour)


def _draw_phrase(noun: Noun, amounts: Amounts, suits: tuple[Adjective, ...], generator: random.Random) -> NounPhrase:
    """Draw a noun phrase: singular twice as often as plural where both fit, with an adjective every other time."""
    singular, plural = amounts
    determiners = singular if singular and (not plural or generator.random() < 2 / 3) else plural
    adjective = None
    if suits and generator.random() < 0.5:
        shades = colours(suits)
        others = [adjective for adjective in suits if not adjective.is_colour]
        adjective = generator.choice(shades if shades and (not others or generator.random() < 0.5) else others)
    return NounPhrase(noun, generator.choice(determiners), adjective)


def _draw_place(kinds: str, taken: set[Noun | None], adorned: bool, generator: random.Random) -> Place:
    site = generator.choice([site for site in sites(kinds) if site.noun not in taken])
    suits = site.noun.adjectives if adorned else ()
    phrase = _draw_phrase(site.noun, place_amounts(site.noun), suits, generator)
    return Place(site.english, site.german, phrase)


@cache
def _share(noun: Noun) -> float:
    """Return the share of a noun for each verb that takes it as object, so that all nouns are equally frequent."""
    return 1 / sum(noun in nouns(verb.what) for verb in all_verbs())


@cache
def _verb_weights() -> tuple[float, ...]:
    return tuple(1 + sum(_share(noun) for noun in nouns(verb.what)) for verb in all_verbs())
