"""Compare one model of several languages with models of one direction each, in BLEU.

    python benchmarks/many_to_many.py runs/languages --jobs 2

Trains on cuts of the three Tatoeba sets, of as many pairs each, with the sizes that `dragoman train` chooses: one model
for each direction, and one for all six. All read each pair of their directions equally often, so the last has six
times the steps of the others. Prints BLEU of validation text with all references, as everyday.py does. One seed:
differences below 1 BLEU may be chance. Trainings that are done are not repeated. Needs DRAGOMAN_DATA with
its folders tatoeba-*; with the defaults, about 90 minutes of one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from augmentation import cut_text
from everyday import Model
from everyday_sets import Direction, bleu, validation_set

from dragoman.translator import Translator

#: Languages of the corpora, as their folders have them.
CORPORA: Sequence[Direction] = (("en", "de"), ("en", "fr"), ("zh", "en"))
SIDES = ("source", "target")


def corpus(folder: Path, languages: Direction, n_pairs: int) -> dict[str, Any]:
    """Write the cut of a corpus, and return its entry of `data.corpora`."""
    name = "-".join(languages)
    (folder / name).mkdir(exist_ok=True)
    files = {
        option.replace("-", "_"): str(path) for option, path in cut_text(folder / name, n_pairs, languages).items()
    }
    return {"name": name, **files, "source_lang": languages[0], "target_lang": languages[1]}


def turned(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of the opposite direction."""
    kinds = ("{}", "validation_{}", "{}_lang")
    opposite = {kind.format(one): kind.format(other) for kind in kinds for one, other in (SIDES, SIDES[::-1])}
    way = {opposite.get(key, key): value for key, value in entry.items()}
    return {**way, "name": f"{way['source_lang']}-{way['target_lang']}"}


def trainings(entries: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the corpora of each training, by its name."""
    ways = [way for entry in entries for way in (entry, turned(entry))]
    return {"all": ways, **{f"{way['source_lang']}-{way['target_lang']}": [way] for way in ways}}


def train(run: Path, corpora: Sequence[Mapping[str, str]], passes: int) -> None:
    """Train a model, or go on with it; a training that is done is left as it is."""
    recipe = run.with_suffix(".yaml")
    recipe.write_text(
        json.dumps({"data": {"corpora": corpora}, "training": {"max_epochs": passes}}, indent=1, ensure_ascii=False),
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "dragoman", "train", str(recipe), "--output", str(run)]
    with run.with_suffix(".log").open("a", encoding="utf-8") as log:
        subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log, check=True)


def score(run: Path, direction: Direction, n_sources: int) -> float:
    """Return BLEU of a model's translations of validation text, each compared with all references."""
    references = validation_set(direction, n_sources)
    written = Model(Translator.load(run), direction, is_tagged=False).translate(references)
    return bleu([written[text] for text in references], list(references.values()), direction[1])


def main() -> None:
    """Train and measure the models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--pairs", type=int, default=15_000, help="of each corpus")
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--sample", type=int, default=600, help="sources of each validation set")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    models = trainings([corpus(arguments.folder, languages, arguments.pairs) for languages in CORPORA])
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(train, arguments.folder / name, models[name], arguments.passes) for name in models]
        for job in jobs:
            job.result()
    print("| direction | one direction | all six |\n|---|---|---|")
    for languages in CORPORA:
        for direction in (languages, languages[::-1]):
            name = "-".join(direction)
            scores = [score(arguments.folder / run, direction, arguments.sample) for run in (name, "all")]
            print(f"| {name} | {' | '.join(f'{each:.1f}' for each in scores)} |", flush=True)


if __name__ == "__main__":
    main()
