"""Waiting times for one sentence and for the first translation of a new process, and the memory that they take.

    make bench-latency          # or: python benchmarks/latency.py RUN SOURCE, with a trained run and a text file

One sentence: the median over sentences of the same weights, one thread. Starts: whole processes, in turn. Memory: the
most that a process translating 1,000 sentences had resident; of several workers, the first one's.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ctranslate2_peer import Peer, save
from measuring import loaders, run_measured, write
from threadpoolctl import threadpool_limits

from dragoman import Translator
from dragoman.data.text_files.lines import read_lines

N_SENTENCES, N_ROUNDS = 60, 5
KINDS = ("float32", "int8")

CTRANSLATE2 = """
import sys, ctranslate2, sentencepiece
load = sentencepiece.SentencePieceProcessor
source, target = (load(model_file=f"{sys.argv[1]}/{side}.spm") for side in ("source", "target"))
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type=sys.argv[3], intra_threads=1)
pieces = source.encode(open(sys.argv[2], encoding="utf-8").read().splitlines(), out_type=str, num_threads=1)
found = translator.translate_batch(pieces, beam_size=5, max_batch_size=512, batch_type="tokens")
print("\\n".join(target.decode([each.hypotheses[0] for each in found], num_threads=1)))
"""


def main() -> None:
    """Measure, and write latency.json."""
    run, source = sys.argv[1], Path(sys.argv[2])
    lines = [str(line) for line in islice(read_lines(source), 1000)]
    threadpool_limits(1)
    ours = {name: load(run) for name, load in loaders().items()}
    with TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model"
        save(run, str(model))
        theirs = {f"CTranslate2 {kind}": Peer(str(model), kind, workers=1) for kind in KINDS}

        def one_sentence(beam_size: int) -> dict[str, float]:
            systems = {name: partial(_we, translator, lines, beam_size) for name, translator in ours.items()}
            systems |= {name: partial(_they, translator, lines, beam_size) for name, translator in theirs.items()}
            return _median_ms(systems)

        sentence = {f"beam {beam_size}": one_sentence(beam_size) for beam_size in (1, 5)}
        one, all_ = folder / "one", folder / "all"
        one.write_text(lines[0] + "\n")
        all_.write_text("".join(line + "\n" for line in lines))
        python, us = sys.executable, [sys.executable, "-m", "dragoman"]
        translate = [*us, "translate", "-m", run, "--workers", "1", "--device", "cpu", "--beam-size", "5", "--input"]
        peer = [python, "-c", CTRANSLATE2, str(model)]
        starts = _in_turns(
            {
                "python": [python, "-c", ""],
                "import torch": [python, "-c", "import torch"],
                "dragoman --help": [*us, "--help"],
                "dragoman translate, one sentence": [*translate, str(one)],
                "ctranslate2, one sentence": [*peer, str(one), "float32"],
            }
        )
        commands = {"dragoman": [*translate, str(all_)]}
        for precision in ("bfloat16", "int8"):
            if f"dragoman {precision}" in ours:
                commands[f"dragoman {precision}"] = [*translate, str(all_), "--precision", precision]
        commands |= {f"CTranslate2 {kind}": [*peer, str(all_), kind] for kind in KINDS}
        memory = {name: run_measured(command)[1] for name, command in commands.items()}
    write(__file__, {"one sentence, ms": sentence, "start, s": starts, "memory, MiB": memory})


def _we(translator: Translator, lines: Sequence[str], beam_size: int, number: int) -> None:
    translator.translate(lines[number], beam_size=beam_size)


def _they(translator: Peer, lines: Sequence[str], beam_size: int, number: int) -> None:
    translator.translate([lines[number]], beam_size=beam_size)


def _median_ms(systems: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Return the median time of a sentence, in milliseconds; the systems take turns at every sentence."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    for number in range(N_SENTENCES):
        for name, translate in systems.items():
            started = time.perf_counter()
            translate(number)
            times[name].append(time.perf_counter() - started)
    return {name: round(1000 * statistics.median(values), 1) for name, values in times.items()}


def _in_turns(commands: dict[str, Sequence[str]]) -> dict[str, float]:
    """Return the median time of each command, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(N_ROUNDS):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - started)
    return {name: round(statistics.median(values), 2) for name, values in times.items()}


if __name__ == "__main__":
    main()
