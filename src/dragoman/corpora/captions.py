"""Grammar of the captions, English and German: everyday scenes with people, actions, places, numbers and colours.

One tree, a `Sentence`, is read out by the rules of English, and by the rules of German: gender, case, number, the three
declensions of adjectives, weak nouns, separable verbs, contractions, word order. Every English sentence has exactly one
tree, and so exactly one translation. The words are in `captions_lexicon`; `synthetic` decides which sentences train and
which test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dragoman.corpora.caption_words import Adjective, Noun, Verb
from dragoman.corpora.captions_lexicon import nouns
from dragoman.corpora.german import ADJECTIVE_ENDINGS, ARTICLES, CONTRACTIONS, Case, Declension, Form

#: Fewer subjects of a verb, or fewer colours of a noun, are too few to keep one from training.
_MIN_COMPANY = 6


@dataclass(frozen=True, eq=False)
class Determiner:
    """An article, a number, or nothing; the German articles are in tables, so `german` is empty."""

    english: str
    german: str
    declension: Declension
    plural: bool = False

    def decline(self, case: Case, form: Form) -> str:
        """Return the German form; of the numbers, only those in -e (viele, mehrere) take an ending."""
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
    """A pronoun as subject."""

    english: str
    german: str
    plural: bool


PRONOUNS: Final = (Pronoun("he", "er", False), Pronoun("she", "sie", False), Pronoun("they", "sie", True))


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its determiner and perhaps an adjective; here German endings are decided."""

    noun: Noun
    determiner: Determiner
    adjective: Adjective | None = None

    @property
    def plural(self) -> bool:
        """True if the determiner is plural."""
        return self.determiner.plural

    def english(self) -> str:
        """Return the English words."""
        noun = self.noun.english_plural if self.plural else self.noun.english
        words = [self.adjective.english, noun] if self.adjective else [noun]
        article = "an" if self.determiner is A and words[0][0] in "aeiou" else self.determiner.english
        return " ".join(filter(None, [article, *words]))

    def german(self, case: Case, preposition: str = "") -> str:
        """Return the German words, after a preposition if there is one."""
        form = Form.PLURAL if self.plural else self.noun.gender
        article = self.determiner.decline(case, form)
        head = CONTRACTIONS.get((preposition, article)) or f"{preposition} {article}".strip()
        ending = ADJECTIVE_ENDINGS[self.determiner.declension][case][form]
        adjective = self.adjective.german(ending) if self.adjective else ""
        return " ".join(filter(None, [head, adjective, self.noun.decline(case, self.plural)]))


@dataclass(frozen=True)
class Place:
    """A preposition and a noun phrase, in German always in the dative of rest."""

    english_preposition: str
    german_preposition: str
    phrase: NounPhrase

    def english(self) -> str:
        """Return the English words."""
        return f"{self.english_preposition} {self.phrase.english()}"

    def german(self) -> str:
        """Return the German words."""
        return self.phrase.german(Case.DATIVE, self.german_preposition)


@dataclass(frozen=True)
class Sentence:
    """A tree that both languages read out. `clothing` belongs to the subject: a man in a red shirt."""

    verb: Verb
    subject: NounPhrase | Pronoun
    clothing: NounPhrase | None = None
    object: NounPhrase | None = None
    places: tuple[Place, ...] = ()

    def english(self) -> str:
        """Return the English words."""
        words = [self.subject.english if isinstance(self.subject, Pronoun) else self.subject.english()]
        if self.clothing:
            words += ["in", self.clothing.english()]
        words += ["are" if self.subject.plural else "is", self.verb.english]
        if self.object:
            words.append(self.object.english())
        words += [place.english() for place in self.places]
        return _as_sentence(words)

    def german(self) -> str:
        """Return the German sentence.

        The finite verb comes second, its particle last. Known information precedes new information: a definite object
        precedes the place (liest das Buch im Park), any other follows it (liest im Park ein Buch).
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
        return _as_sentence([*words, *middle, verb.particle])

    def combinations(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of subject noun and verb, and of colour and noun, that a test may ask for unseen.

        A verb with few subjects or a noun with few colours yields none: without that pair, training would hardly
        show the word at all.
        """
        if isinstance(self.subject, NounPhrase) and len(nouns(self.verb.who)) >= _MIN_COMPANY:
            yield self.subject.noun.english, self.verb.english
        for phrase in (self.subject, self.clothing, self.object, *(place.phrase for place in self.places)):
            if not isinstance(phrase, NounPhrase) or phrase.adjective is None or not phrase.adjective.is_colour:
                continue
            if len(colours(phrase.noun.adjectives)) >= _MIN_COMPANY:
                yield phrase.adjective.english, phrase.noun.english


def _as_sentence(words: list[str]) -> str:
    text = " ".join(filter(None, words))
    return text[0].upper() + text[1:] + "."


def colours(adjectives: tuple[Adjective, ...]) -> list[Adjective]:
    """Return the colours among some adjectives."""
    return [adjective for adjective in adjectives if adjective.is_colour]
