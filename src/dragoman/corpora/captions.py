"""A synchronous grammar, English to German, of everyday scenes: who does what, where, how many, which colour.

One tree, a `Sentence`, is read out twice: once by the rules of English, once by the rules of German (gender, case,
number, the three adjective declensions, weak nouns, separable verbs, contractions, word order). Every English
sentence has exactly one tree and so exactly one translation.

The room owns the grammar; its words are in `captions_lexicon`, and which sentences train and which test is decided
in `synthetic`. Order of reading: German endings; phrases; the sentence; drawing and counting.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final

from dragoman.corpora.captions_lexicon import VERBS, Adjective, Case, Counting, Form, Kind, Noun, Verb, nouns, sites

# ---------------------------------------------------------------------------------------------- German endings


class Declension(Enum):
    """What stands before an adjective decides how much its ending has to show."""

    WEAK = "after the definite article"
    MIXED = "after the indefinite article"
    STRONG = "after a number, or with no article"


Table = Mapping[Case, tuple[str, str, str, str]]

ARTICLES: Final[Mapping[Declension, Table]] = MappingProxyType(
    {
        Declension.WEAK: {
            Case.NOMINATIVE: ("der", "die", "das", "die"),
            Case.ACCUSATIVE: ("den", "die", "das", "die"),
            Case.DATIVE: ("dem", "der", "dem", "den"),
        },
        Declension.MIXED: {
            Case.NOMINATIVE: ("ein", "eine", "ein", ""),
            Case.ACCUSATIVE: ("einen", "eine", "ein", ""),
            Case.DATIVE: ("einem", "einer", "einem", ""),
        },
    }
)

ADJECTIVE_ENDINGS: Final[Mapping[Declension, Table]] = MappingProxyType(
    {
        Declension.WEAK: {
            Case.NOMINATIVE: ("e", "e", "e", "en"),
            Case.ACCUSATIVE: ("en", "e", "e", "en"),
            Case.DATIVE: ("en", "en", "en", "en"),
        },
        Declension.MIXED: {
            Case.NOMINATIVE: ("er", "e", "es", ""),
            Case.ACCUSATIVE: ("en", "e", "es", ""),
            Case.DATIVE: ("en", "en", "en", ""),
        },
        Declension.STRONG: {
            Case.NOMINATIVE: ("er", "e", "es", "e"),
            Case.ACCUSATIVE: ("en", "e", "es", "e"),
            Case.DATIVE: ("em", "er", "em", "en"),
        },
    }
)

CONTRACTIONS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("an", "dem"): "am",
        ("in", "dem"): "im",
        ("zu", "dem"): "zum",
        ("zu", "der"): "zur",
        ("in", "das"): "ins",
    }
)

# ----------------------------------------------------------------------------------------------------- phrases


@dataclass(frozen=True, eq=False)
class Determiner:
    """An article, a number, or nothing. `german` is empty for articles, which the tables supply."""

    english: str
    german: str
    declension: Declension
    plural: bool = False

    def decline(self, case: Case, form: Form) -> str:
        """The article, or the number; of the numbers only those in -e (viele, mehrere) take an ending."""
        if self.declension in ARTICLES:
            return ARTICLES[self.declension][case][form]
        return self.german + "n" * (case is Case.DATIVE and self.german.endswith("e"))


A: Final = Determiner("a", "", Declension.MIXED)
THE: Final = Determiner("the", "", Declension.WEAK)
BARE: Final = Determiner("", "", Declension.STRONG)
THE_PLURAL: Final = Determiner("the", "", Declension.WEAK, plural=True)
BARE_PLURAL: Final = Determiner("", "", Declension.STRONG, plural=True)
NUMBERS: Final = tuple(
    Determiner(english, german, Declension.STRONG, plural=True)
    for english, german in (
        ("two", "zwei"),
        ("three", "drei"),
        ("four", "vier"),
        ("five", "fünf"),
        ("six", "sechs"),
        ("several", "mehrere"),
        ("many", "viele"),
    )
)
TWO, THREE, SEVERAL = NUMBERS[0], NUMBERS[1], NUMBERS[5]


@dataclass(frozen=True)
class Pronoun:
    """The subject of a caption that has named the person before."""

    english: str
    german: str
    plural: bool


PRONOUNS: Final = (Pronoun("he", "er", False), Pronoun("she", "sie", False), Pronoun("they", "sie", True))


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its determiner and perhaps an adjective: the place where German endings are decided."""

    noun: Noun
    determiner: Determiner
    adjective: Adjective | None = None

    @property
    def plural(self) -> bool:
        return self.determiner.plural

    def english(self) -> str:
        noun = self.noun.english_plural if self.plural else self.noun.english
        words = [self.adjective.english, noun] if self.adjective else [noun]
        article = "an" if self.determiner is A and words[0][0] in "aeiou" else self.determiner.english
        return " ".join(filter(None, [article, *words]))

    def german(self, case: Case, preposition: str = "") -> str:
        form = Form.PLURAL if self.plural else self.noun.gender
        article = self.determiner.decline(case, form)
        head = CONTRACTIONS.get((preposition, article)) or f"{preposition} {article}".strip()
        ending = ADJECTIVE_ENDINGS[self.determiner.declension][case][form]
        adjective = self.adjective.german(ending) if self.adjective else ""
        return " ".join(filter(None, [head, adjective, self.noun.decline(case, self.plural)]))


@dataclass(frozen=True)
class Place:
    """Where it happens: a preposition and a noun phrase, in German always the dative of rest."""

    english_preposition: str
    german_preposition: str
    phrase: NounPhrase

    def english(self) -> str:
        return f"{self.english_preposition} {self.phrase.english()}"

    def german(self) -> str:
        return self.phrase.german(Case.DATIVE, self.german_preposition)


# ------------------------------------------------------------------------------------------------ the sentence


@dataclass(frozen=True)
class Sentence:
    """The tree that both languages read out. `clothing` belongs to the subject: a man in a red shirt."""

    verb: Verb
    subject: NounPhrase | Pronoun
    clothing: NounPhrase | None = None
    object: NounPhrase | None = None
    places: tuple[Place, ...] = ()

    def english(self) -> str:
        words = [self.subject.english if isinstance(self.subject, Pronoun) else self.subject.english()]
        if self.clothing:
            words += ["in", self.clothing.english()]
        words += ["are" if self.subject.plural else "is", self.verb.english]
        if self.object:
            words.append(self.object.english())
        words += [place.english() for place in self.places]
        return _written(words)

    def german(self) -> str:
        """The finite verb comes second and its particle last; what is already known stands before what is new, so
        a definite object precedes the place (liest das Buch im Park), any other follows it (liest im Park ein Buch).
        """
        verb = self.verb
        words = [self.subject.german if isinstance(self.subject, Pronoun) else self.subject.german(Case.NOMINATIVE)]
        if self.clothing:
            words.append(self.clothing.german(Case.DATIVE, "in"))
        words.append(verb.plural if self.subject.plural else verb.singular)
        if verb.reflexive:
            words.append("sich")
        middle = [place.german() for place in self.places]
        if self.object:
            known = self.object.determiner.declension is Declension.WEAK and not verb.preposition
            middle.insert(0 if known else len(middle), self.object.german(verb.case, verb.preposition))
        return _written([*words, *middle, verb.particle])

    def combinations(self) -> Iterator[tuple[str, str]]:
        """The (subject noun, verb) and (colour, noun) pairs in this sentence that a test may ask for unseen.

        A verb with few subjects or a noun with few colours yields none: without that pair, training would hardly
        show the word at all.
        """
        if isinstance(self.subject, NounPhrase) and len(nouns(self.verb.who)) >= _ENOUGH_COMPANY:
            yield self.subject.noun.english, self.verb.english
        for phrase in (self.subject, self.clothing, self.object, *(place.phrase for place in self.places)):
            if not isinstance(phrase, NounPhrase) or phrase.adjective is None or not phrase.adjective.is_colour:
                continue
            if len(_colours(phrase.noun.adjectives)) >= _ENOUGH_COMPANY:
                yield phrase.adjective.english, phrase.noun.english


_ENOUGH_COMPANY = 6


def _written(words: list[str]) -> str:
    text = " ".join(filter(None, words))
    return text[0].upper() + text[1:] + "."


# ---------------------------------------------------------------------------------------- drawing and counting

_CLOTHED = "adults family children"
_CLOTHING = "shirt coat jacket sweater"
_NOT_YET = ("old", "hot")

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


def _subject_amounts(verb: Verb) -> Amounts:
    return (A, THE), (THE_PLURAL, *NUMBERS) if verb.crowd else (THE_PLURAL, TWO)


def _amounts(verb: Verb, noun: Noun, plural_subject: bool) -> Amounts:
    """The determiners, singular and plural, under which `noun` can be the object of `verb`."""
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
def _objects(verb: Verb, *taken: Noun | None) -> list[Noun]:
    """What the verb can act on, without nouns that the sentence has already: no man helps a man."""
    return [noun for noun in nouns(verb.what) if noun not in taken]


def _clothing(verb: Verb, subject: Noun | None) -> tuple[Noun, ...]:
    """What describes a person who does this: a man in a red shirt, but no horse in one, and nobody swims in one."""
    return nouns(_CLOTHING) if verb.dressed and subject in nouns(_CLOTHED) else ()


def _suits(verb: Verb, noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives an object may have.

    What is played has none: playing the guitar, not the old guitar. What is being made is not old or hot yet.
    """
    if verb.counting is Counting.BARE:
        return ()
    return tuple(adjective for adjective in noun.adjectives if not (verb.making and adjective.english in _NOT_YET))


@cache
def _pronouns(verb: Verb) -> tuple[Pronoun, ...]:
    return PRONOUNS if set(nouns("adults")) <= set(nouns(verb.who)) else ()


def draw(generator: random.Random, verbs: tuple[Verb, ...] = VERBS) -> Sentence:
    """One sentence, drawn so that no word is rare.

    At most one of subject and place has an adjective, and a person described by clothes does not also get a place
    that the verb can do without, so a sentence has at most fourteen words.
    """
    verb = generator.choices(verbs, weights=_verb_weights(verbs))[0]
    subject, clothing = _draw_subject(verb, generator)
    subject_noun = subject.noun if isinstance(subject, NounPhrase) else None
    phrase = None
    if verb.what:
        objects = _objects(verb, subject_noun, clothing.noun if clothing else None)
        noun = generator.choices(objects, weights=[_share(noun) for noun in objects])[0]
        phrase = _draw_phrase(noun, _amounts(verb, noun, subject.plural), _suits(verb, noun), generator)
    taken = {subject_noun, phrase.noun if phrase else None}
    bare = isinstance(subject, Pronoun) or subject.adjective is None
    places: list[Place] = []
    if verb.where and (verb.needs_place or (not clothing and generator.random() < 0.5)):
        places.append(_draw_place(verb.where, taken, bare and not clothing, generator))
        if verb.setting and not clothing and generator.random() < 0.5:
            places.append(_draw_place(verb.setting, taken | {places[0].phrase.noun}, False, generator))
    return Sentence(verb, subject, clothing, phrase, tuple(places))


def _draw_subject(verb: Verb, generator: random.Random) -> tuple[NounPhrase | Pronoun, NounPhrase | None]:
    """The subject, and what the person wears; only one without an adjective is described by clothes."""
    pronouns = _pronouns(verb)
    if pronouns and generator.random() < 0.15:
        return generator.choice(pronouns), None
    noun = generator.choice(nouns(verb.who))
    subject = _draw_phrase(noun, _subject_amounts(verb), noun.adjectives, generator)
    garments = _clothing(verb, noun)
    if subject.adjective or not garments or generator.random() < 0.7:
        return subject, None
    garment = generator.choice(garments)
    colour = generator.choice(_colours(garment.adjectives))
    return subject, NounPhrase(garment, BARE_PLURAL if subject.plural else subject.determiner, colour)


def _draw_phrase(noun: Noun, amounts: Amounts, suits: tuple[Adjective, ...], generator: random.Random) -> NounPhrase:
    """A noun phrase: twice as often singular as plural where both are possible; every other one has an adjective."""
    singular, plural = amounts
    determiners = singular if singular and (not plural or generator.random() < 2 / 3) else plural
    adjective = None
    if suits and generator.random() < 0.5:
        colours = _colours(suits)
        others = [adjective for adjective in suits if not adjective.is_colour]
        adjective = generator.choice(colours if colours and (not others or generator.random() < 0.5) else others)
    return NounPhrase(noun, generator.choice(determiners), adjective)


def _draw_place(kinds: str, taken: set[Noun | None], adorned: bool, generator: random.Random) -> Place:
    site = generator.choice([site for site in sites(kinds) if site.noun not in taken])
    suits = site.noun.adjectives if adorned else ()
    phrase = _draw_phrase(site.noun, _place_amounts(site.noun), suits, generator)
    return Place(site.english, site.german, phrase)


def _place_amounts(noun: Noun) -> Amounts:
    return ((THE,) if noun.kind is Kind.UNIQUE else (THE, A)), ()


def _colours(suits: tuple[Adjective, ...]) -> list[Adjective]:
    return [adjective for adjective in suits if adjective.is_colour]


@cache
def _share(noun: Noun) -> float:
    """A noun divides itself evenly among the verbs that take it as object, so all nouns are met about as often."""
    return 1 / sum(noun in nouns(verb.what) for verb in VERBS)


@cache
def _verb_weights(verbs: tuple[Verb, ...]) -> tuple[float, ...]:
    return tuple(1 + sum(_share(noun) for noun in nouns(verb.what)) for verb in verbs)


def captions_vocabulary() -> tuple[str, ...]:
    """The English content words (nouns, verbs, adjectives, numbers), each once and in its dictionary form or -ing."""
    found = {determiner.english for determiner in NUMBERS}
    for verb in VERBS:
        found.add(verb.english.split()[0])
        company = {*nouns(verb.who), *nouns(verb.what), *(site.noun for site in sites(f"{verb.where} {verb.setting}"))}
        for noun in company:
            found |= {noun.english, *(adjective.english for adjective in noun.adjectives)}
    return tuple(sorted(found))


@cache
def captions_size(verbs: tuple[Verb, ...] = VERBS) -> int:
    """The number of distinct English sentences, counted verb by verb from the number of choices at each step."""
    return sum(
        _count_with_subject(verb, noun, plural)
        for verb in verbs
        for plural in (False, True)
        for noun in (None, *nouns(verb.who))
    )


def _count_with_subject(verb: Verb, subject: Noun | None, plural: bool) -> int:
    """Sentences of `verb` whose subject is this noun, or a pronoun if None, in the singular or the plural."""
    if subject is None:
        bare, adorned = sum(pronoun.plural == plural for pronoun in _pronouns(verb)), 0
    else:
        bare = len(_subject_amounts(verb)[plural])
        adorned = bare * len(subject.adjectives)
    total = 0
    for noun in _objects(verb, subject) if verb.what else [None]:
        phrases = _count_phrases(_amounts(verb, noun, plural), _suits(verb, noun)) if noun else 1
        taken = frozenset({subject, noun})
        clothed = bare * sum(
            len(_colours(garment.adjectives)) for garment in _clothing(verb, subject) if garment is not noun
        )
        total += phrases * bare * _count_places(verb, taken, adorned=True, settings=True)
        total += phrases * adorned * _count_places(verb, taken, adorned=False, settings=True)
        total += phrases * clothed * _count_places(verb, taken, adorned=False, settings=False)
    return total


def _count_phrases(amounts: Amounts, suits: tuple[Adjective, ...]) -> int:
    return sum(map(len, amounts)) * (1 + len(suits))


@cache
def _count_places(verb: Verb, taken: frozenset[Noun | None], adorned: bool, settings: bool) -> int:
    """The ways a sentence can go on after its object, including not at all where the verb allows it."""
    count = 0 if verb.needs_place else 1
    if not (verb.needs_place or settings):
        return count
    for site in sites(verb.where):
        if site.noun not in taken:
            around = [wider for wider in sites(verb.setting) if wider.noun not in taken | {site.noun}]
            second = sum(_count_phrases(_place_amounts(wider.noun), ()) for wider in around) if settings else 0
            suits = site.noun.adjectives if adorned else ()
            count += _count_phrases(_place_amounts(site.noun), suits) * (1 + second)
    return count
