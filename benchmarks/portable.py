"""Measure the price of models that other programs can hold, in BLEU: the same training with each shape.

    python benchmarks/portable.py runs/portable --jobs 2
    python benchmarks/portable.py runs/portable --only multi30k --passes 12 --seeds 1

Trains English to German as `dragoman train` chooses, with `--portable`, and with rotary positions but one memory, which
CTranslate2 and ONNX hold: Multi30k with three seeds, a cut of Tatoeba with one. All have the same text in the same
order, so equally many tokens. Prints BLEU of greedy translations at the best validation, and writes portable.json.
Trainings that are done are not repeated. Needs DRAGOMAN_DATA with its folders multi30k and tatoeba-en-de; a training of
three passes takes about ten minutes on one thread.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from augmentation import cut_text
from measuring import write

from dragoman.experiments.outcomes import gather_outcomes
from dragoman.experiments.variants import SEED, Variant

#: Settings of each shape that differ from what `train` chooses; those of `--portable` for two languages of one script.
SHAPES: dict[str, dict[str, str]] = {
    "default": {},
    "portable": {"model.memory": "last", "model.positions": "sinusoidal"},
    "rotary": {"model.memory": "last"},
}


def multi30k() -> dict[str, Path]:
    """Return the files of Multi30k, by the options of `train`."""
    text = Path(os.environ["DRAGOMAN_DATA"]) / "multi30k"
    sides = {"source": "en", "target": "de"}
    files = {side: text / f"train.{code}.gz" for side, code in sides.items()}
    return files | {f"validation-{side}": text / f"val.{code}.gz" for side, code in sides.items()}


def train(variant: Variant, files: dict[str, Path], passes: int) -> None:
    """Train one variant, or go on with it; a training that is done is left as it is."""
    settings = [*(f"{key}={value}" for key, value in variant.choices.items()), f"training.max_epochs={passes}"]
    command = [sys.executable, "-m", "dragoman", "train", "--output", str(variant.folder)]
    command += [part for option, path in files.items() for part in (f"--{option}", str(path))]
    command += [part for setting in settings for part in ("--set", setting)]
    with variant.folder.with_suffix(".log").open("a", encoding="utf-8") as log:
        subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log, check=True)


def variants(folder: Path, corpus: str, shapes: Sequence[str], seeds: Sequence[int]) -> list[Variant]:
    """Return the trainings on one corpus, those of a seed together."""
    return [
        Variant({**SHAPES[shape], SEED: str(seed)}, folder / f"{corpus}-{shape}-{seed}")
        for seed in seeds
        for shape in shapes
    ]


def main() -> None:
    """Train every shape, and print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--only", choices=["multi30k", "tatoeba"])
    parser.add_argument("--shapes", choices=SHAPES, nargs="+", default=list(SHAPES))
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pairs", type=int, default=50_000, help="of Tatoeba")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    texts = {"multi30k": multi30k(), "tatoeba": cut_text(arguments.folder, arguments.pairs)}
    seeds = {"multi30k": arguments.seeds, "tatoeba": arguments.seeds[:1]}
    results = {}
    for corpus in [arguments.only] if arguments.only else texts:
        trained = variants(arguments.folder, corpus, arguments.shapes, seeds[corpus])
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for job in [pool.submit(train, variant, texts[corpus], arguments.passes) for variant in trained]:
                job.result()
        results[corpus] = [asdict(replace(outcome, curves=[])) for outcome in gather_outcomes(trained)]
        for row in results[corpus]:
            spread = f" ± {row['bleu_spread']:.2f}" if row["bleu_spread"] is not None else ""
            print(f"{corpus}: {row['name']}: BLEU {row['bleu']:.2f}{spread}, loss {row['loss']:.3f}", flush=True)
    write(__file__, {"passes": arguments.passes, "pairs of Tatoeba": arguments.pairs, **results})


if __name__ == "__main__":
    main()
