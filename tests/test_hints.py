"""Messages that tell what to type: right, complete, and as a shell needs it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from runs import settings
from tiny import write_tiny_bundle

from dragoman.bundle.bundle import load_bundle
from dragoman.bundle.named_models import named_models
from dragoman.cli.hints import stray_hint
from dragoman.cli.program import run
from dragoman.demo import show
from dragoman.errors import ConfigError
from dragoman.machine.json_files import to_json

#: A name that a shell takes apart unless it is quoted.
ODD = "it's $HOME; a `run`"


def printed_command(said: str, name: str) -> list[str]:
    """The last command `dragoman <name>` in what was said, as a shell reads it."""
    line = [line for line in said.splitlines() if f"dragoman {name}" in line][-1]
    return shlex.split(line[line.index(f"dragoman {name}") :])[1:]


@pytest.fixture
def text(tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / ODD
    folder.mkdir()
    for name in ("a.en", "b.de"):
        (folder / name).write_text("A man is riding a horse.\n" * 40, encoding="utf-8")
    return folder / "a.en", folder / "b.de"


SHORT = ("training.max_steps=1", "training.warmup_steps=1", "model.d_model=16", "model.n_heads=2", "model.d_ff=16")


@pytest.mark.torch
def test_the_commands_after_prepare_and_train_run_as_they_are(
    text: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [f"--set={each}" for each in (*SHORT, "model.n_encoder_layers=1", "model.n_decoder_layers=1")]
    given += ["--source", str(text[0]), "--target", str(text[1]), "--source-lang", "en", "--target-lang", "de"]
    folder = tmp_path / ODD / "run"
    assert run(["prepare", *given, "-o", str(folder)]) == 0
    command = printed_command(capfd.readouterr().err, "train")
    assert command[-2:] == ["-o", str(folder)]
    assert run([*command, "--device", "cpu"]) == 0
    said = capfd.readouterr().err
    assert "using the corpus prepared in" in said
    for name in ("translate", "evaluate"):
        done = subprocess.run(
            [sys.executable, "-m", "dragoman", *printed_command(said, name), "--device", "cpu"],
            input="A man.\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    assert run(["package", "-m", str(folder), "-o", f"{ODD}/small"]) == 0
    assert printed_command(capfd.readouterr().err, "translate") == ["translate", "-m", f"{ODD}/small"]
    assert run(["average", str(folder), str(folder), "-o", f"{ODD}/mean"]) == 0
    assert printed_command(capfd.readouterr().err, "translate") == ["translate", "-m", f"{ODD}/mean"]


@pytest.mark.torch
def test_a_command_in_an_error_is_quoted(corpus: Path, tmp_path: Path) -> None:
    from dragoman.training import train

    folder, plain = tmp_path / ODD, settings(corpus, max_steps=1, warmup_steps=1)
    train(plain, folder, device="cpu")
    plain["data"]["source"] = plain["data"]["target"]
    with pytest.raises(ConfigError) as caught:
        train(plain, folder, device="cpu")
    assert shlex.join(["--init-from", str(folder)]) in caught.value.message


@pytest.mark.torch
def test_the_demo_quotes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]) -> None:
    for place in ("training.run.train", "evaluation.evaluation.evaluate", "translator.Translator"):
        monkeypatch.setattr(f"dragoman.{place}", lambda *_, **__: _Anything())
    monkeypatch.setattr("dragoman.translator.Translator.load", lambda *_, **__: _Anything(), raising=False)
    show(tmp_path / ODD, "cpu", "/my tools/dragoman")
    start = shlex.join(["/my tools/dragoman", "translate", "-m", str(tmp_path / ODD)])
    assert any(line.strip().startswith(start) for line in log_lines)


class _Anything:
    exact_match = 0.0
    text = ""

    def translate(self, _text: str, **_languages: str) -> _Anything:
        return self


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("translate Hallo", "echo Hallo | dragoman translate -m MODEL"),
        ("translate -m x it's\\ me", """echo 'it'"'"'s me' | dragoman translate -m x"""),
        ("translate -m x a.en", "dragoman translate -m x --input a.en"),
        ("translate multi30k-en-de", "dragoman translate -m multi30k-en-de"),
        ("translate run Hallo", "dragoman translate -m run"),
        ("package run", "dragoman package -m run"),
        ("inspect model multi30k-en-fr", "dragoman inspect model -m multi30k-en-fr"),
        ("score -m x A B", "dragoman score -m x --source SOURCE_FILE --target TARGET_FILE"),
        ("score -m x -m y a.en b.de", "dragoman score -m x -m y --source a.en --target b.de"),
        ("data split a.en b.de", "dragoman data split --source a.en --target b.de"),
        ("score a.en b.de", "dragoman score -m MODEL --source a.en --target b.de"),
        ("train a.en b.de", "dragoman train --source a.en --target b.de"),
        ("train recipe.yaml a.en b.de --seed 3", "dragoman train --source "),
        ("prepare a.en b.de", "dragoman prepare --source a.en --target b.de"),
        ("evaluate a.en b.de", "dragoman evaluate -m MODEL --source a.en --target b.de"),
        ("distill a.en b.de", "dragoman distill -m MODEL --source a.en --target b.de"),
        ("package -m x y", "put each value after its option"),
        ("inspect attention -m x A man", "put a sentence in quotes"),
    ],
)
def test_words_after_no_option_are_answered_with_the_right_command(
    arguments: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.en", "b.de"):
        Path(name).touch()
    Path("run").mkdir()
    assert run(shlex.split(arguments.replace("it's\\ me", '"it\'s me"'))) == 2
    said = capfd.readouterr().err
    assert said.startswith("error: unexpected argument")
    assert hint in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "example"),
    [
        ("translate", "-m everyday --source-lang en --target-lang de"),
        ("inspect search Hi", "-m everyday --source-lang en --target-lang de"),
        ("doctor", "-m everyday"),
        ("package -o new", "-m everyday"),
    ],
)
def test_a_command_without_a_model_is_answered_with_a_shipped_one(
    command: str, example: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(command.split()) == 2
    said = capfd.readouterr().err
    assert said.startswith("error: no model given; add -m and a run folder, ")
    assert f": {example}; see `" in said
    assert said.count("\n") == 1
    assert "everyday" in named_models()


def test_a_hint_survives_a_shell(tmp_path: Path) -> None:
    file = tmp_path / ODD
    file.touch()
    options = {"--model", "--input"}
    hint = stray_hint("dragoman translate", [str(file)], options, [ODD])
    assert shlex.split(hint.partition(": ")[2])[3] == ODD
    assert shlex.split(hint.partition(": ")[2])[-1] == str(file)
    words = ["it's", "$HOME", "`date`", "; rm -r x"]
    echoed = stray_hint("dragoman translate", words, options).partition(": ")[2].partition(" | dragoman")[0]
    done = subprocess.run(["sh", "-c", echoed], capture_output=True, text=True, check=True)
    assert done.stdout == " ".join(words) + "\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "train --source nowhere.en --target nowhere.de",
        "train --source a.en --target nowhere.de",
        "train --pairs nowhere.tsv",
        "train --corpus nowhere",
        "train --source a.en --target b.de --validation-source nowhere --validation-target b.de",
        "train --source a.en --target b.de --init-from nowhere",
        "train a.en",
        "train nowhere.yaml",
        "prepare --source nowhere.en --target nowhere.de",
        "prepare --corpus nowhere",
        "train --source a.en --target b.de --device abacus",
        "train --source a.en --target b.de -o a.en",
        "train --source a.en --target b.de -o a.en/runs/x",
        "train --source utf16.en --target b.de",
        "train --source a.en --target b.de --validation-source a.en --validation-target utf16.en",
        "prepare --source a.en --target b.de -o b.de",
        "demo -o a.en",
        "demo --device abacus",
        "compare recipe.yaml --vary training.seed=1,2 -o a.en/x",
        "compare recipe.yaml --vary training.seed=1,2 -o new",
        "distill -m multi30k-en-de --source a.en -o a.en",
        "package -m multi30k-en-de -o a.en",
        "average nowhere nowhere -o new",
        "average multi30k-en-de multi30k-en-de -o a.en",
        "average multi30k-en-de -o new",
    ],
)
def test_a_refusal_comes_before_pytorch_and_before_any_folder(arguments: str, tmp_path: Path) -> None:
    for name in ("a.en", "b.de"):
        (tmp_path / name).write_text("A man.\n" * 30, encoding="utf-8")
    (tmp_path / "utf16.en").write_text("A man.\n" * 30, encoding="utf-16")
    (tmp_path / "recipe.yaml").write_text("data: {source: nowhere, target: nowhere}", encoding="utf-8")
    (tmp_path / "torch.py").write_text("raise ImportError('PyTorch was imported')", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    program = "from dragoman.cli import main; main()"  # the first place where `python -c` looks is this folder
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src")}
    command = [sys.executable, "-c", program, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode in (1, 2, 3)
    assert done.stderr.startswith("error: ")
    assert "PyTorch" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.torch
def test_a_packaged_model_has_a_card_of_what_is_known(
    corpus: Path, reference: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for model in (str(reference), str(reference / "best"), str(write_tiny_bundle(tmp_path / "tiny"))):
        output = tmp_path / f"packaged-{len(list(tmp_path.iterdir()))}"
        assert run(["package", "-m", model, "-o", str(output)]) == 0
        card, bundle = (output / "README.md").read_text(encoding="utf-8"), load_bundle(output)
        assert f"{sum(weight.size for weight in bundle.weights.values()):,} parameters" in card
        assert f"{bundle.tokenizers.source_lang} to {bundle.tokenizers.target_lang}" in card
        bleu = bundle.facts.get("bleu")
        assert ("BLEU" in card) == (bleu is not None)
        assert bleu is None or f"BLEU {bleu:.2f}" in card
        assert ("- kept " in card) == (model == str(reference))
        assert ("tokens (median)" in card) == ("learned_text" in bundle.facts)
        assert str(tmp_path) not in card
        assert "with a short card" in capfd.readouterr().err


@pytest.mark.torch
def test_a_card_names_no_file_of_the_run(reference: Path, tmp_path: Path) -> None:
    run_folder, output = tmp_path / "run", tmp_path / "packaged"
    shutil.copytree(reference, run_folder, symlinks=True)
    lines = [
        "kept 90 of 100 pairs",
        "byte order mark left out: /home/me/secret.en",
        "30 lines have tags, e.g. <secret>",
    ]
    (run_folder / "data" / "report.json").write_bytes(to_json({"lines": lines}))
    assert run(["package", "-m", str(run_folder), "-o", str(output)]) == 0
    card = (output / "README.md").read_text(encoding="utf-8")
    assert "- kept 90 of 100 pairs\n" in card
    assert "secret" not in card
