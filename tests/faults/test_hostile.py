"""G11: a model folder from a stranger runs no code, opens no other file, reaches nobody, and is refused in a line."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from amount import sampled
from hostile import (
    ATTACKS,
    COMMAND_LINE,
    MEGABYTE,
    SENTENCE,
    WEIGHTS,
    Attack,
    Outcome,
    Payload,
    attempt,
    command_for,
    problems,
    seal,
)
from tiny import PAIRS, many_tokenizers, tiny_model

from dragoman.bundle.bundle import save_bundle
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork and limits of memory; Linux only"),
]

#: How many attacks of a group are left out for each that is tried: there are many pairs of fields.
ONE_IN = {"proportion": 50}
TRIED = [attack for number, attack in enumerate(ATTACKS) if sampled(number, one_in=ONE_IN.get(attack.group, 5))]
RESULTS: Counter[tuple[str, int]] = Counter()
KINDS = ("bpe", "unigram", "characters", "words", "two characters", "many languages")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A good bundle of each kind. Each is used once, so that the children have everything imported."""
    place = tmp_path_factory.mktemp("good")
    text = place / "text"
    text.write_text(SENTENCE)
    made = {}
    for kind in KINDS:
        if kind == "many languages":
            tokenizers = many_tokenizers(reserved=2, split_digits=True)
            made[kind] = place / "many-languages"
            model = tiny_model(tokenizers, max_length=64)
            save_bundle(made[kind], model, tokenizers, SearchConfig(beam_size=2), facts={"step": 1})
            continue
        settings: dict[str, object] = {"kind": kind, "joint": True, "byte_fallback": kind == "bpe"}
        settings |= {"kind": "characters", "joint": False} if kind == "two characters" else {}
        settings |= {"vocab_size": {"bpe": 320, "unigram": 60}[kind]} if kind in ("bpe", "unigram") else {}
        tokenizers = learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig.model_validate(settings), "en", "de")
        model = tiny_model(tokenizers, tie="all" if settings["joint"] else "decoder")
        made[kind] = place / kind.replace(" ", "-")
        save_bundle(made[kind], model, tokenizers, SearchConfig(beam_size=2), facts={"step": 1})
        arguments = [
            "translate",
            "-m",
            str(made[kind]),
            "-i",
            str(text),
            "-o",
            str(place / f"{kind}.txt"),
            "--device",
            "cpu",
        ]
        COMMAND_LINE.main(arguments, standalone_mode=False)
    return made


@pytest.fixture(scope="module")
def good(bundles: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Outcomes of the children that were given good bundles."""
    return {
        kind: attempt(bundle, tmp_path_factory.mktemp("good"), command_for(kind)) for kind, bundle in bundles.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_folder_is_read_quietly(good: dict[str, Outcome], kind: str) -> None:
    outcome = good[kind]
    assert outcome.code == 0
    # Random weights give a translation that is flagged.
    assert all(line.startswith("warning: line 1: the translation ") for line in outcome.said.splitlines())
    # Whenever spaCy makes a pipeline, it compiles annotations of its own classes, and looks for a notebook.
    allowed = ("compile", "exec <string>", "import google.colab") if kind == "words" else ()
    assert [event for event in outcome.events if not event.startswith(allowed)] == []
    assert outcome.translation.strip()


def test_there_are_attacks_of_all_groups() -> None:
    assert len({(attack.group, attack.name) for attack in ATTACKS}) == len(ATTACKS)
    counts = Counter(attack.group for attack in ATTACKS)
    assert counts.keys() == {"weights", "code", "config", "manifest", "folder", "tokenizer", "proportion"}
    assert min(counts.values()) >= 10
    assert len(TRIED) >= 60


@pytest.mark.parametrize("attack", TRIED, ids=lambda attack: f"{attack.group}: {attack.name}")
def test_a_forged_folder_is_refused(
    bundles: dict[str, Path], good: dict[str, Outcome], tmp_path: Path, attack: Attack
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(bundles[attack.kind], folder)
    attack.forge(folder)
    outcome = attempt(folder, tmp_path, command_for(attack.kind))
    assert problems(outcome, good[attack.kind], attack, folder) == []
    RESULTS[attack.group, outcome.code] += 1


def test_what_became_of_them(figure: Callable[..., None]) -> None:
    """Last of the forged folders."""
    for group in sorted({attack.group for attack in TRIED}):
        refused, harmless = RESULTS[group, 3], RESULTS[group, 0]
        figure("G11", group, attacks=refused + harmless, refused=refused, harmless_by_name=harmless)


def unpickles(folder: Path) -> int:
    with open(folder / WEIGHTS, "rb") as file:
        pickle.load(file)
    return 3


def opens_another_file(folder: Path) -> int:
    with open(folder.parent / "secret") as file:
        return len(file.read())


def writes_into_the_folder(folder: Path) -> int:
    (folder / "new").write_text("new")
    return 3


def calls_somebody(folder: Path) -> int:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", 9))


def starts_a_program(folder: Path) -> int:
    return subprocess.run(["true"]).returncode


def runs_code(folder: Path) -> int:
    return int(eval((folder / "code").read_text()))


def takes_memory(folder: Path) -> int:
    return len(bytearray(os.urandom(MEGABYTE)) * 100) * 0 + 3


def takes_long(folder: Path) -> int:
    while time.process_time() < 3600 and resource.getrusage(resource.RUSAGE_SELF).ru_utime < 2.1:
        pass
    return 3


def dies(folder: Path) -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 3


def fails_loudly(folder: Path) -> int:
    raise ValueError(str(folder))


@pytest.mark.parametrize(
    ("loader", "problem"),
    [
        (unpickles, "did: pickle.find_class"),
        (unpickles, "code of the folder was executed"),
        (opens_another_file, "did: open '"),
        (writes_into_the_folder, "did: open '"),
        (calls_somebody, "did: socket.connect"),
        (starts_a_program, "did: subprocess.Popen"),
        (runs_code, "did: exec"),
        (takes_memory, "MB more memory"),
        (takes_long, "s of processor time"),
        (dies, "ended by signal 11"),
        (fails_loudly, "exit code 70"),
        (lambda folder: 0, "exit code 0"),
    ],
)
def test_a_careless_loader_is_noticed(
    bundles: dict[str, Path],
    good: dict[str, Outcome],
    tmp_path: Path,
    loader: Callable[[Path], int],
    problem: str,
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(bundles["bpe"], folder)
    (tmp_path / "secret").write_text("secret")
    (folder / "code").write_text("1 + 2")
    (folder / WEIGHTS).write_bytes(pickle.dumps(Payload(folder)))
    seal(folder)
    outcome = attempt(folder, tmp_path, loader)
    found = problems(outcome, good["bpe"], Attack("", "", seal), folder)
    assert any(problem in each for each in found), (found, outcome)
