"""Update a model with some segments of a new kind of text; score it on other documents, and on everyday text.

    python benchmarks/update.py tico-19 tatoeba-en-fr --sizes 50,500 [--output update.json]

The new text is TICO-19 (`all.en-fr.tmx.zip`): segments are drawn from every second of its documents, and 100 held-out
ones from the others. Old pairs are 4,000 of the training text of Tatoeba (`train.en.gz`, `train.fr.gz`), which
`everyday` has seen; everyday text is 100 of its validation text. Minutes are CPU time of `dragoman update` with one
thread (`OMP_NUM_THREADS=1`).
"""

import argparse
import gzip
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import sacrebleu

import dragoman
from dragoman.data.formats import open_pairs

N_HELD, N_OLD = 100, 4_000
Pair = tuple[str, str]


def documents(folder: Path) -> list[list[Pair]]:
    """Return the pairs of each document of TICO-19; the name of one is a part of a unit's id."""
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(folder / "all.en-fr.tmx.zip") as archive:
        (name,) = archive.namelist()
        path = Path(archive.extract(name, scratch))
        lines = path.read_text(encoding="utf-8").split("\n")
        ids = {number: match[1] for number, line in enumerate(lines, 1) if (match := re.match('<tu tuid="(.*):', line))}
        found: dict[str, list[Pair]] = {}
        for line, source, target in open_pairs(path, ("en", "fr"), None, "error").read():
            found.setdefault(ids[line], []).append((str(source), str(target)))
    return list(found.values())


def sides(folder: Path, split: str, n: int) -> list[Pair]:
    texts = (
        gzip.decompress((folder / f"{split}.{code}.gz").read_bytes()).decode().split("\n") for code in ("en", "fr")
    )
    pairs = [(source, target) for source, target in zip(*texts, strict=True) if source and target]
    return random.Random(7).sample(list(dict.fromkeys(pairs)), n)


def table(path: Path, pairs: list[Pair]) -> Path:
    rows = ("\t".join(" ".join(side.split()) for side in pair) for pair in [("en", "fr"), *pairs])
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def scores(model: str, pairs: list[Pair]) -> dict[str, float]:
    translator = dragoman.Translator.load(model, device="cpu")
    found = translator.translate([source for source, _ in pairs], source_lang="en", target_lang="fr")
    texts, references = [one.text for one in found], [[target for _, target in pairs]]
    return {
        "bleu": round(sacrebleu.corpus_bleu(texts, references).score, 1),
        "chrf": round(sacrebleu.corpus_chrf(texts, references).score, 1),
    }


def updated(model: str, memory: Path, old: Path, output: Path) -> tuple[float, str]:
    """Update a model; return the minutes, and what the command said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dragoman", "update", "-m", model, "--memory", str(memory), "-o", str(output)]
    command += ["--source-lang", "en", "--target-lang", "fr", "--old-pairs", str(old), "--device", "cpu"]
    told = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 60, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", type=Path)
    parser.add_argument("old", type=Path)
    parser.add_argument("--model", default="everyday")
    parser.add_argument("--sizes", default="50,500")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    texts = documents(given.new)
    learned, held = ([pair for text in texts[start::2] for pair in dict.fromkeys(text)] for start in (0, 1))
    held = random.Random(7).sample(held, N_HELD)
    everyday = sides(given.old, "val", N_HELD)
    results = [{"segments": 0, "new": scores(given.model, held), "everyday": scores(given.model, everyday)}]
    print(results[-1], flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        old = table(folder / "old.tsv", sides(given.old, "train", N_OLD))
        for size in map(int, given.sizes.split(",")):
            memory = table(folder / "memory.tsv", random.Random(7).sample(learned, size))
            minutes, told = updated(given.model, memory, old, folder / str(size))
            print(told, flush=True)
            new, kept = (scores(str(folder / str(size)), pairs) for pairs in (held, everyday))
            results.append({"segments": size, "minutes": round(minutes, 1), "new": new, "everyday": kept})
            print(results[-1], flush=True)
    if given.output:
        given.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
