"""The time until an epoch of many pairs begins, and the memory that it holds.

    python benchmarks/epochs.py RUN [TIMES ...]

RUN is a run folder that `dragoman prepare` made. Its training pairs are repeated TIMES times (1, 10) in a temporary
store, since to prepare ten million pairs takes long and this does not depend on what they say. For each: seconds to
open the store and cut it into batches, to begin the first and the second epoch, batches a second after that, read in
the order of the training; and resident memory, without and with the pages of the files.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measuring import memory_mib, write

from dragoman.data.batches import Batches
from dragoman.data.store import INDEX, SIDES, PairStore
from dragoman.text.tokenizer_files import load_tokenizers

TIMES = (1, 10)
N_BATCHES = 500


def main() -> None:
    """Measure each size in a process of its own, and write epochs.json."""
    run, folder = Path(sys.argv[1]), sys.argv[2:3]
    if folder and Path(folder[0]).is_dir():
        print(json.dumps(measure(run, Path(folder[0]))))
        return
    results = []
    for times in map(int, sys.argv[2:] or TIMES):
        with TemporaryDirectory(dir=run) as name:
            repeat(run / "data" / "train", Path(name), times)
            done = subprocess.run([sys.executable, __file__, str(run), name], check=True, stdout=subprocess.PIPE)
            results.append(json.loads(done.stdout))
    write(__file__, {"stores": results})


def repeat(store: Path, folder: Path, times: int) -> None:
    """Write a store with all pairs of `store` so many times."""
    for column in (f"{side}_{kind}" for side in SIDES for kind in ("ids", "text")):
        offsets = np.fromfile(store / f"{column}_offsets.bin", "<i8")
        with open(folder / f"{column}.bin", "wb") as values, open(folder / f"{column}_offsets.bin", "wb") as ends:
            offsets[:1].tofile(ends)
            for number in range(times):
                with open(store / f"{column}.bin", "rb") as source:
                    shutil.copyfileobj(source, values)
                (offsets[1:] + number * offsets[-1]).tofile(ends)
    index = json.loads((store / INDEX).read_text())
    (folder / INDEX).write_text(json.dumps({**index, "n_pairs": times * index["n_pairs"]}))


def measure(run: Path, folder: Path) -> dict[str, Any]:
    """Return the figures of one store."""
    tokenizers, before = load_tokenizers(run / "tokenizer"), memory_mib()
    clock = [time.perf_counter()]
    batches = Batches(PairStore(folder), tokenizers, batch_tokens=4096, seed=1)
    clock.append(time.perf_counter())
    for first in (0, batches.epochs.n_batches):
        batches.micro_batches(first)
        clock.append(time.perf_counter())
    for position in range(N_BATCHES):
        batches.micro_batches(batches.epochs.n_batches + position)
    clock.append(time.perf_counter())
    opening, first_epoch, second_epoch, reading = np.diff(clock).tolist()
    after = memory_mib()
    return {
        "pairs": len(PairStore(folder)),
        "to open, s": round(opening, 2),
        "first epoch begins, s": round(first_epoch, 2),
        "second epoch begins, s": round(second_epoch, 2),
        "batches a second": round(N_BATCHES / reading),
        "memory, MiB": after["RssAnon"] - before["RssAnon"],
        "pages of files, MiB": after["RssFile"] - before["RssFile"],
        "peak of all, MiB": after["VmHWM"],
    }


if __name__ == "__main__":
    main()
