"""BLEU and chrF2 of systems with several references, their significance, and their scores by length of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everyday_sets import streams
from real_text_words import length
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from dragoman.evaluation.metrics import bleu_metric
from dragoman.text.cleaning import clean

References = Sequence[Sequence[str]]
#: Samples of the bootstrap.
N_SAMPLES = 1_000
#: The longest source of each class, in words.
LENGTHS = {"1-10": 10.0, "11-20": 20.0, "21-30": 30.0, "31-": float("inf")}


def metrics(language: str) -> dict[str, BLEU | CHRF]:
    """Return the metrics for a target language."""
    return {"BLEU": bleu_metric(language), "chrF2": CHRF()}


def scores(outputs: Sequence[str], references: References, language: str) -> dict[str, float]:
    """Return both scores of a system."""
    texts = list(map(clean, outputs))
    return {
        name: float(metric.corpus_score(texts, streams(references)).score) for name, metric in metrics(language).items()
    }


def compared(
    systems: Mapping[str, Sequence[str]], references: References, language: str
) -> dict[str, dict[str, float]]:
    """Return both scores of each system, and how probable its distance from the first system is by chance.

    The test is sacreBLEU's paired bootstrap of 1,000 samples.
    """
    found = {name: scores(outputs, references, language) for name, outputs in systems.items()}
    if len(systems) > 1:
        named = [(name, list(map(clean, outputs))) for name, outputs in systems.items()]
        own: Any = metrics(language)
        _, results = PairedTest(named, own, streams(references), test_type="bs", n_samples=N_SAMPLES)()
        for metric in own:
            for (name, outputs), result in zip(named[1:], results[metric][1:], strict=True):
                assert isinstance(result, Result)
                # sacreBLEU gives equal outputs a p near 0, because no sample differs less.
                found[name][f"p {metric}"] = 1.0 if outputs == named[0][1] else float(result.p_value or 0.0)
    return found


def signatures(references: References, language: str) -> dict[str, str]:
    """Return what makes the scores of a set comparable."""
    found = {}
    for name, metric in metrics(language).items():
        metric.corpus_score([each[0] for each in references], streams(references))
        found[name] = str(metric.get_signature())
    return found


def by_length(sources: Sequence[str], language: str) -> dict[str, list[int]]:
    """Return the indices of the sources of each class of length."""
    classes: dict[str, list[int]] = {name: [] for name in LENGTHS}
    for place, text in enumerate(sources):
        size = length(text, language)
        classes[next(name for name, most in LENGTHS.items() if size <= most)].append(place)
    return classes
