"""Scores of trained runs on Multi30k: each variant of a recipe over its seeds, beside a baseline.

    python benchmarks/quality.py --runs base runs/a1 runs/a2 runs/a3 --runs r-drop runs/b1 runs/b2 runs/b3

Prints a table: M30k-BLEU, BLEU, chrF2 and chrF++ of the validation set, mean and standard deviation over the seeds, the
minutes of a training, and how probable so large a difference from the first variant's M30k-BLEU would be if there were
none (paired bootstrap, Koehn 2004, over the sentences, of the mean over the seeds; the seeds' own spread stands beside
it).

Everything is chosen by the validation set. `--split test` is for the final figures of what has been chosen. `--json`
prints the scores with their signatures. Needs DRAGOMAN_DATA or the network; a run takes half a minute on two cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from dragoman.data.corpus import read_pairs
from dragoman.data.multi30k import tokenised_references
from dragoman.evaluation.evaluation import Evaluation, evaluate, m30k_references
from dragoman.evaluation.metrics import moses_lines
from dragoman.machine.devices import all_cores
from dragoman.settings.data_config import DataConfig
from dragoman.translator import Translator

#: Samples of the bootstrap, and their seed.
N_SAMPLES, SEED = 1_000, 1
#: Of BLEU's n-grams.
ORDER = 4


@dataclass(frozen=True)
class Run:
    """One trained run on one test set."""

    evaluation: Evaluation
    #: What M30k-BLEU needs of each sentence: matches and n-grams of each order, and both lengths (n_sentences, 10).
    counts: NDArray[np.float64]
    minutes: float | None


def measure(name: str, split: Literal["validation", "test"]) -> Run:
    """Translate a split of Multi30k with a run's best model."""
    translator = Translator.load(name, workers=all_cores())
    tokenizers = translator.tokenizers
    data = DataConfig(corpus="multi30k", source_lang=tokenizers.source_lang, target_lang=tokenizers.target_lang)
    sources, references = map(list, zip(*read_pairs(data, split), strict=True))
    tokenised = m30k_references(references, tokenizers.target_lang, tokenised_references(split, tokenizers.target_lang))
    evaluation = evaluate(translator, sources, references, m30k_references=tokenised)
    hypotheses = moses_lines(evaluation.translations, tokenizers.target_lang)
    return Run(evaluation, sentence_counts(hypotheses, tokenised), minutes_of(Path(name)))


def sentence_counts(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return the counts of each sentence that BLEU adds up: (n_sentences, 2 * ORDER + 2)."""
    metric = BLEU(lowercase=True, tokenize="none", force=True, effective_order=True)
    scores = [metric.sentence_score(*pair) for pair in zip(hypotheses, ([each] for each in references), strict=True)]
    return np.array([[*each.counts, *each.totals, each.sys_len, each.ref_len] for each in scores], float)


def bleu(sums: NDArray[np.float64]) -> float:
    """BLEU of added counts (2 * ORDER + 2,)."""
    correct, total = (list(map(int, sums[begin : begin + ORDER])) for begin in (0, ORDER))
    return BLEU.compute_bleu(correct, total, int(sums[-2]), int(sums[-1]), smooth_method="exp").score


def p_value(baseline: Sequence[Run], system: Sequence[Run]) -> float:
    """Return the probability of so large a difference of the mean scores by chance, as in sacreBLEU's paired test."""
    n_sentences = len(baseline[0].counts)
    drawn = np.random.default_rng(SEED).integers(0, n_sentences, (N_SAMPLES, n_sentences))
    rows = [np.arange(n_sentences), *drawn]

    def difference(sample: NDArray[np.int64]) -> float:
        of_system, of_baseline = (
            statistics.fmean(bleu(run.counts[sample].sum(axis=0)) for run in runs) for runs in (system, baseline)
        )
        return of_system - of_baseline

    seen, *resampled = (abs(difference(sample)) for sample in rows)
    above_mean = np.array(resampled) - np.mean(resampled)
    return 1.0 if seen == 0 else float((np.sum(above_mean > seen) + 1) / (N_SAMPLES + 1))


def minutes_of(run: Path) -> float | None:
    """Return the minutes that the training took, by its log."""
    log = run / "metrics.jsonl"
    if not log.is_file():
        return None
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return float(max(record["seconds"] for record in records if "seconds" in record)) / 60


def row(name: str, runs: Sequence[Run], baseline: Sequence[Run]) -> list[str]:
    """One line of the table."""
    cells = [name, str(len(runs))]
    for scores in zip(*(run.evaluation.metrics for run in runs), strict=True):
        values = [each.score for each in scores]
        spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
        cells.append(f"{statistics.fmean(values):.2f}{spread}")
    minutes = [run.minutes for run in runs if run.minutes is not None]
    cells.append(f"{statistics.fmean(minutes):.0f}" if minutes else "")
    return [*cells, "" if runs is baseline else f"{p_value(baseline, runs):.3f}"]


def main() -> None:
    """Measure the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", action="append", required=True, help="a name, then a run for each seed")
    parser.add_argument("--split", choices=("validation", "test"), default="validation")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    variants = {name: [measure(run, arguments.split) for run in runs] for name, *runs in arguments.runs}
    if arguments.json:
        found = {name: [run.evaluation.metrics for run in runs] for name, runs in variants.items()}
        print(json.dumps(found, default=vars, indent=2))
        return
    baseline = next(iter(variants.values()))
    names = [metric.name for metric in baseline[0].evaluation.metrics]
    print("|", " | ".join(["what", "seeds", *names, "minutes", "p"]), "|")
    print("|---" * (len(names) + 4) + "|")
    for name, runs in variants.items():
        print("|", " | ".join(row(name, runs, baseline)), "|")


if __name__ == "__main__":
    main()
