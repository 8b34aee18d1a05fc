"""A folder of Firefox or Bergamot: dragoman with 8-bit integers beside slimt, in turns, on the same sentences.

    DRAGOMAN_SLIMT=python3.11 python benchmarks/marian_folder.py FOLDER SOURCE [--lines 1000] [--rounds 5] [--workers 2]

DRAGOMAN_SLIMT names a Python that has slimt. It prints JSON: the sentences of each round, the pieces of the vocabulary
that were written, and the seconds by the clock and of processor time, which other programs disturb less. The ratios are
of median speeds. `equal` says how many translations of the last round are the same. slimt 0.1.0 is no yardstick for
that: docs/speed.md says why. DRAGOMAN_BERGAMOT names a folder that has Firefox's engine, as
`npm install --prefix FOLDER @browsermt/bergamot-translator` makes it: then its translations are compared too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import machine
from sentencepiece import SentencePieceProcessor

from dragoman import Translator
from dragoman.bundle.bundle import write_bundle
from dragoman.imports.marian import import_marian

HERE = Path(__file__).parent


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("source", type=Path)
    for name, usual in (("--lines", 1000), ("--rounds", 5), ("--workers", 2)):
        parser.add_argument(name, type=int, default=usual)
    arguments = parser.parse_args()
    if "DRAGOMAN_SLIMT" not in os.environ:
        sys.exit("DRAGOMAN_SLIMT is not set: name a Python that has slimt")
    sentences = arguments.source.read_text(encoding="utf-8").splitlines()[: arguments.lines]
    imported = import_marian(arguments.folder)
    with tempfile.TemporaryDirectory() as temporary:
        write_bundle(Path(temporary) / "bundle", imported, "int8")
        ours = Translator.load(Path(temporary) / "bundle", device="cpu", workers=arguments.workers, precision="int8")
    shape = imported.config.n_encoder_layers, imported.config.n_decoder_layers, imported.config.n_heads
    parts = {"model": "model*.bin", "vocabulary": "vocab*.spm", "shortlist": "lex*.bin"}
    files = {name: str(next(arguments.folder.glob(pattern))) for name, pattern in parts.items()}
    settings = json.dumps({"shape": shape, "files": files, "workers": arguments.workers})
    process = subprocess.Popen(
        [os.environ["DRAGOMAN_SLIMT"], str(HERE / "slimt_peer.py"), settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def translate() -> list[str]:
        return [each.text for each in ours.translate(sentences, plain=True, beam_size=1)]

    def translate_by_slimt() -> list[str]:
        print(json.dumps(sentences), file=stdin, flush=True)
        line = stdout.readline()
        if not line:
            sys.exit("slimt ended")
        texts: list[str] = json.loads(line)
        return texts

    systems: dict[str, Callable[[], list[str]]] = {"dragoman": translate, "slimt": translate_by_slimt}
    count = SentencePieceProcessor(model_file=files["vocabulary"])
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in systems}
    texts: dict[str, list[str]] = {}
    for number in range(arguments.rounds + 1):  # the first round warms both up
        for name, run in systems.items():
            clock, work = time.perf_counter(), processor_seconds(os.getpid())
            texts[name] = run()
            clock, work = time.perf_counter() - clock, processor_seconds(os.getpid()) - work
            pieces = sum(map(len, count.encode(texts[name])))
            figures = {"sentences": len(sentences), "pieces": pieces, "seconds": clock, "processor seconds": work}
            rounds[name] += [figures] if number else []
    process.stdin.close()
    if "DRAGOMAN_BERGAMOT" in os.environ:
        texts["bergamot"] = translate_by_bergamot(arguments.folder, sentences)
    report = {"machine": machine(), "workers": arguments.workers, **compared(rounds)}
    json.dump({**report, "equal": agreement(texts), "rounds": rounds}, sys.stdout, indent=2)
    print()


def processor_seconds(process: int) -> float:
    """Return the seconds of CPU time that a process and its children have used so far."""
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    children = [each.read_text().split() for each in Path(f"/proc/{process}/task").glob("*/children")]
    own = (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_seconds(int(child)) for some in children for child in some)


def translate_by_bergamot(folder: Path, sentences: list[str]) -> list[str]:
    """Translate by Firefox's engine, each sentence by itself, so that it has a short-list of its own."""
    script = HERE / "bergamot.cjs"
    command = ["node", str(script), os.environ["DRAGOMAN_BERGAMOT"], str(folder)]
    done = subprocess.run(command, input=json.dumps(sentences), capture_output=True, text=True, check=True)
    texts: list[str] = json.loads(done.stdout)
    return texts


def compared(rounds: dict[str, list[dict[str, float]]]) -> dict[str, float]:
    """Return the ratios of the medians of both systems."""
    ratios = {}
    for unit in ("sentences", "pieces"):
        for clock in ("seconds", "processor seconds"):
            speeds = [statistics.median(each[unit] / each[clock] for each in some) for some in rounds.values()]
            ratios[f"ratio of {unit} in {clock}"] = round(speeds[0] / speeds[1], 3)
    return ratios


def agreement(texts: dict[str, list[str]]) -> dict[str, int]:
    """Return how many translations each two systems share."""
    plain = {name: [" ".join(text.split()) for text in some] for name, some in texts.items()}
    names = list(plain)
    return {
        f"{one}, {other}": sum(a == b for a, b in zip(plain[one], plain[other], strict=True))
        for number, one in enumerate(names)
        for other in names[number + 1 :]
    }


if __name__ == "__main__":
    main()
