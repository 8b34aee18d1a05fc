"""Ways from one language to another: by one model, or by two through a common language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from dragoman.text.languages import english_name, find_code
from dragoman.text.tags import Direction

#: LibreTranslate's codes that mean the same.
_ALIASES = {"zh": "zh-Hans", "zt": "zh-Hant", "pb": "pt-BR"}
_SAME = _ALIASES | {long: short for short, long in _ALIASES.items()}
#: Codes that never stand for another variety of their language.
_EXACT = frozenset(("zt", "zh-hant", "zh-tw", "zh-hk", "pb", "pt-br"))


@dataclass(frozen=True)
class Leg:
    """A translation by one model."""

    model: str
    source: str
    target: str


class Directory:
    """The languages of some models.

    Args:
        directions: of each model, by its name, in the order in which models are preferred.
    """

    def __init__(self, directions: Mapping[str, Sequence[Direction]]) -> None:
        self._legs: dict[Direction, Leg] = {}
        for model, pairs in directions.items():
            for source, target in pairs:
                self._legs.setdefault((source, target), Leg(model, source, target))
        #: Each language that is a source or a target.
        self.languages = list(dict.fromkeys(code for direction in self._legs for code in direction))
        self._middles = sorted(self.languages, key=lambda code: code != "en")

    def find(self, code: str) -> str | None:
        """Return a language as the models name it, given its code in any case or LibreTranslate's alias."""
        by_lower = {each.lower(): each for each in self.languages}
        lower = code.strip().lower()
        aliases = {name.lower(): other.lower() for name, other in _SAME.items()}
        found = by_lower.get(lower) or by_lower.get(aliases.get(lower, ""))
        return found if found or lower in _EXACT else find_code(code.strip(), self.languages)

    def route(self, source: str, target: str) -> list[Leg] | None:
        """Return the translations that lead from one language to the other; None if there is no way.

        There are none for equal languages, and two if no model translates directly: through English, or else through
        the language that comes first.
        """
        if source == target:
            return []
        if direct := self._legs.get((source, target)):
            return [direct]
        for middle in self._middles:
            first, second = self._legs.get((source, middle)), self._legs.get((middle, target))
            if first and second:
                return [first, second]
        return None

    def describe(self) -> list[dict[str, Any]]:
        """Return the languages as LibreTranslate lists them."""
        return [{"code": code, "name": english_name(code), "targets": self.targets(code)} for code in self.languages]

    def goals(self) -> list[str]:
        """Return the languages that another one can be translated into."""
        return [target for target in self.languages if any(self.route(source, target) for source in self.languages)]

    def targets(self, source: str) -> list[str]:
        """Return the languages that a language can be translated into; itself, too, as LibreTranslate has it."""
        return sorted(target for target in self.languages if self.route(source, target) is not None)

    def directions(self, source: str = "", target: str = "") -> list[Direction]:
        """Return the directions that the models have: those from `source` and into `target`, if they are named."""
        sources, targets = ([code] if code else self.languages for code in (source, target))
        return [direction for direction in product(sources, targets) if direction in self._legs]

    def pairs(self) -> list[Direction]:
        """Return each direction in which a text can be translated, through another language, too."""
        return [(code, target) for code in self.languages for target in self.targets(code) if code != target]
