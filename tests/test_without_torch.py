"""What translates and evaluates works where PyTorch is not installed, and gives the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import PAIRS, write_tiny_bundle

from dragoman.cli.program import COMMANDS, GROUPS

TESTS = Path(__file__).resolve().parent
#: Runs a command, and then says on standard error if PyTorch was imported for it.
PROGRAM = """
import sys
import dragoman
from dragoman.cli.program import run

code = run(sys.argv[1:])
print("torch" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def environment(*, hidden: bool) -> dict[str, str]:
    path = [*([str(TESTS / "without_torch")] if hidden else []), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def output(command: list[str], *, hidden: bool) -> str:
    """What a command writes, which must not import PyTorch, whether it is there or hidden."""
    program = [sys.executable, "-c", PROGRAM, *command]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment(hidden=hidden))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "False", "PyTorch was imported"
    return done.stdout


@pytest.mark.thorough
def test_tests_that_need_pytorch_have_the_mark() -> None:
    """The others can at least be imported without it; `make lean` runs them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        "-m",
        "not torch",
        str(TESTS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(hidden=True))
    assert done.returncode == 0, done.stdout[-2000:]


def test_every_command_explains_itself() -> None:
    program = (
        "import sys; from dragoman.cli.program import COMMANDS, GROUPS, run;"
        "codes = [run([name, '--help']) for name in (*COMMANDS, *GROUPS)]; sys.exit(any(codes))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(hidden=True))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: dragoman ") == len(COMMANDS) + len(GROUPS)
    assert "Commands:" in output(["--help"], hidden=True)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    folder = tmp_path_factory.mktemp("texts")
    for side, language in enumerate(("en", "de")):
        (folder / f"a.{language}").write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    first, second = (str(write_tiny_bundle(folder / str(seed), seed, max_length=40)) for seed in (1, 2))
    source, target = str(folder / "a.en"), str(folder / "a.de")
    ensemble = ["-m", first, "-m", second]
    return [
        ["translate", *ensemble, "--input", source, "--align", "--n-best", "2"],
        ["translate", "-m", first, "--input", source, "--precision", "int8", "--workers", "2", "--json"],
        ["score", "-m", first, "--source", source, "--target", target, "--json"],
        ["evaluate", *ensemble, "--source", source, "--target", target, "--json"],
        ["inspect", "search", "A man", "-m", first],
    ]


def test_translations_and_scores_need_no_pytorch(commands: list[list[str]]) -> None:
    for command in commands:
        hidden, shown = (output(command, hidden=each) for each in (True, False))
        assert hidden
        if command[0] == "evaluate":
            found, expected = json.loads(hidden), json.loads(shown)
            assert found["perplexity"] > 1
            assert {name for name in found if found[name] != expected[name]} <= {"seconds", "sentences_per_second"}
        else:
            assert hidden == shown
