"""Words of two languages with one meaning, and their use in sentences.

Each word exists once, so words are compared by identity (eq=False), which also makes their sets quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dragoman.corpora.german import Case, Form


@dataclass(frozen=True, eq=False)
class Adjective:
    """Two adjectives of one meaning.

    Args:
        stem: the German form that takes endings: "hoh" for "hoch".
    """

    english: str
    stem: str
    is_colour: bool = False

    def german(self, ending: str) -> str:
        """Return the German form with an ending; "rosa" takes none."""
        if self.stem.endswith("a"):
            return self.stem
        return self.stem.removesuffix("e") + ending


class Kind(Enum):
    """Ways to count a noun."""

    COUNT = ""  # a dog, two dogs
    MASS = "mass"  # coffee, the coffee
    PAIR = "pair"  # shoes, the shoes
    UNIQUE = "unique"  # the sea


@dataclass(frozen=True, eq=False)
class Noun:
    """Two nouns of one meaning, and the adjectives that suit them.

    Args:
        oblique: the German singular outside the nominative: weak nouns change there (der Junge, den Jungen).
    """

    english: str
    english_plural: str
    gender: Form
    german: str
    german_plural: str
    oblique: str
    kind: Kind
    adjectives: tuple[Adjective, ...]

    def decline(self, case: Case, plural: bool) -> str:
        """Return the German form."""
        if not plural:
            return self.german if case is Case.NOMINATIVE else self.oblique
        needs_n = case is Case.DATIVE and not self.german_plural.endswith(("n", "s"))
        return self.german_plural + "n" * needs_n


class Counting(Enum):
    """Numbers of objects that a verb takes."""

    ANY = "a box, the boxes, two boxes, boxes"
    FEW = "a box, the boxes, two boxes"
    ONE = "a book, the book"
    OWN = "a man takes off the coat, two men the coats"
    SAME = "a man wears a hat, two men wear hats"
    BULK = "flowers, rice"
    THE = "the kitchen"
    BARE = "soccer; the guitar, where German has no article either"


@dataclass(frozen=True, eq=False)
class Verb:
    """Two verbs of one meaning, and the words that make a sensible scene with them.

    Args:
        english: the progressive with its preposition.
        singular: the German form for one subject.
        plural: the German form for several.
        who: subjects, nouns or groups of nouns.
        what: objects, nouns or groups of nouns.
        where: groups of places.
        case: of the German object, and with `preposition`.
        particle: closes the German sentence: a separable prefix, "spazieren", "in der Hand".
        setting: groups of wider places around the first: on a bench in the park.
        chinese: a pattern, and others for some objects; see `chinese`.
    """

    english: str
    singular: str
    plural: str
    who: str
    what: str = ""
    where: str = ""
    counting: Counting = Counting.ANY
    case: Case = Case.ACCUSATIVE
    preposition: str = ""
    reflexive: bool = False
    particle: str = ""
    cramped: bool = False  # six would not fit: on a sofa, into a taxi
    undressed: bool = False  # a coat would surprise: in the sea
    making: bool = False  # the object does not exist yet: nobody builds an old house
    needs_place: bool = False  # without one, "is sitting" says too little
    setting: str = ""
    chinese: str = ""


@dataclass(frozen=True)
class Site:
    """A preposition in both languages and a noun that goes with it."""

    english: str
    german: str
    noun: Noun
