"""Measure each augmentation alone, in BLEU: one short run without any, and one with each.

    python benchmarks/augmentation.py runs/augmentation --jobs 2
    python benchmarks/augmentation.py runs/augmentation --variants none,typos --pairs 20000

Trains English to German on a cut of Tatoeba with the sizes that `dragoman train` chooses. Prints BLEU of clean and of
perturbed validation text, and the share of made-up sentences whose digits and spans are right, as everyday.py does. One
seed: differences below 1 BLEU may be chance. Trainings that are done are not repeated. Needs DRAGOMAN_DATA with its
folder tatoeba-en-de; each training takes about ten minutes on one thread.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from everyday import Model, measure

from dragoman.settings.augmenting import DOSES
from dragoman.translator import Translator

#: `train --augment` has them all.
VARIANTS: dict[str, Sequence[str]] = {"none": (), **{name: (name,) for name in DOSES}, "all": tuple(DOSES)}
DIRECTION = ("en", "de")
#: Columns of the table that are sets of perturbed text.
PERTURBED = ("CAPS", "no final mark", "typo", "lower case")


def cut_text(folder: Path, n_pairs: int, languages: tuple[str, str] = DIRECTION) -> dict[str, Path]:
    """Write a cut of a training text of Tatoeba, chosen by a hash of its first side, and return the files.

    Args:
        languages: as the corpus has them in its name.
    """
    text = Path(os.environ["DRAGOMAN_DATA"]) / f"tatoeba-{'-'.join(languages)}"
    sides = [gzip.decompress((text / f"train.{code}.gz").read_bytes()).decode().splitlines() for code in languages]
    pairs = sorted(zip(*sides, strict=True), key=lambda pair: hashlib.sha256(pair[0].encode()).digest())[:n_pairs]
    files = {}
    for option, index, code in zip(("source", "target"), (0, 1), languages, strict=True):
        files[option] = folder / f"train.{code}"
        files[option].write_text("".join(f"{pair[index]}\n" for pair in pairs), encoding="utf-8")
        files[f"validation-{option}"] = text / f"val.{code}.gz"
    return files


def train(run: Path, files: dict[str, Path], names: Iterable[str], max_epochs: int) -> None:
    """Train one variant, or go on with it; a training that is done is left as it is."""
    settings = [f"augmentation.{name}={DOSES[name]}" for name in names]
    settings += ["tokenizer.split_digits=true", "tokenizer.reserved=64", f"training.max_epochs={max_epochs}"]
    command = [sys.executable, "-m", "dragoman", "train", "--output", str(run)]
    command += [part for option, path in files.items() for part in (f"--{option}", str(path))]
    command += [part for setting in settings for part in ("--set", setting)]
    with run.with_suffix(".log").open("a", encoding="utf-8") as log:
        subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log, check=True)


def row(name: str, result: dict[str, Any]) -> str:
    """Return a line of the table in Markdown."""
    perturbed = result["perturbed"]
    cells = [f"{result['BLEU']:.2f}", f"{result['BLEU, long']:.2f}"]
    cells += [f"{perturbed[each] - perturbed['clean']:+.2f}" for each in PERTURBED]
    right, of_pairs = sum(result["made up"].values()), result["phrases"]["pair"]
    return f"| {name} | {' | '.join(cells)} | {right / 2:.1f} % | {of_pairs[0]} of {of_pairs[1]} |"


def main() -> None:
    """Train and measure the variants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--passes", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--sample", type=int, default=1500, help="sources of the validation set")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    files, names = cut_text(arguments.folder, arguments.pairs), arguments.variants.split(",")
    if unknown := [name for name in names if name not in VARIANTS]:
        raise SystemExit(f"no variant {unknown[0]!r}; there are {', '.join(VARIANTS)}")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(train, arguments.folder / name, files, VARIANTS[name], arguments.passes) for name in names]
        for job in jobs:
            job.result()
    print(f"| change | BLEU | long | {' | '.join(PERTURBED)} | made up | two sentences |")
    print("|" + "---|" * (5 + len(PERTURBED)))
    for name in names:
        model = Model(Translator.load(arguments.folder / name), DIRECTION, is_tagged=False)
        print(row(name, measure(model, arguments.sample)), flush=True)


if __name__ == "__main__":
    main()
