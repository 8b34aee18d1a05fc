"""The comparison of runs in benchmarks/quality.py, against sacreBLEU."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
N_LINES = 200


@pytest.fixture
def quality(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    sys.modules.pop("quality", None)
    import quality

    return quality


def lines(seed: int, n_words: int = 12) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices("abcdefgh", k=draw.randint(4, n_words))) for _ in range(N_LINES)]


def spoiled(references: list[str], share: float, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(w if draw.random() > share else "x" for w in line.split()) for line in references]


def run(quality: ModuleType, hypotheses: list[str], references: list[str]) -> Any:
    return quality.Run(None, quality.sentence_counts(hypotheses, references), None)


def metric() -> BLEU:
    return BLEU(lowercase=True, tokenize="none", force=True)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_added_counts_give_the_corpus_score(quality: ModuleType, share: float) -> None:
    references = lines(1)
    hypotheses = spoiled(references, share, 2)
    counts = quality.sentence_counts(hypotheses, references).sum(axis=0)
    assert quality.bleu(counts) == pytest.approx(metric().corpus_score(hypotheses, [references]).score)


@pytest.mark.parametrize("share", [0.1, 0.105, 0.11, 0.2])
def test_the_paired_bootstrap_is_sacrebleu_s(quality: ModuleType, share: float) -> None:
    references = lines(1)
    baseline, system = spoiled(references, 0.1, 2), spoiled(references, share, 3)
    systems = [("baseline", baseline), ("system", system)]
    test = PairedTest(systems, {"BLEU": metric()}, references=[references], test_type="bs", n_samples=1000)
    expected = test()[1]["BLEU"][1].p_value
    found = quality.p_value(*([run(quality, each, references)] for each in (baseline, system)))
    assert found == pytest.approx(expected, abs=0.06)  # other samples


def test_equal_systems_are_not_different_and_seeds_are_averaged(quality: ModuleType) -> None:
    references = lines(1)
    runs = [run(quality, spoiled(references, 0.1, seed), references) for seed in range(3)]
    assert quality.p_value(runs, runs) == 1
    assert quality.p_value(runs, runs[::-1]) == 1
    worse = [run(quality, spoiled(references, 0.3, seed), references) for seed in range(3)]
    assert quality.p_value(runs, worse) < 0.01
