"""Measure how well quality without references finds wrong translations, and what choosing candidates by it gains:

    python benchmarks/quality_estimation.py            # graded translations; some seconds
    python benchmarks/quality_estimation.py --rerank   # needs DRAGOMAN_DATA; ten minutes
    python benchmarks/quality_estimation.py --human FOLDER   # judgements by people; three minutes

The first compares the probability of a token in one direction with that in both (`Translator.quality`) on the tables of
`marks.py`: the share of pairs of a right and a wrong translation that it puts in the right order, and the correlation
with the grade. The second translates text of several kinds (`real_text_sets.py`) with and without `rerank`, in turns.
The third compares with direct assessments of MLQE-PE (Fomicheva et al. 2020, under CC0): FOLDER is
`data/direct-assessments/test` of github.com/sheffieldnlp/mlqe-pe, with its archives unpacked. Its systems are much
better than `everyday`; the log-probabilities that they gave to their own translations are in the set.
The results lie in quality_estimation.json.
"""

from __future__ import annotations

import csv
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from marks import APART, GRADED, read_rows, source_of
from real_text_scores import scores
from real_text_sets import read_set

from dragoman import Translator

RESULTS = Path(__file__).with_suffix(".json")
DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en"), ("en", "zh"), ("zh", "en"))
KINDS = ("encyclopedic", "interface", "dialogue", "chat", "everyday")
#: Sentences of a kind in a direction.
SIZE = 100


def main() -> None:
    """Measure one of the three, and write it into the file."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    translator = Translator.load("everyday")
    match sys.argv[1:]:
        case []:
            results["graded"] = graded(translator)
        case ["--rerank"]:
            results["rerank"] = reranked(translator)
        case ["--human", folder]:
            results["human"] = judged(translator, Path(folder))
        case _:
            sys.exit(__doc__)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def graded(translator: Translator) -> dict[str, Any]:
    """Compare both numbers on the graded translations."""
    found = {}
    for path in (GRADED, APART):
        right, numbers = [], []
        for row in read_rows(path):
            source = row.get("source") or source_of(row["file"], int(row["line"]), row["direction"])
            source_lang, target_lang = row["direction"].split("-")
            given = source, row["translation"]
            score = translator.score(*given, source_lang=source_lang, target_lang=target_lang)
            both = translator.quality(*given, source_lang=source_lang, target_lang=target_lang)
            numbers.append((math.exp(score.per_token), both))
            right.append(row["grade"] == "right")
        for name, column in zip(("one direction", "both"), np.array(numbers).T, strict=True):
            result = {"order": order(column, right), "correlation": float(np.corrcoef(column, right)[0, 1])}
            found[f"{path.stem}, {name}"] = {key: round(value, 3) for key, value in result.items()}
            print(f"{path.stem}, {name}: order {result['order']:.3f}, correlation {result['correlation']:.3f}")
    return found


def order(numbers: np.ndarray, right: list[bool]) -> float:
    """Return the share of pairs of a right and a wrong one of which the right one has the higher number."""
    good, bad = numbers[np.array(right)][:, None], numbers[~np.array(right)]
    return float(((good > bad) + (good == bad) / 2).mean())


def reranked(translator: Translator) -> dict[str, Any]:
    """Compare translations with and without reranking."""
    found: dict[str, Any] = {}
    for direction in DIRECTIONS:
        outputs: dict[bool, list[str]] = {False: [], True: []}
        seconds, references = {False: 0.0, True: 0.0}, []
        for kind in KINDS:
            if (whole := read_set(kind, direction)) is None:
                continue
            sample = whole.sample(SIZE)
            references += sample.references
            for rerank in (False, True):
                started = time.perf_counter()
                made = translator.translate(
                    list(sample.sources), source_lang=direction[0], target_lang=direction[1], rerank=rerank
                )
                seconds[rerank] += time.perf_counter() - started
                outputs[rerank] += [each.text for each in made]
        found["-".join(direction)] = result = {
            "sentences": len(references),
            **{
                name: {key: round(value, 1) for key, value in scores(outputs[rerank], references, direction[1]).items()}
                for name, rerank in (("search", False), ("reranked", True))
            },
            "time": round(seconds[True] / seconds[False], 2),
        }
        print("-".join(direction), result, flush=True)
    return found


def judged(translator: Translator, folder: Path) -> dict[str, Any]:
    """Correlate with people's judgements of translations by other systems."""
    found = {}
    for source_lang, target_lang in (("en", "de"), ("en", "zh")):
        direction = f"{source_lang}-{target_lang}"
        with (folder / direction / f"test20.{source_lang}{target_lang}.df.short.tsv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        pairs = [row["original"] for row in rows], [row["translation"] for row in rows]
        people = [float(row["z_mean"]) for row in rows]
        judges = {
            "everyday": translator.quality(*pairs, source_lang=source_lang, target_lang=target_lang),
            "the system itself": [float(row["model_scores"]) for row in rows],
        }
        found[direction] = {
            name: round(float(np.corrcoef(numbers, people)[0, 1]), 3) for name, numbers in judges.items()
        }
        print(direction, len(rows), "translations, correlation with people:", found[direction], flush=True)
    return found


if __name__ == "__main__":
    main()
