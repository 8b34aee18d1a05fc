"""One model from several of the same run: the mean of their weights (Polyak and Juditsky 1992)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Floats


class MeanWeights:
    """The mean of weights that arrive one model at a time; only their sum is kept."""

    def __init__(self) -> None:
        self._total: dict[str, NDArray[np.float64]] = {}
        self._n = 0

    def add(self, weights: Mapping[str, Floats]) -> None:
        """Add the weights of one more model, with the names and shapes of the first."""
        for name, weight in weights.items():
            self._total[name] = self._total.get(name, 0.0) + weight.astype(np.float64)
        self._n += 1

    def mean(self) -> dict[str, Floats]:
        """Return the mean of all models so far, by name."""
        return {name: (total / self._n).astype(np.float32) for name, total in self._total.items()}


def average_bundles(names: Sequence[str | Path], output: str | Path) -> None:
    """Write a bundle whose weights are the mean of the given bundles' weights, with the first one's search defaults.

    Its alignment heads come from the first bundle that has chosen heads. Its fact `average_of_steps` has the step of
    each bundle; a list of them for one that is an average itself, and None where it is not known.

    Raises:
        ConfigError: they differ in their configuration (except dropout) or in their tokenizer.
        BundleError: one of them cannot be loaded.
        RunFolderError: `output` exists or cannot be written.
    """
    first = load_bundle(names[0])
    weights, steps, lasting = MeanWeights(), [], first.lasting_facts
    for name, bundle in zip(names, chain([first], map(load_bundle, names[1:])), strict=True):
        same_model = bundle.config.computes_as(first.config)
        if not same_model or not bundle.tokenizers.equals(first.tokenizers):
            part = "tokenizer" if same_model else "model configuration"
            raise ConfigError(f"its {part} differs from that of {names[0]}", name, advice="average models of one run")
        weights.add(bundle.weights)
        steps.append(bundle.facts.get("step", bundle.facts.get("average_of_steps")))
        lasting = bundle.lasting_facts | lasting
    facts = {"average_of_steps": steps, **lasting}
    write_bundle(Path(output), replace(first, weights=weights.mean(), facts=facts))
