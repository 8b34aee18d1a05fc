"""Scores of one test set as it is and as people type it: in capitals, without final marks, with typos, and so on.

References are written with care. So translations and references are compared lower-cased, and without the marks,
spaces and emoji at their ends: a translation in capitals of a text in capitals is right.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from dragoman.data.perturbations import PERTURBATIONS
from dragoman.errors import ConfigError
from dragoman.evaluation.evaluation import Evaluation
from dragoman.evaluation.metrics import Metric, corpus_bleu, corpus_chrf
from dragoman.translator import TranslateOptions, Translator

#: The name of the test set without changes.
CLEAN = "clean"
#: Characters of an emoji that are no symbols themselves.
_EMOJI_PARTS = "\u200d\ufe0e\ufe0f\u20e3"


@dataclass(frozen=True)
class PerturbedScores:
    """The scores of a test set with one change made to its sources."""

    name: str
    #: Share of the sources that the change makes different, 0 to 1.
    changed: float
    #: BLEU and chrF2.
    metrics: tuple[Metric, ...]
    #: Each metric minus that of the clean test set.
    differences: tuple[float, ...]


def known_perturbations(names: Sequence[str]) -> list[str]:
    """Return names of changes, each once and without spaces around it; "all" is every one.

    Raises:
        ConfigError: a name is unknown.
    """
    names = [name.strip() for name in names]
    for name in names:
        if name not in PERTURBATIONS and name != "all":
            raise ConfigError(f"unknown perturbation {name!r}", advice=f"choose from {', '.join(PERTURBATIONS)}, all")
    return list(PERTURBATIONS) if "all" in names else list(dict.fromkeys(names))


def perturb(name: str, sources: Sequence[str], seed: int = 0) -> list[str]:
    """Return sources with a change made to each, a function of its name, the seed and the source alone."""
    change = PERTURBATIONS[name]
    return [change(source, np.random.default_rng(_key(seed, name, source))) for source in sources]


def _key(seed: int, name: str, source: str) -> int:
    digest = hashlib.sha256(f"{seed} {name} {source}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8])


def evaluate_perturbed(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    clean: Evaluation,
    names: Sequence[str],
    *,
    language: str,
    **options: Unpack[TranslateOptions],
) -> list[PerturbedScores]:
    """Return the scores of the clean test set, then those under each change.

    Args:
        clean: the evaluation of the same test set.
        names: of changes, as in `PERTURBATIONS`, or "all".
        language: of the references.
        options: as for `Translator.translate`.

    Raises:
        ConfigError: a name is unknown.
    """
    names = known_perturbations(names)
    expected = list(map(_plain, references))

    def metrics(translations: Sequence[str]) -> tuple[Metric, ...]:
        plain = list(map(_plain, translations))
        return corpus_bleu(plain, expected, language), corpus_chrf(plain, expected)

    base = metrics(clean.translations)
    scores = [PerturbedScores(CLEAN, 0.0, base, (0.0,) * len(base))]
    for name in names:
        texts = perturb(name, sources)
        n_changed = sum(text != source for text, source in zip(texts, sources, strict=True))
        found = metrics([translation.text for translation in translator.translate(texts, **options)])
        differences = tuple(one.score - other.score for one, other in zip(found, base, strict=True))
        scores.append(PerturbedScores(name, n_changed / len(texts), found, differences))
    return scores


def _plain(text: str) -> str:
    """Return the text lower-cased, without marks, spaces and symbols at its end."""
    end = len(text)
    while end and (unicodedata.category(text[end - 1])[0] in "PSZC" or text[end - 1] in _EMOJI_PARTS):
        end -= 1
    return text[:end].lower()
