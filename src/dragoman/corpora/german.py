"""German endings: articles, the three declensions of adjectives, and contractions of a preposition and an article."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Final


class Case(Enum):
    """Cases that captions need; the genitive is not among them."""

    NOMINATIVE = "nominative"
    ACCUSATIVE = "accusative"
    DATIVE = "dative"


class Form(IntEnum):
    """Columns of the tables of endings. Plurals have no gender, so they are the fourth column."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


class Declension(Enum):
    """Set of endings that an adjective takes, by the word before it."""

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
