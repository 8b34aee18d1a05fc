"""A folder of Firefox or Bergamot: dragoman with 8-bit integers beside slimt, in turns, on the same sentences.

    DRAGOMAN_SLIMT=python3.11 python benchmarks/marian_folder.py FOLDER SOURCE [--lines 1000] [--rounds 5]

DRAGOMAN_SLIMT names a Python that has slimt. Both have two workers. It prints JSON: the sentences a second of each
round, the ratio of the medians, and how many translations are equal.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dragoman import Translator
from dragoman.bundle.bundle import write_bundle
from dragoman.imports.marian import import_marian

#: slimt's package asks the network for lists of models when it is imported, so its library is loaded alone.
SLIMT = """
import glob, importlib.util, json, sys, time, sysconfig
place = glob.glob(sysconfig.get_paths()["purelib"] + "/slimt/_slimt*.so")[0]
spec = importlib.util.spec_from_file_location("_slimt", place)
slimt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slimt)
settings = json.loads(sys.argv[1])
config = slimt.Config()
for name, value in settings["shape"].items():
    setattr(config, name, value)
config.feed_forward_depth, config.split_mode = 2, "sentence"
model, service = slimt.Model(config, slimt.Package(**settings["files"])), slimt.Service(2, 0)
for line in sys.stdin:
    sentences = json.loads(line)
    start = time.perf_counter()
    texts = [each.target.text for each in service.translate(model, sentences, html=False)]
    print(json.dumps([time.perf_counter() - start, texts]), flush=True)
"""


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    sentences = arguments.source.read_text(encoding="utf-8").splitlines()[: arguments.lines]
    imported = import_marian(arguments.folder)
    with tempfile.TemporaryDirectory() as temporary:
        write_bundle(Path(temporary) / "bundle", imported, "int8")
        ours = Translator.load(Path(temporary) / "bundle", device="cpu", workers=2, precision="int8")
    shape = {
        "layers": [imported.config.n_encoder_layers, imported.config.n_decoder_layers],
        "num_heads": imported.config.n_heads,
    }
    parts = {"model": "model*.bin", "vocabulary": "vocab*.spm", "shortlist": "lex*.bin"}
    files = {name: str(next(arguments.folder.glob(pattern))) for name, pattern in parts.items()}
    command = [os.environ["DRAGOMAN_SLIMT"], "-c", SLIMT, json.dumps({"shape": shape, "files": files})]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    speeds: dict[str, list[float]] = {"dragoman": [], "slimt": []}
    n_equal = 0
    for number in range(arguments.rounds + 1):  # the first round warms both up
        start = time.perf_counter()
        texts = [each.text for each in ours.translate(sentences, plain=True)]
        seconds = {"dragoman": time.perf_counter() - start}
        print(json.dumps(sentences), file=process.stdin, flush=True)
        seconds["slimt"], theirs = json.loads(process.stdout.readline())
        n_equal = sum(" ".join(a.split()) == " ".join(b.split()) for a, b in zip(texts, theirs, strict=True))
        for name, value in seconds.items():
            speeds[name] += [len(sentences) / value] if number else []
    process.stdin.close()
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    report = {"sentences": len(sentences), "equal": n_equal, "ratio": medians["dragoman"] / medians["slimt"]}
    json.dump({**report, "sentences_per_second": speeds}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
