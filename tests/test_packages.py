"""A package that is missing or broken is told in one line that says what to install."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import write_tiny_bundle

from dragoman.cli.missing_packages import PACKAGES, explain_import
from dragoman.cli.program import explain
from dragoman.errors import install_advice

#: Runs the command line where some modules are missing, or fail when they are imported.
PROGRAM = """
import sys

missing, broken = sys.argv[1].split(","), sys.argv[2]

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
if broken:
    sys.path.insert(0, broken)
from dragoman.cli import main
sys.argv = ["dragoman", *sys.argv[3:]]
main()
"""


def run_without(missing: str, *arguments: object, broken: Path | None = None) -> tuple[int, str]:
    command = [sys.executable, "-c", PROGRAM, missing, str(broken or ""), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, input="A man is riding a horse.\n")
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("bundle") / "model")


@pytest.fixture
def pairs(tmp_path: Path) -> list[str]:
    for name in ("text.en", "text.de"):
        (tmp_path / name).write_text("A man is riding a horse.\n" * 30, encoding="utf-8")
    return ["--source", str(tmp_path / "text.en"), "--target", str(tmp_path / "text.de")]


NEEDED = ("numpy", "sentencepiece", "safetensors", "sacrebleu", "sacremoses", "pydantic", "yaml", "typer", "rich")


@pytest.mark.torch
@pytest.mark.parametrize(
    "module", ["numpy", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("threadpoolctl", *NEEDED[1:]))]
)
def test_a_training_names_the_package_that_it_lacks(module: str, pairs: list[str], tmp_path: Path) -> None:
    short = ["--set", "training.max_steps=1", "--set", "training.warmup_steps=1", "--set", "model.preset=tiny"]
    code, said = run_without(module, "train", *pairs, *short, "--device", "cpu", "-o", tmp_path / "run")
    if code == 0:  # sacremoses, say, is for some tokenizers alone
        assert module in ("sacremoses",)
        return
    last = said.splitlines()[-1]
    assert code == 1
    assert last.startswith("error: ")
    assert f"is not installed; install it: pip install {PACKAGES[module]}" in last
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["train", "--source", "{text}", "--target", "{text}", "-o", "{new}"], "train"),
        (["train", "--list-of-typing-errors"], ""),
        (["demo", "-o", "{new}"], "demo"),
        (["compare", "{recipe}", "--vary", "training.seed=1,2", "-o", "{new}"], "compare"),
        (["doctor", "-m", "{bundle}"], "doctor"),
        (["inspect", "attention", "A man.", "-m", "{bundle}", "-o", "{new}.html"], "inspect attention"),
        (["inspect", "model", "-m", "{bundle}"], "inspect model"),
        (["inspect", "neighbours", "A", "-m", "{bundle}"], "inspect neighbours"),
        (["translate", "-m", "{bundle}", "--device", "cuda"], "PyTorch is not installed"),
    ],
)
def test_a_command_that_needs_pytorch_says_so_first(
    command: list[str], name: str, bundle: Path, pairs: list[str], tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(f"data: {{source: {pairs[1]}, target: {pairs[3]}}}\n", encoding="utf-8")
    places = {"{text}": pairs[1], "{new}": tmp_path / "new", "{bundle}": bundle, "{recipe}": recipe}
    arguments = [re.sub(r"{\w+}", lambda match: str(places[match[0]]), each) for each in command]
    code, said = run_without("torch", *arguments)
    (line,) = said.splitlines()
    if not name:
        assert (code, line[:23]) == (2, "error: No such option: ")
        return
    assert code == 1
    needs = name if name.startswith("PyTorch") else f"{name} needs PyTorch; install it:"
    hint = "(pytorch.org tells how to get the small build for CPUs)"
    assert line.startswith(f"error: {needs}")
    assert line.endswith(f'pip install "dragoman[train]" {hint}')
    assert not list(tmp_path.glob("new*"))


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "python_multipart", "prometheus_client"])
def test_the_server_names_its_extra(missing: str) -> None:
    code, said = run_without(missing, "serve", "-m", "no-such-model")
    assert code == 1
    assert re.fullmatch(rf"error: serve needs \S+; {re.escape(install_advice('serve'))}\n", said)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("missing", "arguments", "install"),
    [
        ("spacy", ["train", "--set", "tokenizer.kind=words", "--source-lang", "en", "-o", "{tmp}/run"], "words"),
        ("tensorboard", ["train", "--set", "training.tensorboard=true", "-o", "{tmp}/run"], "tensorboard"),
        (
            "datasets",
            ["train", "--corpus", "hub:a/b", "--source-lang", "en", "--target-lang", "de", "-o", "{tmp}/run"],
            "hub",
        ),
    ],
)
def test_what_needs_an_extra_names_it(
    missing: str, arguments: list[str], install: str, pairs: list[str], tmp_path: Path
) -> None:
    (tmp_path / "recipe.yaml").write_text(f"data: {{source: {pairs[1]}, target: {pairs[3]}}}\n", encoding="utf-8")
    text = [] if "--corpus" in arguments or "compare" in arguments else pairs
    short = [] if "compare" in arguments else ["--set", "training.max_steps=1", "--set", "training.warmup_steps=1"]
    given = [each.replace("{tmp}", str(tmp_path)) for each in arguments]
    code, said = run_without(missing, *given, *text, *short)
    last = said.splitlines()[-1]
    assert code in (1, 2), said
    assert last.startswith("error: ")
    assert last.endswith(install_advice(install))
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import ctypes; ctypes.CDLL('/nowhere/libtorch_cpu.so')", "libtorch_cpu.so"),
        ("from torch._C import nothing", "torch._C"),
        ("import a_package_that_torch_needs", "a_package_that_torch_needs"),
        ("raise ImportError('the C extensions failed\\nand much more')", "the C extensions failed"),
    ],
)
def test_a_broken_pytorch_is_one_line(source: str, reason: str, pairs: list[str], tmp_path: Path) -> None:
    (tmp_path / "broken" / "torch").mkdir(parents=True)
    (tmp_path / "broken" / "torch" / "__init__.py").write_text(f"{source}\n", encoding="utf-8")
    code, said = run_without("", "train", *pairs, "-o", tmp_path / "run", broken=tmp_path / "broken")
    assert code == 1
    assert [line.partition(" (")[0] for line in said.splitlines()] == [
        f"run folder: {tmp_path / 'run'}",
        "error: PyTorch cannot be loaded",
    ]
    assert reason in said
    assert install_advice("train", "install it again") in said


def test_other_missing_modules_are_our_fault() -> None:
    for name in ("nowhere", "dragoman.nowhere"):
        error = ModuleNotFoundError(f"No module named {name!r}", name=name)
        assert explain_import(error) is None
        assert explain(error)[0] == 70
    assert explain_import(OSError(2, "No such file")) is None
    assert explain_import(ValueError("torch")) is None
