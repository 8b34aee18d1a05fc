"""The models that write training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.bundle.finding import find_bundle
from dragoman.errors import ConfigError
from dragoman.machine.devices import Precision
from dragoman.machine.files import sha256
from dragoman.machine.folders import MANIFEST
from dragoman.text.tags import Direction, describe_directions
from dragoman.translator import Translator
from dragoman.translator.options import LanguageOptions


@dataclass(frozen=True)
class Teacher:
    """One model, or an ensemble, that translates the text's sources; or, backward, its targets into new sources."""

    name: str
    translator: Translator
    backward: bool
    #: SHA-256 of each model's manifest.
    fingerprints: tuple[str, ...]
    precision: Precision = "float32"
    #: (source, target) languages of the text, for a model of several directions; None for one that has no choice.
    direction: Direction | None = None

    @classmethod
    def load(
        cls,
        names: Sequence[str],
        *,
        backward: bool = False,
        direction: Direction | None = None,
        device: str = "auto",
        workers: int = 1,
        precision: Precision = "float32",
    ) -> Teacher:
        """Load models, several as an ensemble; other arguments are those of `Translator.load`.

        Args:
            backward: the models translate targets into sources.
            direction: the languages of the text, (source, target); None takes those of a model of one direction.

        Raises:
            ConfigError: the model has several directions, and none is given; or it does not translate in this one.
        """
        translator = Translator.load(*names, device=device, workers=workers, precision=precision)
        fingerprints = tuple(sha256(find_bundle(name) / MANIFEST) for name in names)
        directions = translator.tokenizers.directions
        if direction is None and len(directions) > 1:
            problem = f"the model has several directions: {describe_directions(directions)}"
            advice = "say the languages of the text: --source-lang and --target-lang"
            raise ConfigError(problem, " + ".join(names), advice=advice)
        teacher = cls(" + ".join(names), translator, backward, fingerprints, precision, direction)
        translator.tagged("", **teacher.request)
        return teacher

    @property
    def languages(self) -> tuple[str, str]:
        """(source, target) of the text that it adds to."""
        if self.direction is not None:
            return self.direction
        languages = self.translator.tokenizers.languages
        return languages[::-1] if self.backward else languages

    @property
    def request(self) -> LanguageOptions:
        """The languages to translate between, as options of `Translator.translate`."""
        if self.direction is None:
            return {}
        source, target = self.direction[::-1] if self.backward else self.direction
        return {"source_lang": source, "target_lang": target}

    def side(self, pair: tuple[str, str]) -> str:
        """Return the side of a pair that it translates."""
        return pair[self.backward]

    def new_pair(self, pair: tuple[str, str], translation: str) -> tuple[str, str]:
        """Return a pair with its translation in place of what people wrote."""
        return (translation, pair[1]) if self.backward else (pair[0], translation)

    def record(self) -> dict[str, Any]:
        """Return what its text depends on, as JSON."""
        direction = self.direction and list(self.direction)
        models = list(self.fingerprints)
        return {"models": models, "backward": self.backward, "precision": self.precision, "direction": direction}


def common_languages(teachers: Sequence[Teacher]) -> tuple[str, str]:
    """Return the languages of the text that all teachers add to.

    Raises:
        ConfigError: they differ.
    """
    first = teachers[0]
    for teacher in teachers[1:]:
        if teacher.languages != first.languages:
            what = f"it gives text of {'-'.join(teacher.languages)}, and {first.name} of {'-'.join(first.languages)}"
            advice = "give models of one pair of languages"
            if teacher.languages[::-1] == first.languages:
                other = "a model of the other direction is a --backward one"
                advice = "a model of the same direction is no --backward one" if teacher.backward else other
            raise ConfigError(what, teacher.name, advice=advice)
    return first.languages
