"""Facts about models, as their bundles have them, beside their shapes and searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle
from dragoman.text.learned_text import LearnedText, fewest_sentences
from dragoman.translator.confidence import Calibrations


@dataclass(frozen=True)
class ModelFacts:
    """Facts about the models of a translator."""

    #: Heads of the first model that align words; None is `AlignmentHeads.default`.
    alignment: AlignmentHeads | None = None
    #: Statistics of the training text.
    learned: LearnedText | None = None
    #: None for an ensemble, and for a model that is not calibrated.
    calibrations: Calibrations | None = None
    is_ensemble: bool = False

    @classmethod
    def of_bundles(cls, bundles: Sequence[Bundle], names: Sequence[str | Path]) -> Self:
        """Return what is known of models that translate together.

        Raises:
            BundleError: the facts of one of them are malformed.
        """
        first = bundles[0]
        texts = [LearnedText.of_bundle(bundle.facts, name) for name, bundle in zip(names, bundles, strict=True)]
        return cls(
            AlignmentHeads.of_bundle(first.facts, first.config, names[0]),
            fewest_sentences(texts),
            Calibrations.of_bundle(first.facts, names[0]) if len(bundles) == 1 else None,
            is_ensemble=len(bundles) > 1,
        )
