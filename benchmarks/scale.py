"""Speed and memory of preparing and training on made-up corpora of 0.1, 1 and 10 million pairs.

    make bench-scale            # or: python benchmarks/scale.py FOLDER [PAIRS ...], with some gigabytes free in FOLDER

For each: pairs a second of `dragoman prepare` and the most memory it had resident, how fast SentencePiece alone encodes
such lines, and the speed and memory of a short training on it, of the same model at every size. Made text that is there
already is used again. `benchmarks/epochs.py` goes on to larger corpora.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from measuring import run_measured, write

SIZES = (100_000, 1_000_000, 10_000_000)
N_WORDS, CHUNK, N_STEPS = 50_000, 100_000, 40
SAME = ["tokenizer.vocab_size=8000", "data.validation_size=50", "model.preset=tiny", "training.batch_tokens=1024"]
SHORT = [f"training.max_steps={N_STEPS}", "training.warmup_steps=10", "training.log_every=10"]


def main() -> None:
    """Measure, and write scale.json."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(__file__, {"corpora": [measure(folder, int(size)) for size in sys.argv[2:] or SIZES]})


def measure(folder: Path, n_pairs: int) -> dict[str, Any]:
    """Make, prepare and train on one corpus."""
    files = [folder / f"{n_pairs}.{side}" for side in ("en", "de")]
    for seed, path in enumerate(files):
        if not path.exists():
            make(path, n_pairs, seed)
    run = folder / f"run-{n_pairs}"
    shutil.rmtree(run, ignore_errors=True)
    arguments = ["--source", str(files[0]), "--target", str(files[1]), "--output", str(run)]
    settings = [f"--set={each}" for each in (*SAME, *SHORT)]
    program = [sys.executable, "-m", "dragoman"]
    seconds, prepare_mib = run_measured([*program, "prepare", *arguments, *settings])
    _, train_mib = run_measured([*program, "train", *arguments, *settings])
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    speeds = [record["target_tokens_per_second"] for record in records if "target_tokens_per_second" in record]
    return {
        "pairs": n_pairs,
        "prepare, pairs a second": round(n_pairs / seconds),
        "prepare, MiB": prepare_mib,
        "SentencePiece alone on one thread, pairs a second": encoding_rate(run, files),
        "training, target tokens a second": round(statistics.median(speeds)),
        "training, MiB": train_mib,
    }


def make(path: Path, n_lines: int, seed: int) -> None:
    """Write lines of 4 to 24 made-up words, the n-th most frequent of them 1/n times as frequent as the first."""
    generator = np.random.default_rng(seed)
    letters = generator.integers(97, 123, (N_WORDS, 9))
    words = np.array(["".join(map(chr, row[: 2 + number % 8])) for number, row in enumerate(letters)])
    share = 1 / np.arange(1, N_WORDS + 1)
    cumulated = np.cumsum(share / share.sum())
    with path.open("w") as file:
        for done in range(0, n_lines, CHUNK):
            lengths = generator.integers(4, 25, min(CHUNK, n_lines - done))
            drawn = words[np.searchsorted(cumulated, generator.random(lengths.sum()) * cumulated[-1])].tolist()
            ends = np.cumsum(lengths)
            starts = (ends - lengths).tolist()
            file.writelines(" ".join(drawn[i:j]) + "\n" for i, j in zip(starts, ends.tolist(), strict=True))


def encoding_rate(run: Path, files: list[Path]) -> int:
    """Pairs a second that SentencePiece turns into ids, of the first of the corpus."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(run / "tokenizer" / "joint.model"))
    sides = []
    for path in files:
        with path.open() as file:
            sides.append([line.rstrip("\n") for line in islice(file, 20_000)])
    started = time.perf_counter()
    for line in chain(*sides):
        processor.encode(line)
    return round(len(sides[0]) / (time.perf_counter() - started))


if __name__ == "__main__":
    main()
