"""Bad input by the thousand: text, recipes, model folders, tokenizers and lines, each made bad at random.

A program of its own: it imports everything once and tries the inputs in forked children, which are limited in memory
and time. A child tries several inputs, one after the other, and tells how each went; so when it dies, the input that
killed it is known. Prints one JSON object with counts; a trial that fails is told with the command that repeats it.

    python fuzz.py config 500 model 50   # trials 1 to 500 of recipes, 1 to 50 of model folders
    python fuzz.py config 1 --seed 417   # trial 417 alone
    python fuzz.py config 1 --seed 417 --debug
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import typer
from mutators import (
    NASTY,
    YAML_TOKENS,
    damage_text,
    damaged_gzip,
    damaged_json,
    damaged_message,
    damaged_recipe,
    damaged_safetensors,
    nasty_line,
    nasty_text,
    to_yaml,
)

sys.path.append(str(Path(__file__).parents[1]))

import torch
from tiny import PAIRS, tiny_tokenizers, write_tiny_bundle

import dragoman.data.mixture
import dragoman.training.resolve
import dragoman.training.run
from dragoman.cli import program
from dragoman.data.parallel_text import ParallelText
from dragoman.machine.folders import MANIFEST
from dragoman.machine.json_files import to_json
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers

#: Seconds of processor time that one trial may take, and of waiting: another job on the machine is no hang.
PATIENCE, LONGEST_WAIT = 10, 120
#: Memory that it may add to what the program has before it.
MAX_ADDED_MIB = 300
ADDRESS_SPACE = 2 << 30
#: Longest line of a message.
MAX_MESSAGE = 1_000
#: Characters of what was said with a failure, and failures, that are shown.
MAX_SHOWN = 500
N_SHOWN = 20
DEBUG = "--debug" in sys.argv

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Kind:
    """One kind of bad input.

    `setup` makes what is good in a folder. `trial` makes it bad with its dice, or leaves it good without, tries it, and
    returns the exit code and the names of which one must be in the message of a failure. It raises `AssertionError`
    when it finds something wrong itself.
    """

    codes: frozenset[int]
    setup: Callable[[Path], None]
    trial: Callable[[Path, Random | None], tuple[int, list[str]]]
    #: Inputs of one trial, and trials of one child.
    inputs: int = 1
    batch: int = 25


@dataclass
class Counts:
    kind: str
    inputs: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    added_mib: float = 0.0


def run(arguments: list[str]) -> int:
    """The exit code of the program."""
    return program.run([*arguments, *(["--debug"] if DEBUG else [])])


# --- corpus: `dragoman prepare`

SIDES = [[f"{pair[side][:-1]} {word}." for word in ["one", "two", "six"] for pair in PAIRS] for side in (0, 1)]


def no_setup(place: Path) -> None:
    """Nothing is needed before."""


def try_corpus(place: Path, dice: Random | None) -> tuple[int, list[str]]:
    form = dice.choice(["files", "files", "tsv", "jsonl"]) if dice else "files"
    contents = {
        "text.en": "".join(f"{line}\n" for line in SIDES[0]),
        "text.de": "".join(f"{line}\n" for line in SIDES[1]),
    }
    if form == "tsv":
        contents = {"text.en-de.tsv": "".join(f"{pair[0]}\t{pair[1]}\n" for pair in zip(*SIDES, strict=True))}
    elif form == "jsonl":
        rows = [dict(zip(("source", "target"), pair, strict=True)) for pair in zip(*SIDES, strict=True)]
        contents = {"text.en-de.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)}
    files = {name: content.encode() for name, content in contents.items()}
    arguments = ["--set", "tokenizer.kind=characters"]
    if dice:
        for name in dice.sample(sorted(files), dice.randint(1, len(files))):
            if dice.random() < 0.3:
                files[f"{name}.gz"] = damaged_gzip(dice, files.pop(name))
            elif form == "jsonl" and dice.random() < 0.5:
                lines = files[name].splitlines()
                lines[dice.randrange(len(lines))] = damaged_json(dice, lines[0])
                files[name] = b"\n".join(lines)
            else:
                files[name] = damage_text(dice, files[name])
        # Pieces take longer to learn, and spaCy's rules to load: they are met with bad text under "translate".
        kinds = ["tokenizer.kind=characters"] * 15 + ["tokenizer.byte_fallback=false"]
        kind = dice.choice(kinds)
        arguments = ["--set", kind]
        arguments += dice.choice([[], [], ["--invalid-utf8=drop"], ["--set", "data.dedup=true"]])
        rare = ["--set", "tokenizer.min_count=2"] if kind == kinds[0] else []  # which pieces do not have
        arguments += dice.choice([[], ["--set", "data.validation_size=3"], rare])
    for name, content in files.items():
        (place / name).write_bytes(content)
    paths = [str(place / name) for name in sorted(files, reverse=True)]
    options = ["--source", "--target"] if form == "files" else ["--pairs"]
    named = list(itertools.chain(*zip(options, paths, strict=True)))
    code = run(["prepare", *named, *arguments, "-o", str(place / "run")])
    left = sorted(path.name for path in (place / "run").glob("*") if path.name != "lock")
    assert left == ([] if code else ["data", "tokenizer"]), f"exit code {code} leaves {left}"
    return code, paths


# --- config: `dragoman train`, until it would begin

RECIPES: list[dict[str, Any]] = [
    {
        "data": {"source": "text.en", "target": "text.de", "validation_size": 100, "max_length": 128, "max_ratio": 3.5},
        "tokenizer": {"kind": "bpe", "joint": True, "vocab_size": 4000, "sampling": 0.1, "lowercase": False},
        "model": {"preset": "tiny", "dropout": 0.2, "norm": "pre", "max_length": 200},
        "training": {"batch_tokens": 1024, "max_epochs": 3, "lr": 0.002, "warmup_steps": 200, "schedule": "cosine"},
        "search": {"beam_size": 4, "length_penalty": 1.0},
    },
    {
        "data": {"pairs": "text.en-de.tsv", "dedup": True, "invalid_utf8": "drop", "source_lang": "en"},
        "tokenizer": {"kind": "words", "min_count": 2, "joint": False},
        "model": {
            "d_model": 64,
            "d_ff": 128,
            "n_heads": 4,
            "n_encoder_layers": 2,
            "n_decoder_layers": 2,
            "tie": "decoder",
        },
        "training": {
            "max_steps": 1000,
            "adam_betas": [0.9, 0.98],
            "clip_norm": None,
            "label_smoothing": 0.1,
            "ema": 0.99,
        },
    },
    {
        "data": {"corpus": "captions", "target_lang": "de"},
        "model": {"positions": "rotary", "d_k": 16, "d_v": 8, "memory": "layerwise", "final_norm": None},
        "training": {"precision": "float32", "validate_every": 50, "best_by": "loss", "patience": 3, "seed": 7},
        "search": {"sample": True, "temperature": 0.7, "top_k": 10, "top_p": 0.9, "min_length": 1, "max_length": 50},
    },
    {
        "data": {
            "corpora": [
                {"source": "a.en", "target": "a.de", "both_ways": True, "weight": 0.5},
                {"pairs": "b.en-fr.tsv", "name": "more", "source_lang": "en", "target_lang": "fr", "tag": "bt"},
            ],
            "drop": ["numbers", "copied"],
        },
        "tokenizer": {"split_digits": True, "reserved": 8},
        "augmentation": {"spans": 0.2, "reserved": 0.1, "case": 0.1, "typos": 0.1},
        "training": {"save_minutes": 3, "max_epochs": 4},
    },
]


def ready_to_train(settings: dict[str, Any], folder: Path, **options: Any) -> Path:
    """Do what `train` does with its settings, up to the first step, with a corpus of a few pairs."""
    dragoman.training.resolve.fill(settings)
    return folder / "best"


def few_pairs(*arguments: Any) -> ParallelText:
    return ParallelText.of_pairs("some pairs", lambda: iter(PAIRS))


def no_training(place: Path) -> None:
    """Keep the files that the recipes name out of it: only the recipes are tried."""
    patch("dragoman.training.run.train", ready_to_train).start()
    patch("dragoman.data.mixture.read_pairs", few_pairs).start()
    patch("dragoman.cli.train.require_readable", lambda settings: None).start()
    dragoman.cli.train._first_direction = lambda folder, settings: []


def try_config(place: Path, dice: Random | None) -> tuple[int, list[str]]:
    recipe = place / "recipe.yaml"
    recipe.write_bytes(damaged_recipe(dice, dice.choice(RECIPES)) if dice else to_yaml(RECIPES[0]).encode())
    arguments = []
    if dice and dice.random() < 0.1:
        section = dice.choice(list(RECIPES[0]))
        key = dice.choice([section, f"{section}.{dice.choice(list(RECIPES[0][section]))}", nasty_text(dice)])
        value = dice.choice([nasty_text(dice), dice.choice(YAML_TOKENS), dice.choice(NASTY)])
        arguments = ["--set", f"{key}={value}"]
    # The languages of a corpus are read from its files, and their message names its place in the recipe.
    return run(["train", str(recipe), *arguments]), [str(recipe), *arguments[:1], "the languages of the corpus "]


# --- model: a bundle whose manifest fits


def make_model(place: Path) -> None:
    write_tiny_bundle(place / "good")
    (place / "lines").write_text("A man is riding a horse.\n\nTwo dogs\n", encoding="utf-8")


def seal(folder: Path) -> None:
    """Write the manifest that fits to the files, as anybody can."""
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST):
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        files[path.relative_to(folder).as_posix()] = {"size": len(content), "sha256": digest}
    (folder / MANIFEST).write_bytes(signed({"format_version": 1, "files": files}))


def signed(manifest: dict[str, Any]) -> bytes:
    """A manifest with the hash of itself."""
    manifest = {key: value for key, value in manifest.items() if key != "self"}
    return to_json({**manifest, "self": hashlib.sha256(to_json(manifest)).hexdigest()})


def replace(dice: Random, path: Path) -> None:
    """Something else in the place of a file."""
    content = path.read_bytes()
    path.unlink()
    what = dice.randrange(7)
    if what == 0:
        path.mkdir()
    elif what == 1:
        path.symlink_to(dice.choice(["/etc/passwd", "/dev/zero", path.name, "nothing", ".."]))
    elif what == 2:
        os.mkfifo(path)
    elif what == 3:
        path.write_bytes(
            dice.choice([b"", b"\0", b"{}", b"[]", b"null", b"\x80\x04\x95", b"PK\x03\x04", b"\xef\xbb\xbf{}"])
        )
    elif what == 4:
        path.with_name(dice.choice(["extra", "config.json", "joint.model", "x.pkl"])).write_bytes(content)
    elif what == 5:
        path.write_bytes(dice.randbytes(1000))


def try_model(place: Path, dice: Random | None) -> tuple[int, list[str]]:
    folder = place / "bad"
    shutil.copytree(place.parent / "good", folder)
    command = ["translate", "--device", "cpu", "--input", str(place.parent / "lines"), "--output", str(place / "out")]
    if dice:
        damage_model(dice, folder)
        command += dice.choice([[], ["--json"], ["--n-best", "1"], ["--sample"], ["--prefix", "Ein"]])
        command = dice.choice([command, command, ["inspect", "model"]])
    code = run([*command, "-m", str(folder)])
    if code == 0 and command[0] == "translate":
        check_lines((place / "out").read_bytes(), 3)
    # No file is wrong if weights of 1e38 give NaN (code 1), or a small max_length leaves no room for --prefix (code 2).
    reasons = {1: "not numbers (NaN)", 2: "the prefix of text 1 has"}
    return code, [reasons.get(code, str(folder)), str(folder)]


def damage_model(dice: Random, folder: Path) -> None:
    weights, config, tokenizer = folder / "model.safetensors", folder / "config.json", folder / "tokenizer"
    what = dice.random()
    if what < 0.4:
        config.write_bytes(damaged_json(dice, config.read_bytes()))
    elif what < 0.7:
        weights.write_bytes(damaged_safetensors(dice, weights.read_bytes()))
    elif what < 0.8:
        path = tokenizer / "tokenizer.json"
        path.write_bytes(damaged_json(dice, path.read_bytes()))
    elif what < 0.9:
        path = dice.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        replace(dice, path)
        if path.name == MANIFEST and (path.is_symlink() or not path.is_file()):
            return  # to seal it would write through the link
    else:
        manifest = folder / MANIFEST
        changed = damaged_json(dice, manifest.read_bytes())
        with contextlib.suppress(ValueError, RecursionError, AttributeError):
            changed = signed(json.loads(changed))
        manifest.write_bytes(changed)
        return
    if dice.random() < 0.97:
        seal(folder)


# --- tokenizer: its files, loaded and used

TOKENIZERS = ("bpe", "unigram", "characters", "words")
TEXTS = [
    "A man is riding a horse.",
    "",
    "  Zwei   Hunde\tlaufen ",
    "<pad> </s> ▁",
    "𝒳 你好\u200d\ufffd\u0301",
    "ab" * 200,
]


def make_tokenizers(place: Path) -> None:
    for kind in TOKENIZERS:
        (place / kind).mkdir()
        tiny_tokenizers(kind).save(place / kind)
        use_tokenizers(load_tokenizers(place / kind))


def try_tokenizer(place: Path, dice: Random | None) -> tuple[int, list[str]]:
    kind = dice.choice(["bpe", "unigram", *TOKENIZERS]) if dice else "bpe"
    folder = place / kind
    shutil.copytree(place.parent / kind, folder)
    if dice:
        (vocabulary,) = folder.glob("joint.*")
        if dice.random() < 0.1:
            vocabulary = folder / "tokenizer.json"
        damage = damaged_json if vocabulary.suffix == ".json" else damaged_message
        vocabulary.write_bytes(damage(dice, vocabulary.read_bytes()))
    try:
        use_tokenizers(load_tokenizers(folder))
    except AssertionError:
        raise
    except Exception as error:
        code, message = program.explain(error)
        print(f"error: {message}", file=sys.stderr)
        if DEBUG:
            traceback.print_exc()
        return code, [str(folder)]
    return 0, []


def use_tokenizers(tokenizers: Tokenizers) -> None:
    for tokenizer in (tokenizers.source, tokenizers.target):
        size = tokenizer.vocab_size
        rows = [tokenizer.encode(text) for text in TEXTS]
        assert rows == [tokenizer.encode(text) for text in TEXTS], "the second time is another"
        rows += [tokenizer.sample(text, (1, number)) for number, text in enumerate(TEXTS)]
        assert all(0 <= each < size for row in rows for each in row), "an id outside of the vocabulary"
        assert not {0, 2, 3} & {each for row in rows for each in row}, "a text became a special token"
        dice = Random(1)
        rows += [list(range(min(size, 500))), [dice.randrange(size) for _ in range(50)]]
        for row in rows:
            text = tokenizer.decode(row)
            assert not _CONTROL.search(text.replace("\t", "")), f"decoded to a control character: {text!r}"
            "".join([text, *tokenizer.pieces(row)]).encode()


# --- translate: lines

N_LINES = 25


def make_bundles(place: Path) -> None:
    for kind in ("bpe", "characters"):
        write_tiny_bundle(place / kind, kind=kind)


def try_lines(place: Path, dice: Random | None) -> tuple[int, list[str]]:
    lines = [nasty_line(dice) if dice else b"A man." for _ in range(N_LINES)]
    lines[0] = b"A man."  # what does not begin like text is refused
    content = b"\n".join(lines) + (b"\n" if lines[-1] == b"" or not dice or dice.random() < 0.9 else b"")
    (place / "lines").write_bytes(content)
    kind = dice.choice(["bpe", "characters"]) if dice else "bpe"
    options = dice.choice([[], [], ["--json"], ["--batch-size", "1"], ["--beam-size", "1"]]) if dice else []
    stdin = os.open(place / "lines", os.O_RDONLY)
    os.dup2(stdin, 0)
    os.close(stdin)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the trial
    command = [
        "translate",
        "--device",
        "cpu",
        "-m",
        str(place.parent / kind),
        "--invalid-utf8=replace",
        "--max-length",
        "8",
    ]
    code = run([*command, "--output", str(place / "out"), *options])
    if code == 0:
        check_lines((place / "out").read_bytes(), N_LINES)
    return code, []


def check_lines(content: bytes, n_lines: int) -> None:
    """Each line in has its line out, which is text."""
    lines = content.decode().split("\n")
    assert lines.pop() == "", "the last line has no end"
    assert len(lines) == n_lines, f"{len(lines)} lines out for {n_lines} lines in"
    for number, line in enumerate(lines, 1):
        text = json.loads(line)["text"] if line.startswith('{"text"') else line
        assert not _CONTROL.search(text.replace("\t", "")), f"line {number} has a control character: {text!r}"


KINDS = {
    "corpus": Kind(frozenset((0, 1, 2)), no_setup, try_corpus),
    "config": Kind(frozenset((0, 2)), no_training, try_config, batch=100),
    "model": Kind(frozenset((0, 1, 2, 3)), make_model, try_model),
    "tokenizer": Kind(frozenset((0, 3)), make_tokenizers, try_tokenizer),
    "translate": Kind(frozenset((0,)), make_bundles, try_lines, inputs=N_LINES, batch=4),
}


# --- the driver


def complaint(kind: Kind, code: int, names: list[str], said: str) -> str:
    """Return the fault in how a trial ended, or nothing."""
    if code not in kind.codes:
        return f"exit code {code}"
    if "Traceback" in said and not DEBUG:
        return "a traceback"
    if bad := _CONTROL.search(said):
        return f"a control character is shown: {bad.group()!r}"
    if code:
        lines = said.rstrip("\n").split("\n")
        starts = [number for number, line in enumerate(lines) if line.startswith("error: ")]
        if len(starts) != 1 or not all(line.startswith("  ") for line in lines[starts[0] + 1 :]):
            return "not one message"
        if not any(name in lines[starts[0]] for name in names):
            return "the message does not name the file"
        if max(map(len, lines)) > MAX_MESSAGE:
            return "the message is endless"
    return ""


def say_into(path: Path) -> int:
    """Let standard output and error go into a file, and return its descriptor."""
    said = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    return said


def peak_mib() -> float:
    """The most memory that this process has used."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) / 1024


def child(kind: Kind, name: str, seeds: list[int], place: Path, results: int) -> None:
    """Try some inputs in this process, and tell about each in a line of JSON; seed 0 is the good input."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, used + ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.fsync = lambda descriptor: None  # nobody pulls the plug here
    said = say_into(place / "said")
    folder = place / "trial"
    for seed in seeds:
        os.ftruncate(said, 0)
        os.lseek(said, 0, os.SEEK_SET)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chdir(folder)
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak to what is used now
        before = peak_mib()
        started, code = time.monotonic(), -1
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        signal.alarm(LONGEST_WAIT)
        try:
            code, names = kind.trial(folder, Random(f"{name} {seed}") if seed else None)
            sys.stdout.flush()
            sys.stderr.flush()
            wrong = complaint(kind, code, names, (place / "said").read_text(encoding="utf-8"))
        except BaseException as error:
            wrong = f"{type(error).__name__}: {error}"
            if DEBUG:
                traceback.print_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        seconds, added = time.monotonic() - started, peak_mib() - before
        if added > MAX_ADDED_MIB:
            wrong = wrong or f"{added:.0f} MiB of memory"
        if wrong:
            wrong += ": " + (place / "said").read_text(encoding="utf-8", errors="replace")[-MAX_SHOWN:]
        result = {"code": code, "wrong": wrong, "seconds": seconds, "added": added}
        os.write(results, f"{json.dumps(result)}\n".encode())


def try_batch(kind: Kind, seeds: list[int], place: Path, counts: Counts) -> int:
    """Try inputs in a child, and count what it tells; returns how many it came to."""
    readable, writable = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(kind, counts.kind, seeds, place, writable)
        finally:
            os._exit(0)
    os.close(writable)
    with open(readable, encoding="utf-8") as file:
        results = [json.loads(line) for line in file]
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        wrong = "a hang" if number in (signal.SIGALRM, signal.SIGPROF) else f"killed by {number.name}"
        results.append({"code": -number, "wrong": wrong, "seconds": 0.0, "added": 0.0})
    for seed, result in zip(seeds, results, strict=False):
        counts.inputs += kind.inputs
        counts.codes[result["code"]] += kind.inputs
        counts.added_mib = max(counts.added_mib, result["added"])
        counts.slowest = max(counts.slowest, result["seconds"])
        if result["wrong"]:
            repeat = f"python {sys.argv[0]} {counts.kind} {kind.inputs} --seed {seed}"
            counts.failures.append(f"{result['wrong']}\n  to repeat it: {repeat}")
    return len(results)


def warm_up(kind: Kind, place: Path) -> None:
    """Make what is good and try it here, so that children find everything imported."""
    kind.setup(place)
    outputs = [os.dup(number) for number in (0, 1, 2)]
    say_into(place / "said")
    (place / "first").mkdir()
    os.chdir(place / "first")
    kind.trial(place / "first", None)
    for number, descriptor in enumerate(outputs):
        os.dup2(descriptor, number)
    counts = Counts("good input")
    try_batch(kind, [0], place, counts)
    assert not counts.failures, counts.failures
    assert counts.codes[0], counts


def try_many(name: str, n_inputs: int, first: int) -> dict[str, Any]:
    """So many inputs of a kind, from the trial `first` on: what was counted. Failures are shown."""
    kind, counts, started = KINDS[name], Counts(name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        place = Path(folder).resolve()
        warm_up(kind, place)
        gc.freeze()  # a collection would copy the parent's memory into every child
        seeds = list(range(first, first + -(-n_inputs // kind.inputs)))
        while seeds:
            seeds = seeds[try_batch(kind, seeds[: kind.batch], place, counts) :]
        if DEBUG:
            print((place / "said").read_text(encoding="utf-8", errors="replace"), file=sys.stderr)
            print(f"left in {shutil.move(place / 'trial', tempfile.mkdtemp())}", file=sys.stderr)
        os.chdir("/")
    for failure in counts.failures[:N_SHOWN]:
        print(failure, file=sys.stderr)
    return {
        "inputs": counts.inputs,
        "codes": dict(sorted(counts.codes.items())),
        "failures": len(counts.failures),
        "slowest_seconds": round(counts.slowest, 2),
        "added_mib": round(counts.added_mib),
        "seconds": round(time.monotonic() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", nargs="+", metavar="KIND NUMBER", help=f"{', '.join(KINDS)}; and how many inputs")
    parser.add_argument("--seed", type=int, default=1, help="the first trial")
    parser.add_argument("--debug", action="store_true", help="show what the program says")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    command = typer.main.get_command(program.build_app())
    typer.main.get_command = lambda app: command  # making it anew takes longer than most trials
    pairs = zip(arguments.trials[::2], arguments.trials[1::2], strict=True)
    figures = {kind: try_many(kind, int(number), arguments.seed) for kind, number in pairs}
    print(json.dumps(figures))
    sys.exit(any(counts["failures"] for counts in figures.values()))


if __name__ == "__main__":
    main()
