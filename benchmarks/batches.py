"""Speed of making batches: in this process and by workers, as stored, changed and sampled.

    python benchmarks/batches.py runs/batches
    python benchmarks/batches.py runs/batches --old ../dragoman-0e9dc1c4/src

Prepares Tatoeba once (English with German and Chinese, both ways, as in recipes/everyday.yaml), and measures batches of
8,192 tokens: batches and target tokens a second of the clock, and target tokens a second of one core's time. Each way
is measured in turns, every round with batches that no round had before. With --old, the sources of another version are
measured in the same turns, in this process only. Prints JSON and writes it beside this file. Needs DRAGOMAN_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: The rates of recipes/everyday.yaml.
AUGMENTATION = {"spans": 0.15, "reserved": 0.1, "case": 0.1, "punctuation": 0.1, "typos": 0.1}
WAYS = ("stored", "augmented", "augmented and sampled")
BATCH_TOKENS, ROUNDS, WARM_UP = 8192, 3, 10


def corpus(data: Path, name: str, weight: float) -> dict[str, Any]:
    source, target = name.split("-")
    files = {
        f"{prefix}{side}": str(data / f"tatoeba-{name}" / f"{part}.{code}.gz")
        for prefix, part in (("", "train"), ("validation_", "val"))
        for side, code in (("source", source), ("target", target))
    }
    return {"name": name, "weight": weight, "source_lang": source, "target_lang": target, "both_ways": True, **files}


def prepare_run(folder: Path) -> None:
    from dragoman.data.prepare import prepare
    from dragoman.settings.parsing import parse_config

    data = Path(os.environ["DRAGOMAN_DATA"])
    corpora = [corpus(data, "en-de", 1), corpus(data, "zh-en", 2)]
    tokenizer = {"vocab_size": 18_000, "split_digits": True, "reserved": 64, "sampling": 0.1}
    prepare(parse_config({"data": {"corpora": corpora, "misaligned": "keep"}, "tokenizer": tokenizer}), folder)


def measure(folder: Path, way: str, n_workers: int, first: int, n_batches: int) -> dict[str, float]:
    """Make some batches after a few others, in a process of its own."""
    from dragoman.data.batches import Batches
    from dragoman.data.drawn_pairs import Drawing
    from dragoman.data.prepared import open_prepared
    from dragoman.settings.augmentation_config import AugmentationConfig

    prepared = open_prepared(folder)
    changes = AugmentationConfig(**(AUGMENTATION if way != "stored" else {}))
    drawing = Drawing(way == "augmented and sampled", 256, changes)
    weights, tokenizers = (1, 1, 2, 2), prepared.tokenizers
    batches = Batches(prepared.train, tokenizers, batch_tokens=BATCH_TOKENS, seed=1, weights=weights, drawing=drawing)
    pad_id, steps = tokenizers.special_ids.target.pad, range(first, first + WARM_UP + n_batches)
    if n_workers:
        from dragoman.machine.workers import Workers

        workers = Workers(batches.make, n_workers, is_apart=True, ends_by_close=True)
        made = ([target for _, target in each] for each in workers.imap(map(batches.share, steps), 3 * n_workers))
    else:
        made = ([batch.target_ids.numpy() for batch in batches.micro_batches(step)] for step in steps)
    for _ in range(WARM_UP):
        next(made)
    started, cpu_started = time.perf_counter(), processor_seconds()
    n_tokens = sum(int((target != pad_id).sum()) - len(target) for targets in made for target in targets)
    seconds, cpu_seconds = time.perf_counter() - started, processor_seconds() - cpu_started
    speeds = {"batches": n_batches / seconds, "target_tokens": n_tokens / seconds}
    return speeds if n_workers else speeds | {"target_tokens_of_core": n_tokens / cpu_seconds}


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--old", help="the folder src of another version")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        way, n_workers, first = options.measure
        print(json.dumps(measure(options.folder, way, int(n_workers), int(first), options.batches)))
        return
    if not (options.folder / "prepared").exists() and not any(options.folder.glob("*")):
        prepare_run(options.folder)
    systems = {"0 workers": (None, 0), "1 worker": (None, 1), "2 workers": (None, 2)}
    if options.old:
        systems = {"before": (options.old, 0), **systems}
    found: dict[str, dict[str, list[dict[str, float]]]] = {way: {name: [] for name in systems} for way in WAYS}
    for number in range(options.rounds):
        for way in WAYS:
            for name, (source, n_workers) in systems.items():
                command = [sys.executable, __file__, str(options.folder), "--batches", str(options.batches)]
                command += ["--measure", way, str(n_workers), str(number * (options.batches + WARM_UP))]
                environment = {**os.environ, **({"PYTHONPATH": source} if source else {})}
                done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                found[way][name].append(json.loads(done.stdout.splitlines()[-1]))
    from measuring import write

    write(__file__, {"batch_tokens": BATCH_TOKENS, "median": {way: medians(each) for way, each in found.items()}})


def medians(systems: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    return {
        name: {key: round(statistics.median(each[key] for each in rounds), 1) for key in rounds[0]}
        for name, rounds in systems.items()
    }


if __name__ == "__main__":
    main()
