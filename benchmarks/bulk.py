"""Speed of translating a folder of files: one process of one thread, and Ray with two workers of one thread.

    OMP_NUM_THREADS=1 python benchmarks/bulk.py MODEL LINES      # such as: everyday 4000, with the extras bench and ray

The text is made up: captions, in files of 500 lines. Both write the same bytes. The time of Ray is that of the
translation, and beside it the time until its first worker has loaded the model.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measuring import write

from dragoman.bulk.bulk_translation import BulkTranslation
from dragoman.bulk.input_files import find_files
from dragoman.bulk.line_output import LineFormat
from dragoman.bulk.output_folder import open_output
from dragoman.bulk.ray_pool import ray_pool
from dragoman.bulk.worker import BulkJob, model_fingerprints
from dragoman.corpora.synthetic import standard_corpus

FILE_LINES, N_ROUNDS = 500, 3
DIRECTION = {"source_lang": "en", "target_lang": "de"}


def main() -> None:
    """Measure, and write bulk.json."""
    model, n_lines = sys.argv[1], int(sys.argv[2])
    options = {**DIRECTION, "beam_size": 1, "read_ahead": 128}
    job = BulkJob((model,), model_fingerprints((model,)), options, LineFormat(), "de")
    with TemporaryDirectory() as name:
        folder = Path(name)
        texts = folder / "texts"
        texts.mkdir()
        lines = made_up_lines(n_lines)
        for first in range(0, n_lines, FILE_LINES):
            text = "\n".join(lines[first : first + FILE_LINES])
            (texts / f"{first:06}.txt").write_text(text, encoding="utf-8")
        alone = job.load("cpu")
        began = time.monotonic()
        with ray_pool("auto", job, 2, "cpu") as pool:
            loading = translated(texts, folder / "ray-0", pool)  # Ray's workers load the models first
            connected = time.monotonic() - began - loading
            speeds: dict[str, list[float]] = {"one process": [], "Ray, two workers": []}
            for number in range(1, N_ROUNDS + 1):
                speeds["one process"].append(n_lines / translated(texts, folder / f"one-{number}", alone))
                speeds["Ray, two workers"].append(n_lines / translated(texts, folder / f"ray-{number}", pool))
        same = all(contents(folder / "one-1") == contents(folder / f"ray-{number}") for number in range(N_ROUNDS + 1))
    medians = {name: round(sorted(values)[len(values) // 2], 1) for name, values in speeds.items()}
    ratios = sorted(two / one for one, two in zip(*speeds.values(), strict=True))
    facts = {"model": model, "lines": n_lines, "unit": "lines a second", "search": "greedy, float32"}
    start = connected + loading - n_lines / medians["Ray, two workers"]
    write(
        __file__,
        {
            **facts,
            "speeds": medians,
            "ratios": [round(ratio, 2) for ratio in ratios],
            "same bytes": same,
            "seconds until Ray translates": round(start, 1),
        },
    )


def translated(texts: Path, output: Path, pool: Any) -> float:
    """Translate the folder, and return the seconds."""
    with open_output(output, {}, overwrite=False) as folder:
        return BulkTranslation(find_files([texts], output, None).taken, folder).run(pool).seconds


def contents(folder: Path) -> dict[str, bytes]:
    """The translations in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.txt"))}


def made_up_lines(n_lines: int) -> list[str]:
    """Captions in English."""
    sources = [source for source, _ in standard_corpus("captions").train]
    return [sources[number % len(sources)] for number in range(n_lines)]


if __name__ == "__main__":
    main()
