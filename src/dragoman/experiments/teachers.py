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
    #: (source, target) of the text; None is the only direction of the models.
    direction: Direction | None = None

    @classmethod
    def load(
        cls,
        names: Sequence[str],
        *,
        backward: bool = False,
        device: str = "auto",
        workers: int = 1,
        precision: Precision = "float32",
        direction: tuple[str | None, str | None] = (None, None),
    ) -> Teacher:
        """Load models, several as an ensemble.

        Args:
            device, workers, precision: as for `Translator.load`.
            direction: (source, target) of the text; open where None.

        Raises:
            ConfigError: as `Translator.load`; or the models do not translate in this direction, or in several.
        """
        translator = Translator.load(*names, device=device, workers=workers, precision=precision)
        fingerprints = tuple(sha256(find_bundle(name) / MANIFEST) for name in names)
        if len(translator.directions) == 1:
            translator.translate([], **_languages(direction[::-1] if backward else direction))
            return cls(" + ".join(names), translator, backward, fingerprints, precision)
        source, target = direction
        if source is None or target is None:
            described = describe_directions(translator.directions)
            raise ConfigError(f"the model translates {described}", names[0], advice="give --source-lang, --target-lang")
        teacher = cls(" + ".join(names), translator, backward, fingerprints, precision, (source, target))
        translator.tagged("", **teacher.translates)
        return teacher

    @property
    def languages(self) -> tuple[str, str]:
        """(source, target) of the text that it adds to."""
        if self.direction is not None:
            return self.direction
        languages = self.translator.tokenizers.languages
        return languages[::-1] if self.backward else languages

    @property
    def translates(self) -> LanguageOptions:
        """The languages that it reads and writes, as options of a translation, if its models have several."""
        if self.direction is None:
            return LanguageOptions()
        return _languages(self.direction[::-1] if self.backward else self.direction)

    def side(self, pair: tuple[str, str]) -> str:
        """Return the side of a pair that it translates."""
        return pair[self.backward]

    def new_pair(self, pair: tuple[str, str], translation: str) -> tuple[str, str]:
        """Return a pair with its translation in place of what people wrote."""
        return (translation, pair[1]) if self.backward else (pair[0], translation)

    def record(self) -> dict[str, Any]:
        """Return what its text depends on. The precision is left out if it is float32, as before there was a choice."""
        precision = {} if self.precision == "float32" else {"precision": self.precision}
        direction = {} if self.direction is None else {"direction": list(self.direction)}
        return {"models": list(self.fingerprints), "backward": self.backward, **precision, **direction}


def _languages(direction: tuple[str | None, str | None]) -> LanguageOptions:
    source, target = direction
    return LanguageOptions(source_lang=source, target_lang=target)


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
