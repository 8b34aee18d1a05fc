"""Trainings interrupted at random moments, again and again, until they are finished; and trainers that race.

A program of its own: it imports everything once and starts each life of a training with `fork`, which takes
milliseconds instead of seconds. What it checks, it reads from the run folder and from what the training said, not from
its code. Prints one JSON object with counts; the first trial that fails ends it with the arguments that repeat it.

    python interruptions.py KILL 50 RACE 20 --seed 3          # 50 interruptions by SIGKILL, 20 races
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import mmap
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dragoman.bundle import bundle
from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run as run_program
from dragoman.machine import folders
from dragoman.machine.pointers import read_pointer
from dragoman.training import checkpoint

# What a training imports is imported before the forks, not in each of them; PyTorch's optimizers import the first.
for name in ("torch._dynamo", "sacrebleu", "sentencepiece", "dragoman.cli.train", "dragoman.training.run"):
    importlib.import_module(name)

#: The exit codes of a training that was asked to stop.
EXIT_CODES = {"TERM": 143, "INT": 130}
#: Interruptions of one training, before it may finish.
PER_TRAINING = 8
#: Longest time from a polite signal to the end, in seconds.
PATIENCE = 10.0
N_STEPS = 30

RECIPE = """
data: {source: SOURCE, target: TARGET, validation_size: 10}
tokenizer: {kind: bpe, vocab_size: 24, byte_fallback: false, sampling: 0.2}
model: {d_model: 16, d_ff: 32, n_heads: 2, n_encoder_layers: 1, n_decoder_layers: 1, tie: all, dropout: 0.2}
training: {batch_tokens: 200, max_steps: N_STEPS, warmup_steps: 10, lr: 0.01, ema: 0.9, precision: float32,
  save_every: 3, log_every: 1, validate_every: 20, seed: 7}
"""


@dataclass
class Interruption:
    code: int  # the exit code, or the signal that ended it as a negative number
    saving: bool  # whether it hit a save
    late: bool  # whether the last step was done already
    seconds: float  # from the signal to the end


class Life:
    """One process that trains in `folder` until it ends or is ended."""

    def __init__(self, recipe: Path, folder: Path, *, say: Path) -> None:
        self.shared = mmap.mmap(-1, 2)  # whether it has begun; whether it is inside a save
        self.say = say
        self.process = os.fork()
        if self.process == 0:
            code = 70
            try:
                descriptor = os.open(say, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(descriptor, 1)
                os.dup2(descriptor, 2)
                self._watch_saves()
                os.fsync = lambda descriptor: None  # what a process wrote, its death does not take away
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self.shared[0] = 1
                code = run_program(["train", str(recipe), "--output", str(folder), "--device", "cpu"])
            finally:
                sys.stderr.flush()
                os._exit(code)

    def _watch_saves(self) -> None:
        def watched(*arguments: Any, **options: Any) -> None:
            self.shared[1] = 1
            original(*arguments, **options)
            self.shared[1] = 0

        original: Callable[..., None] = folders.save_folder
        bundle.save_folder = watched  # type: ignore[attr-defined]
        checkpoint.save_folder = watched  # type: ignore[attr-defined]

    def is_over(self) -> bool:
        return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self) -> int:
        """Its exit code, or the signal that ended it as a negative number."""
        status = os.waitpid(self.process, 0)[1]
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def interrupt(self, after: float, in_save: bool, number: signal.Signals) -> Interruption:
        """Send it a signal `after` seconds from its beginning, or in the save that follows."""
        while not self.shared[0]:
            time.sleep(0.0005)
        time.sleep(after)
        while in_save and not self.shared[1] and not self.is_over():
            time.sleep(0.0001)
        saving, heard, started = bool(self.shared[1]), self.said(), time.monotonic()
        os.kill(self.process, number)
        code = self.wait()
        if number == signal.SIGKILL:
            saving = bool(self.shared[1])
        return Interruption(code, saving, f"step {N_STEPS}" in heard, time.monotonic() - started)

    def said(self) -> str:
        return self.say.read_text(encoding="utf-8", errors="replace")


def outcome(folder: Path) -> dict[str, Any]:
    """All that must not depend on interruptions: figures of each step and validation, weights, pointers."""
    timed = ("seconds", "target_tokens_per_second", "peak_memory_mib", "waiting_for_batches")
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    files = [
        *(folder / "checkpoints" / f"step-{N_STEPS}").glob("*.safetensors"),
        *(folder / "bundles").glob("*/model.safetensors"),
    ]
    return {
        "log": [
            {
                key: value.hex() if isinstance(value, float) else value
                for key, value in record.items()
                if key not in timed
            }
            for record in records
        ],
        "weights": {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)
        },
        "pointers": {name: read_pointer(folder / name).name for name in ("best", "last")},
    }


@dataclass
class Counts:
    interruptions: int = 0
    inside_a_save: int = 0
    trainings: int = 0
    slowest_stop: float = 0.0


def interrupted_training(recipe: Path, folder: Path, kind: str, length: float, dice: random.Random) -> Counts:
    """Interrupt a training `PER_TRAINING` times, then let it finish; complain about whatever was lost."""
    counts, acknowledged = Counts(trainings=1), 0
    number = getattr(signal, f"SIG{kind}")
    while True:
        life = Life(recipe, folder, say=folder.parent / "said")
        if counts.interruptions < PER_TRAINING:
            hit = life.interrupt(dice.uniform(0, 0.8 * length), dice.random() < 0.4, number)
            counts.interruptions += 1
            counts.inside_a_save += hit.saving
            counts.slowest_stop = max(counts.slowest_stop, hit.seconds)
            code = hit.code
            assert code == EXIT_CODES.get(kind, -signal.SIGKILL) or (code == 0 and hit.late), f"{hit}: {life.said()}"
            assert kind == "KILL" or hit.seconds < PATIENCE, f"{hit}: {life.said()}"
        else:
            code = life.wait()
            assert code == 0, f"exit code {code}: {life.said()}"
        said = life.said()
        assert "Traceback" not in said, said
        assert "damaged" not in said, said
        if begun := re.search(r"continuing after step ([\d,]+)", said):
            assert int(begun[1].replace(",", "")) >= acknowledged, f"step {acknowledged} was lost: {said}"
        else:
            assert not re.search(r"^step \d", said, re.MULTILINE) or not acknowledged, f"started anew: {said}"
        acknowledged = max(
            [acknowledged, *(int(step) for step in re.findall(r"^saved step (\d+)$", said, re.MULTILINE))]
        )
        if code == 0:
            return counts


def race(recipe: Path, folder: Path, dice: random.Random) -> Counts:
    """Two trainers at once: one runs, the other says who does. The runner is killed: the next one starts."""
    lives = [Life(recipe, folder, say=folder.parent / f"said-{i}") for i in range(2)]
    started = time.monotonic()
    first, status = os.wait()
    seconds = time.monotonic() - started
    assert seconds < PATIENCE, f"the second trainer gave up only after {seconds:.1f} s"
    loser, winner = lives if lives[0].process == first else lives[::-1]
    assert os.WIFEXITED(status), f"status {status}: {loser.said()}"
    assert os.WEXITSTATUS(status) == 1, f"status {status}: {loser.said()}"
    assert re.search(rf"in use by process {winner.process} on \S", loser.said()), loser.said()
    if dice.random() < 0.5:
        os.kill(winner.process, signal.SIGKILL)
        winner.wait()
        winner = Life(recipe, folder, say=folder.parent / "said-2")
    assert winner.wait() == 0, winner.said()
    return Counts(interruptions=1, trainings=1, slowest_stop=seconds)


def many(kind: str, n_interruptions: int, seed: int, recipe: Path, length: float, expected: dict[str, Any]) -> Counts:
    """Trainings of one kind, from one seed on, until there were so many interruptions; a failure ends the program."""
    total = Counts()
    while total.interruptions < n_interruptions:
        folder = recipe.parent / f"run-{seed}"
        try:
            dice = random.Random(seed)
            if kind == "RACE":
                counts = race(recipe, folder, dice)
            else:
                counts = interrupted_training(recipe, folder, kind, length, dice)
            assert outcome(folder) == expected, "the outcome differs from that of the uninterrupted training"
            load_bundle(read_pointer(folder / "best"))
        except Exception as error:
            sys.exit(f"{type(error).__name__}: {error}\nto repeat it: python {sys.argv[0]} {kind} 1 --seed {seed}")
        shutil.rmtree(folder)
        total.interruptions += counts.interruptions
        total.inside_a_save += counts.inside_a_save
        total.trainings += counts.trainings
        total.slowest_stop = max(total.slowest_stop, counts.slowest_stop)
        seed += 1
    return total


def write_recipe(place: Path) -> Path:
    """The recipe of all trainings, with its text."""
    words = random.Random(1)
    text = "".join(
        " ".join(words.choices(["an", "bin", "can", "den"], k=words.randint(2, 7))) + "\n" for _ in range(200)
    )
    for side in ("SOURCE", "TARGET"):
        (place / side).write_text(text if side == "SOURCE" else text.replace("an", "un"), encoding="utf-8")
    recipe = place / "recipe.yaml"
    recipe.write_text(
        RECIPE.replace("N_STEPS", str(N_STEPS))
        .replace("SOURCE", str(place / "SOURCE"))
        .replace("TARGET", str(place / "TARGET"))
    )
    return recipe


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", nargs="+", metavar="KIND NUMBER", help="KILL, TERM, INT or RACE, and how many")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        recipe = write_recipe(Path(name))
        started = time.monotonic()
        whole = recipe.parent / "whole"
        assert Life(recipe, whole, say=recipe.parent / "said").wait() == 0, (recipe.parent / "said").read_text()
        length = time.monotonic() - started
        expected = outcome(whole)
        assert len(expected["log"]) == N_STEPS + 2
        figures = {}
        for kind, number in zip(arguments.trials[::2], arguments.trials[1::2], strict=True):
            started = time.monotonic()
            counts = many(kind, int(number), arguments.seed, recipe, length, expected)
            figures[kind] = {**vars(counts), "seconds": time.monotonic() - started, "seconds_undisturbed": length}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
