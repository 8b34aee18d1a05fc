"""Speed of this version beside that of another checkout and of CTranslate2, all taking turns:

    git worktree add ../before a88da37 && (cd ../before && python setup.py build_ext --inplace)
    python benchmarks/versions.py ../before/src SENTENCES [--rounds 5]

Each system is a process of its own with two workers of one thread and batches of 512 tokens, and translates the first
1,000 lines of a file by `multi30k-en-de`: `before`, `now`, `plain` (now, without checks and repairs), `CTranslate2`.
Prints sentences a second: the median, and the lowest and highest; and the processor time that the process which starts
the workers takes itself, in milliseconds for 1,000 sentences. Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

MODEL, N_SENTENCES, BATCH_TOKENS, LONGEST = "multi30k-en-de", 1000, 512, 100
SYSTEMS, PRECISIONS, BEAMS = ("before", "now", "plain", "CTranslate2"), ("int8", "float32"), (1, 5)


def main() -> None:
    """Start the systems, and time them in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the folder src of another checkout, compiled")
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--as", dest="system", choices=SYSTEMS, help="used by this program itself")
    given = parser.parse_args()
    if given.system:
        serve(given.system, given.sentences.read_text(encoding="utf-8").splitlines()[:N_SENTENCES])
        return
    processes = {name: started(name, given.before.resolve()) for name in SYSTEMS}
    for precision, beam_size in product(PRECISIONS, BEAMS):
        speeds: dict[str, list[float]] = {name: [] for name in SYSTEMS}
        own: dict[str, list[float]] = {name: [] for name in SYSTEMS}
        for round in range(given.rounds + 1):
            for name, process in processes.items():
                speed, milliseconds = asked(process, precision, beam_size)
                speeds[name] += [speed] if round else []  # the first is to warm up
                own[name] += [milliseconds] if round else []
        texts = (
            f"{name} {statistics.median(all):.0f} ({min(all):.0f}-{max(all):.0f}), own {statistics.median(cpu):.0f} ms"
            for (name, all), cpu in zip(speeds.items(), own.values(), strict=True)
        )
        print(precision, f"beam {beam_size}:", "; ".join(texts), flush=True)
    for process in processes.values():
        process.terminate()


def started(name: str, before: Path) -> subprocess.Popen[str]:
    """Return the process of a system."""
    environment = os.environ | {"OMP_NUM_THREADS": "2"} | ({"PYTHONPATH": str(before)} if name == "before" else {})
    command = [sys.executable, "-W", "ignore", *sys.argv, "--as", name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def asked(process: subprocess.Popen[str], precision: str, beam_size: int) -> tuple[float, float]:
    """Return the sentences a second of one round, and the process's own milliseconds for 1,000 sentences."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{precision} {beam_size}\n")
    process.stdin.flush()
    seconds, own = map(float, process.stdout.readline().split())
    return N_SENTENCES / seconds, own * 1e6 / N_SENTENCES


def serve(name: str, lines: list[str]) -> None:
    """Translate whenever a line asks for it, and answer with the seconds."""
    translate = theirs(lines) if name == "CTranslate2" else ours(lines, {"plain": True} if name == "plain" else {})
    for line in sys.stdin:
        precision, beam_size = line.split()
        start, own = time.perf_counter(), time.process_time()
        translate(precision, int(beam_size))
        print(time.perf_counter() - start, time.process_time() - own, flush=True)


def ours(lines: list[str], options: dict[str, bool]) -> Callable[[str, int], object]:
    """Return a translation by dragoman, of whatever version is found."""
    from dragoman import Translator

    loaded = {each: Translator.load(MODEL, device="cpu", precision=each, workers=2) for each in PRECISIONS}  # type: ignore[arg-type]

    def translate(precision: str, beam_size: int) -> object:
        model = loaded[precision]
        return model.translate(lines, beam_size=beam_size, max_length=LONGEST, batch_size=BATCH_TOKENS, **options)  # type: ignore[arg-type]

    return translate


def theirs(lines: list[str]) -> Callable[[str, int], object]:
    """Return a translation by CTranslate2."""
    from ctranslate2_peer import Peer, save

    with TemporaryDirectory() as folder:
        save(MODEL, folder)
        loaded = {each: Peer(folder, each, workers=2) for each in PRECISIONS}
    options = {"max_batch_size": BATCH_TOKENS, "batch_type": "tokens", "max_decoding_length": LONGEST}

    def translate(precision: str, beam_size: int) -> object:
        return loaded[precision].translate(lines, beam_size=beam_size, length_penalty=0.6, **options)

    return translate


if __name__ == "__main__":
    main()
