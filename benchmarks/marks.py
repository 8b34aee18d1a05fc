"""Judge which translations are marked as probably wrong, by grades of people:

    python benchmarks/marks.py

`graded.tsv` has 150 translations of ordinary sentences (mail, travel, news, recipes, notices), by the first edition of
`everyday`. A person graded each: wrong if it says something else than the source, leaves a part of it out, or has a
mistake of grammar that a reader stumbles over. The confidence is that of `everyday` in the graded translation.
"""

from __future__ import annotations

import csv
from pathlib import Path

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.translator.confidence import Calibrations, least_confidence

GRADED = Path(__file__).with_name("graded.tsv")
#: Beside the threshold itself, what a higher or a lower one would do.
FACTORS = (0.8, 0.9, 1.0, 1.1, 1.2)


def main() -> None:
    """Print the share of marked translations among the wrong and among the right ones."""
    confidences = graded_confidences()
    for factor in FACTORS:
        marked = {
            grade: [confidence < factor * least for confidence, least, own in confidences if own == grade]
            for grade in ("wrong", "right")
        }
        shares = ", ".join(f"{sum(each) / len(each):.0%} of {len(each)} {grade}" for grade, each in marked.items())
        print(f"below {factor:.1f} times the least confidence: {shares}")


def graded_confidences() -> list[tuple[float, float, str]]:
    """Return the confidence in each graded translation, the least confidence of its language, and its grade."""
    translator, calibrations = Translator.load("everyday"), Calibrations.of_bundle(load_bundle("everyday").facts, "")
    assert calibrations is not None
    found = []
    for row in csv.DictReader(GRADED.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
        source_lang, target_lang = row["direction"].split("-")
        calibration = calibrations.of(source_lang, target_lang)
        assert calibration is not None
        score = translator.score(row["source"], row["translation"], source_lang=source_lang, target_lang=target_lang)
        confidence = calibration.confidence(score.log_prob, len(score.tokens))
        found.append((confidence, least_confidence(target_lang), row["grade"]))
    return found


if __name__ == "__main__":
    main()
