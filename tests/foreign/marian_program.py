"""Marian itself (pymarian), in a Python of its own, because its wheels are for one version of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PYTHON = os.environ.get("DRAGOMAN_MARIAN", "")
REASON = "python3.11 -m pip install pymarian elsewhere, and set DRAGOMAN_MARIAN to that Python"
_PROGRAM = "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"


def marian(folder: Path, command: str, *options: str) -> list[str]:
    """Run a command of Marian in a folder, and return its output."""
    arguments = [PYTHON, "-c", _PROGRAM, command, *options]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.split("\n")


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def train(folder: Path, texts: tuple[list[str], list[str]], n_steps: int, *options: str) -> None:
    """Train a small model with a joint vocabulary: model.npz, vocab.ende.spm."""
    folder.mkdir()
    for language, lines in zip(("en", "de"), texts, strict=True):
        write_lines(folder / f"train.{language}", lines)
    sizes = (
        "--dim-vocabs 120 120 --dim-emb 32 --transformer-dim-ffn 64 --transformer-heads 4 --enc-depth 2 --dec-depth 2"
    )
    speed = "--cpu-threads 1 --mini-batch 16 --mini-batch-fit=false -w 128 --learn-rate 0.003 --seed 1 --overwrite"
    files = "--model model.npz --train-sets train.en train.de --vocabs vocab.ende.spm vocab.ende.spm"
    usual = f"--type transformer --after-batches {n_steps} --disp-freq {n_steps} --tempdir ."
    no_limit = ["--sentencepiece-options", "--hard_vocab_limit=false"]
    marian(folder, "train", *usual.split(), *files.split(), *sizes.split(), *speed.split(), *no_limit, *options)
    (folder / "model.npz.decoder.yml").unlink()  # paths elsewhere


_MODEL = "-m model.npz -v vocab.ende.spm vocab.ende.spm --cpu-threads 1 -w 128 --quiet"


def scores(folder: Path, sources: list[str], targets: list[str]) -> list[float]:
    """Return the log-probability of each translation."""
    write_lines(folder / "score.en", sources)
    write_lines(folder / "score.de", targets)
    lines = marian(folder, "score", *_MODEL.split(), "-t", "score.en", "score.de")
    return [float(line) for line in lines if line]


def greedy(folder: Path, sources: list[str]) -> list[list[str]]:
    """Return the pieces of each translation, by greedy search that may write the unknown piece, as ours may."""
    write_lines(folder / "greedy.en", sources)
    search = "-b 1 --normalize 0 --allow-unk --no-spm-decode --max-length-factor 2 --mini-batch 32"
    marian(folder, "decode", *_MODEL.split(), *search.split(), "-i", "greedy.en", "-o", "greedy.out")
    return [line.split() for line in (folder / "greedy.out").read_text().split("\n")[: len(sources)]]
