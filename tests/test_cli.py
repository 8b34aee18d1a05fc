"""The command line: results on standard output, everything else on standard error, and the right exit code."""

import contextlib
import errno
import gzip
import importlib
import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from forks import PATIENCE
from office_samples import odt
from tiny import PAIRS, tiny_config, tiny_tokenizers, without_flags, write_tiny_bundle
from typer.main import get_command

from dragoman import demo
from dragoman.bundle.bundle import load_bundle
from dragoman.cli import line_progress
from dragoman.cli.line_progress import with_progress
from dragoman.cli.program import COMMANDS, GROUPS, build_app, explain, main, run
from dragoman.cli.streams import result_lines
from dragoman.cli.train import _test_set
from dragoman.cli.training_settings import default_folder, recipe_settings
from dragoman.corpora.synthetic import make_corpus
from dragoman.data.prepared import open_prepared
from dragoman.errors import (
    BundleError,
    ConfigError,
    DataError,
    DivergedError,
    ResourceError,
    RunFolderError,
)
from dragoman.machine.devices import SHAPE_CACHES
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Translator

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny", max_length=40)


@pytest.fixture
def translator(bundle: Path) -> Translator:
    return Translator.load(bundle, device="cpu")


@pytest.fixture
def dragoman(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> "Dragoman":
    return Dragoman(capsysbinary, monkeypatch)


class Dragoman:
    """Runs a command inside this process: (exit code, standard output, standard error)."""

    def __init__(self, capture: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture, self._monkeypatch = capture, monkeypatch

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> tuple[int, bytes, str]:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        if code and err.startswith(b"error: "):
            assert not lacking_options(list(map(str, arguments)), err.decode())
        return code, out, without_flags(err.decode())


def lacking_options(arguments: Sequence[str], error: str) -> set[str]:
    """The options that an error names and its command lacks; those of another command that it names do not count."""
    command: Any = get_command(build_app(arguments[0]))
    for argument in arguments:
        command = getattr(command, "commands", {}).get(argument, command)
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help", "--debug"}
    others = re.compile(rf"\b({'|'.join({*COMMANDS, *GROUPS} - set(arguments))})\b|No such option")
    clauses = [clause for clause in re.split("; |\n", error) if not others.search(clause)]
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", " ".join(clauses))) - own


def leave_out_the_check_that_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the doctor's longest check, several seconds, where the command is under test and not the doctor."""
    from dragoman.doctor.checks import CHECKS, check_overfitting

    short = [each for each in CHECKS if each is not check_overfitting]
    monkeypatch.setattr("dragoman.doctor.checks.CHECKS", short)


def program(arguments: Sequence[str | Path], **options: Any) -> "subprocess.Popen[bytes]":
    """A process of its own, for what only a process has: signals, closed streams, the locale."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "dragoman", *map(str, arguments)],
        env=environment,
        stderr=subprocess.PIPE,
        **options,
    )


# ---------------------------------------------------------------------------------------------------- the frame


def test_help_names_every_command_and_version_is_told(dragoman: Dragoman) -> None:
    code, out, err = dragoman("--help")
    assert (code, err) == (0, "")
    for command in (
        "prepare",
        "train",
        "evaluate",
        "translate",
        "score",
        "average",
        "package",
        "distill",
        "data",
        "demo",
    ):
        assert f"  {command} " in out.decode()
        assert dragoman(command, "--help")[0] == 0
    assert dragoman() == (0, out, "")
    for group in GROUPS:
        assert dragoman(group) == dragoman(group, "--help")
    code, out, _ = dragoman("--version")
    assert code == 0
    assert out.startswith(b"dragoman 0.")


def test_help_fits_a_terminal_of_80_columns(dragoman: Dragoman, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is broken by the terminal, and no command of a list has the end of its sentence cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    lists = {(): [*COMMANDS, *GROUPS]}
    for group, module in GROUPS.items():
        commands = getattr(importlib.import_module(f"dragoman.cli.{module}"), module).registered_commands
        lists[group,] = [each.name or each.callback.__name__ for each in commands]
    for group, commands in lists.items():
        out = dragoman(*group, "--help")[1].decode()
        assert [line for line in out.partition("Commands:")[2].split("\n") if line.endswith("...")] == [], group
        for command in commands:
            lines = dragoman(*group, command, "--help")[1].decode().split("\n")
            assert len(lines) > 4, command
            assert [line for line in lines if len(line) > 80] == [], (group, command)


def test_neither_help_nor_a_translation_waits_for_pytorch(bundle: Path) -> None:
    check = (
        "import sys; from dragoman.cli.program import run; code = run(sys.argv[1:]);"
        "print(); print(code, 'torch' in sys.modules)"
    )
    for arguments in (["translate", "--help"], ["translate", "--device", "cpu", "--model", str(bundle)]):
        done = subprocess.run(
            [sys.executable, "-c", check, *arguments],
            input=b"A man",
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            check=True,
        )
        assert done.stdout.rstrip().endswith(b"0 False")


def test_a_translation_imports_nothing_slow_that_it_does_not_need(bundle: Path) -> None:
    program = (
        "import sys; from dragoman.cli.program import run; code = run(sys.argv[1:])\n"
        "slow = ('torch._dynamo', 'sympy', 'sacremoses', 'sacrebleu', 'spacy', 'matplotlib')\n"
        "sys.exit(code or ', '.join(name for name in slow if name in sys.modules) or 0)"
    )
    command = [sys.executable, "-c", program, "translate", "-m", str(bundle)]
    done = subprocess.run(command, input=b"A man.\n", capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("given", "spins", "shapes"),
    [
        ({}, "5000", "32"),
        ({"GOMP_SPINCOUNT": "7", "LRU_CACHE_CAPACITY": "9", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "9"}, "7", "9"),
        ({"OMP_WAIT_POLICY": "active"}, None, "32"),
    ],
)
def test_waiting_threads_sleep_soon_and_little_is_kept_unless_the_environment_says_otherwise(
    given: dict[str, str], spins: str | None, shapes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", *SHAPE_CACHES):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["dragoman", "--version"])
    with pytest.raises(SystemExit):
        main()
    assert os.environ.get("GOMP_SPINCOUNT") == spins
    assert {os.environ.get(name) for name in SHAPE_CACHES} == {shapes}


@pytest.mark.torch
@pytest.mark.parametrize(
    "arguments",
    [
        ["translat"],
        ["translate"],
        ["translate", "-m"],
        ["train", "--nothing"],
        ["train"],
        ["evaluate"],
        ["score", "-m", "x", "--source", "y"],
    ],
)
def test_wrong_usage_is_exit_2_on_one_line(dragoman: Dragoman, arguments: list[str]) -> None:
    code, out, err = dragoman(*arguments)
    assert (code, out) == (2, b"")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "--help" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "none/x.de"], "no such folder: none; make it, or choose another output"),
        (["--output", "/proc/x.de"], "nothing can be written here"),
        (["--input", "."], "many files need --output, a folder for their translations"),
        (
            ["--precision", "float8"],
            "Invalid value for '--precision': 'float8' is not one of 'float32', 'bfloat16', 'int8'",
        ),
    ],
)
def test_mistakes_of_a_translation_are_told(
    dragoman: Dragoman,
    bundle: Path,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = dragoman("translate", "-m", bundle, *arguments, stdin=b"A man.\n")
    assert code in (1, 2)
    assert out == b""
    assert err.startswith(f"error: {message}")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("x"), 1),
        (RunFolderError("x"), 1),
        (OSError(errno.EIO, "input/output error"), 1),
        (ConfigError("x"), 2),
        (BundleError("x"), 3),
        (DivergedError("x"), 4),
        (ResourceError("x"), 5),
        (OSError(errno.ENOSPC, "no space left"), 5),
        (MemoryError(), 5),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate"), 5),
        (RuntimeError("CUDA out of memory."), 5),
        (RuntimeError("what"), 70),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(errno.EPIPE, "broken pipe"), 141),
        (SystemExit(143), 143),
    ],
)
def test_every_failure_has_its_exit_code(error: BaseException, code: int) -> None:
    found, message = explain(error)
    assert found == code
    assert bool(message) == (code < 128)


def test_debug_shows_the_traceback(dragoman: Dragoman, tmp_path: Path) -> None:
    assert "Traceback" not in dragoman("translate", "-m", tmp_path / "none")[2]
    code, _, err = dragoman("translate", "-m", tmp_path / "none", "--debug")
    assert code == 3
    assert "Traceback" in err
    assert err.rstrip("\n").split("\n")[-1].startswith("error: no such model")


def test_control_characters_do_not_reach_the_terminal(dragoman: Dragoman) -> None:
    _, _, err = dragoman("translate", "-m", "\x1b[31mred")
    assert "\x1b" not in err
    assert "\\x1b" in err


# -------------------------------------------------------------------------------------------------- configuration


@pytest.mark.torch
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.d_modle=512", "unknown key 'model.d_modle' (did you mean 'model.d_model'?)"),
        ('model.d_model="512"', "model.d_model"),
        ("model.d_model=true", "got True"),
        ("model.d_model=502", "set it to 500 or 504"),
        ("model.n_encoder_layers=0", "model.n_encoder_layers"),
        ("model.dropout=1.0", "model.dropout"),
        ("search.beam_size=0", "search.beam_size"),
        ("model.preset=huge", "unknown preset 'huge'"),
        ("nonsense", "not of the form key=value"),
    ],
)
def test_wrong_settings_are_exit_2(dragoman: Dragoman, tmp_path: Path, setting: str, message: str) -> None:
    code, out, err = dragoman("train", "--corpus", "copy", "-o", tmp_path / "run", "--set", setting)
    assert (code, out) == (2, b"")
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "run" / "config.yaml").exists()


@pytest.mark.torch
def test_all_wrong_settings_are_told_at_once(dragoman: Dragoman, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("model: {d_modle: 1, n_heads: x}\ntraining: {lr: -1}\n")
    code, _, err = dragoman("train", recipe, "--corpus", "copy", "-o", tmp_path / "run")
    assert code == 2
    assert err.startswith("error: ")
    assert all(key in err for key in ("d_modle", "n_heads", "lr"))


@pytest.mark.torch
@pytest.mark.parametrize("command", ["train", "prepare"])
@pytest.mark.parametrize("text", ["", "dta: {source: a.en, target: a.de}", "model: {d_model: 0}"])
def test_the_recipe_is_named(dragoman: Dragoman, tmp_path: Path, command: str, text: str) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(text, encoding="utf-8")
    code, _, err = dragoman(command, str(recipe))
    assert code == 2
    assert str(recipe) in err.split("\n")[0]
    assert "dta" not in text or "unknown key 'dta'" in err


def test_messages_are_lines_and_not_endless() -> None:
    error = BundleError("a\nb" + "x" * 10_000, "folder\n", details=["problem\n"] * 100_000)
    lines = error.message.split("\n")
    assert lines[0].startswith("a\\nb")
    assert lines[0].endswith(": folder\\n")
    assert len(lines[0]) < 500
    assert lines[1:] == ["  problem\\n"] * 100 + ["  and 99,900 more"]


@pytest.mark.torch
def test_a_missing_corpus_is_told(dragoman: Dragoman, tmp_path: Path) -> None:
    code, _, err = dragoman(
        "train", "--source", tmp_path / "a.en", "--target", tmp_path / "a.de", "-o", tmp_path / "run"
    )
    assert code == 1
    assert str(tmp_path / "a.en") in err


# ------------------------------------------------------------------------------------------------------ translate


def test_lines_out_are_lines_in(dragoman: Dragoman, bundle: Path, translator: Translator) -> None:
    lines = ["A man", "", " \u3000\t", "She is reading.", "b\x00\x1b[1m\u2028c\rd", "", "漢字", "</s>"]
    code, out, err = dragoman("translate", "-m", bundle, stdin="\n".join(lines).encode())
    assert code == 0, err
    assert out.endswith(b"\n")
    found = out.decode().removesuffix("\n").split("\n")
    assert found == [translation.text for translation in translator.translate(lines)]
    assert found[1:3] == ["", ""]
    assert dragoman("translate", "-m", bundle, stdin=b"") == (0, b"", "")
    assert dragoman("translate", "-m", bundle, stdin=b"\n") == (0, b"\n", "")


def test_only_a_newline_ends_a_line_and_a_mark_is_no_text(dragoman: Dragoman, bundle: Path) -> None:
    plain = dragoman("translate", "-m", bundle, stdin=b"A man\nShe\n")[1]
    assert dragoman("translate", "-m", bundle, stdin=b"\xef\xbb\xbfA man\r\nShe")[1] == plain


@pytest.mark.parametrize("command", ["translate", "evaluate", "distill"])
def test_the_precision_that_is_asked_for_is_used(
    command: str, dragoman: Dragoman, bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.en").write_text("A man\n")
    (tmp_path / "a.de").write_text("Ein Mann\n")
    text = ("--source", tmp_path / "a.en", "--target", tmp_path / "a.de")
    texts = {"translate": ("--input", tmp_path / "a.en"), "evaluate": text, "distill": (*text, "-o", tmp_path / "made")}
    with patch.object(Translator, "load", wraps=Translator.load) as load:
        code, _, err = dragoman(command, "-m", bundle, "--precision", "int8", *texts[command])
    assert code == 0, err
    assert [call.kwargs["precision"] for call in load.call_args_list] == ["int8"]


def test_a_long_line_is_translated_whole_with_a_warning(dragoman: Dragoman, bundle: Path) -> None:
    code, out, err = dragoman("translate", "-m", bundle, "--beam-size", 1, stdin=b"A man\n" + b"The cat sits. " * 12)
    assert code == 0
    assert out.count(b"\n") == 2
    assert re.fullmatch(
        r"warning: line 2: longer than the texts that the model was trained on, translated in \d+ parts\n", err
    )


@pytest.mark.parametrize("text", ["漢字" * 1_500, "好" * 5_000])
def test_a_line_without_any_end_is_translated(dragoman: Dragoman, bundle: Path, text: str) -> None:
    code, out, err = dragoman("translate", "-m", bundle, "--beam-size", 1, "--max-length", 3, stdin=text.encode())
    assert code == 0
    assert out.count(b"\n") == 1
    assert re.fullmatch(r"warning: line 1: longer than .*, translated in \d+ parts\n", err)


@pytest.mark.parametrize("text", ["a\u0301" * 3_000, "x" * 5_000, "data:image/png;base64," + "iVBORw0KGgo" * 500])
def test_a_line_that_is_no_text_is_copied_and_told(dragoman: Dragoman, bundle: Path, text: str) -> None:
    code, out, err = dragoman("translate", "-m", bundle, "--json", stdin=f"A\n{text}".encode())
    found = json.loads(out.decode().split("\n")[1])
    assert (code, found["text"], found["flags"]) == (0, text, ["copied"])
    assert re.fullmatch(r"warning: line 2: a part was copied: .*\n", err)


def test_a_warning_quotes_the_segment_of_a_document(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>A</p><p>The cat {'x' * 5_000}</p>")
    code, _, err = dragoman("translate", "-m", bundle, "--input", tmp_path / "page.html")
    assert code == 0
    assert f'warning: segment 2 ("The cat {"x" * 42}…"): a part was copied' in err


def test_each_of_many_lines_is_named_where_messages_go_to_a_file(dragoman: Dragoman, bundle: Path) -> None:
    lines = [*["x" * 200] * 23, "The cat sits. " * 12, "x" * 200]
    code, out, err = dragoman("translate", "-m", bundle, "--beam-size", 1, stdin="\n".join(lines).encode())
    *told, last = err.removesuffix("\n").split("\n")
    assert (code, out.count(b"\n")) == (0, 25)
    assert [line.split(": ")[1] for line in told] == [f"line {n}" for n in range(1, 26)]
    assert "in" in told[23].split()
    assert last.startswith("the model is not calibrated")


def test_each_sentence_is_translated_by_itself_where_it_is_asked_for(dragoman: Dragoman, bundle: Path) -> None:
    texts = b"A man.\nShe is reading.\n"
    apart = dragoman("translate", "-m", bundle, stdin=texts)[1].decode().split("\n")
    together = {
        option: dragoman("translate", "-m", bundle, *option, stdin=texts.replace(b"\n", b" "))[1].decode()
        for option in ((), ("--sentences",), ("--no-sentences",))
    }
    assert together[("--sentences",)] == f"{apart[0]} {apart[1]}\n"
    assert together[()] == together[("--no-sentences",)] != together[("--sentences",)]


def test_n_best_is_in_the_moses_format(dragoman: Dragoman, bundle: Path, translator: Translator) -> None:
    code, out, _ = dragoman("translate", "-m", bundle, "--n-best", 2, stdin=b"A man\n\nShe")
    assert code == 0
    rows = [line.split(" ||| ") for line in out.decode().removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["0", "0", "1", "2", "2"]
    best = translator.translate("A man", n_best=2).alternatives
    assert [row[1] for row in rows[:2]] == [each.text for each in best]
    assert [float(row[3]) for row in rows[:2]] == pytest.approx([each.score for each in best], abs=1e-4)


def test_alignments_are_in_the_pharaoh_format(dragoman: Dragoman, bundle: Path, translator: Translator) -> None:
    text = "A man is riding a horse."
    found = translator.translate(text, n_best=2, align=True)
    pharaoh = [" ".join(f"{i}-{j}" for i, j in each.alignment or ()) for each in found.alternatives]
    code, out, _ = dragoman("translate", "-m", bundle, "--align", stdin=f"{text}\n\n".encode())
    assert code == 0
    assert out.decode() == f"{found.text} ||| {pharaoh[0]}\n ||| \n"
    _, out, _ = dragoman("translate", "-m", bundle, "--align", "--n-best", "2", stdin=text.encode())
    assert [line.split(" ||| ")[-1] for line in out.decode().strip().split("\n")] == pharaoh
    _, out, _ = dragoman("translate", "-m", bundle, "--align", "--json", stdin=text.encode())
    assert json.loads(out)["alignment"] == [list(pair) for pair in found.alignment or ()]


def test_json_has_everything(dragoman: Dragoman, bundle: Path) -> None:
    _, out, _ = dragoman("translate", "-m", bundle, "--json", "--n-best", 2, stdin="Ä\n".encode())
    (line,) = out.decode().removesuffix("\n").split("\n")
    found = json.loads(line)
    assert {"text", "score", "tokens", "alternatives", "alignment"} <= found.keys()
    assert len(found["alternatives"]) == 2
    assert found["text"] == found["alternatives"][0]["text"]


def test_search_options_reach_the_search(dragoman: Dragoman, bundle: Path) -> None:
    options = ["--beam-size", 3, "--length-penalty", 0, "--min-length", 2, "--max-length", 6, "--no-repeat-ngram", 1]
    code, out, _ = dragoman("translate", "-m", bundle, "--json", "--prefix", "Ein", *options, stdin=b"A man")
    found = json.loads(out)
    assert code == 0
    assert found["text"].startswith("Ein")
    assert len(found["tokens"]) == len(set(found["tokens"])) <= 6
    penalised = [*options[:-2], "--repetition-penalty", 100]
    _, out, _ = dragoman("translate", "-m", bundle, "--json", "--prefix", "Ein", *penalised, stdin=b"A man")
    tokens = json.loads(out)["tokens"]
    assert len(tokens) == len(set(tokens))
    drawn = [
        dragoman("translate", "-m", bundle, "--sample", "--top-k", 50, "--top-p", 0.9, "--seed", seed, stdin=b"A")[1]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    "options",
    [
        ["--n-best", 9],
        ["--n-best", 0],
        ["--n-best", 2, "--doubts"],
        ["--n-best", 2, "--min-confidence", 0.5],
        ["--temperature", 0],
        ["--beam-size", 0],
        ["--min-length", 9, "--max-length", 2],
        ["--repetition-penalty", 0.9],
        ["--device", "abacus"],
    ],
)
def test_options_out_of_range_are_exit_2(dragoman: Dragoman, bundle: Path, options: list[str]) -> None:
    code, out, err = dragoman("translate", "-m", bundle, *options, stdin=b"A\n")
    assert (code, out) == (2, b"")
    assert err.startswith("error: ")


def test_ensembles(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    second = write_tiny_bundle(tmp_path / "second", seed=2, max_length=40)
    _, out, _ = dragoman("translate", "-m", bundle, "-m", second, stdin=b"A man")
    expected = Translator.load(bundle, second, device="cpu").translate("A man").text
    assert out.decode() == expected + "\n"


def test_a_dash_is_standard_input_or_output(
    dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = dragoman("translate", "-m", bundle, stdin=b"A man\n")
    assert dragoman("translate", "-m", bundle, "--input", "-", "--output", "-", stdin=b"A man\n") == expected
    Path("page.html").write_text("<p>A man</p>", encoding="utf-8")
    code, out, _ = dragoman("translate", "-m", bundle, "--input", "page.html", "--output", "-")
    assert (code, out[:3]) == (0, b"<p>")
    assert not Path("-").exists()


def test_files_are_refused_kept_or_replaced(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.de"
    source.write_bytes(b"A man\nShe\n")
    command = ("translate", "-m", bundle, "-i", source, "-o", target)
    assert dragoman(*command) == (0, b"", "")
    content = target.read_bytes()
    assert content == dragoman("translate", "-m", bundle, stdin=source.read_bytes())[1]
    code, _, err = dragoman(*command)
    assert code == 1
    assert "--overwrite" in err
    source.write_bytes(b"A man\nS\xffhe\n")
    code, _, err = dragoman(*command, "--overwrite")
    assert code == 1
    assert f"{source}:2:2" in err
    assert target.read_bytes() == content, "a failure leaves the old output"
    assert sorted(tmp_path.iterdir()) == [source, target]
    assert dragoman(*command, "--overwrite", "--invalid-utf8", "replace")[0] == 0
    assert dragoman("translate", "-m", bundle, "-i", tmp_path / "missing")[0] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_exit_5(dragoman: Dragoman, bundle: Path) -> None:
    code, _, err = dragoman("translate", "-m", bundle, "-o", "/dev/full", stdin=b"A man\n")
    assert (code, err) == (5, "error: No space left on device: /dev/full; free some space\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["translate", pytest.param("inspect model", marks=pytest.mark.torch)])
def test_a_full_standard_output_is_named(command: str, bundle: Path) -> None:
    with open("/dev/full", "wb") as full:
        process = program([*command.split(), "-m", bundle], stdin=subprocess.PIPE, stdout=full)
        _, err = process.communicate(b"A man\n", timeout=PATIENCE)
    told = without_flags(err.decode())
    assert (process.returncode, told) == (5, "error: No space left on device: standard output; free some space\n")


@pytest.mark.torch
@pytest.mark.parametrize(
    "command",
    [
        "translate",
        "evaluate",
        "doctor",
        "inspect model",
        "inspect attention A",
        "inspect search A",
        "inspect neighbours A",
        "train --list-settings",
    ],
)
def test_a_closed_standard_output_is_told(
    command: str, dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_out_the_check_that_trains(monkeypatch)
    model = [] if command.startswith("train") else ["-m", bundle]
    texts = zip(("--source", "--target"), write_pairs(tmp_path), strict=True) if command == "evaluate" else ()
    monkeypatch.setattr(sys, "stdout", None)
    code, _, err = dragoman(*command.split(), *model, *itertools.chain(*texts), stdin=b"A man\n")
    assert code == 1
    assert "error: standard output is closed; " in err


def test_a_closed_input_is_told(bundle: Path) -> None:
    process = program(["translate", "-m", bundle], preexec_fn=lambda: os.close(0), stdout=subprocess.PIPE)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (1, b"")
    assert b"standard input is closed" in err


def test_standard_input_is_strict_or_mended(dragoman: Dragoman, bundle: Path) -> None:
    code, out, err = dragoman("translate", "-m", bundle, "--batch-size", 1, stdin=b"A man\nS\xffhe\nA\n")
    assert code == 1
    assert out.count(b"\n") == 1, "what came before is answered"
    assert "invalid UTF-8: standard input:2:2" in err
    code, out, _ = dragoman("translate", "-m", bundle, "--invalid-utf8", "replace", stdin=b"A man\nS\xffhe\nA\n")
    assert (code, out.count(b"\n")) == (0, 3)


def test_standard_input_from_a_file_is_read_as_a_file(tmp_path: Path, bundle: Path) -> None:
    text = tmp_path / "text"
    text.write_text("A man\n" * 3)
    counted = "import dragoman.cli.streams as s; print(s.stdin_is_file())"
    with open(text) as file:
        assert subprocess.check_output([sys.executable, "-c", counted], stdin=file) == b"True\n"
        process = program(["translate", "-m", bundle], stdin=file, stdout=subprocess.PIPE)
        assert process.communicate(timeout=PATIENCE)[0].count(b"\n") == 3
    assert subprocess.check_output([sys.executable, "-c", counted], input=b"A man\n") == b"False\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_a_terminal_gets_a_prompt(bundle: Path) -> None:
    person, terminal = os.openpty()
    process = program(["translate", "-m", bundle], stdin=terminal, stdout=subprocess.PIPE)
    os.close(terminal)
    os.write(person, b"A man\n\x04")
    out, err = process.communicate(timeout=PATIENCE)
    os.close(person)
    assert process.returncode == 0
    assert out.count(b"\n") == 1
    assert b"Type a sentence" in err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_a_package_goes_to_a_file_of_its_kind_or_a_pipe_but_to_no_terminal(
    bundle: Path, dragoman: Dragoman, tmp_path: Path
) -> None:
    (tmp_path / "a.odt").write_bytes(odt("<text:p>A man</text:p>"))
    for suffix, better in ((".doc", ".docx"), (".docm", ".docx"), (".ott", ".odt")):
        other = tmp_path / f"a{suffix}"
        other.write_bytes((tmp_path / "a.odt").read_bytes())
        code, _, err = dragoman("translate", "-m", bundle, "-i", other)
        message = f"error: {suffix} is not read: {other}; save it as {better}, for example in LibreOffice\n"
        assert (code, err) == (2, message)
    translate = ["translate", "-m", bundle, "-i", tmp_path / "a.odt"]
    for name in ("b.docx", "b.pdf"):
        code, _, err = dragoman(*translate, "-o", tmp_path / name)
        assert (code, "let the name of --output end in .odt" in err) == (2, True)
    person, terminal = os.openpty()
    process = program(translate, stdout=terminal)
    assert b"a .odt file cannot be shown on a terminal; give --output" in process.communicate(timeout=PATIENCE)[1]
    os.close(terminal)
    os.close(person)
    piped, _ = program(translate, stdout=subprocess.PIPE).communicate(timeout=PATIENCE)
    assert piped.startswith(b"PK")


def test_a_closed_output_ends_silently(bundle: Path) -> None:
    process = program(["translate", "-m", bundle, "--batch-size", 1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"A man\n")
    process.stdin.flush()
    assert process.stdout.readline().endswith(b"\n"), "answers before the end of input"
    process.stdout.close()
    _, err = process.communicate(b"She\n" * 20)
    assert (process.returncode, without_flags(err.decode())) == (141, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_with_their_code_and_whole_lines_in_any_locale(
    bundle: Path, translator: Translator, number: signal.Signals, code: int
) -> None:
    process = program(
        ["translate", "-m", bundle, "--batch-size", 1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write("Grüße 漢字\n".encode())
    process.stdin.flush()
    assert process.stdout.readline().decode() == translator.translate("Grüße 漢字").text + "\n"
    process.send_signal(number)  # it waits for the next line now
    rest, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest, without_flags(err.decode())) == (code, b"", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_command_begins_ends_it_with_its_code(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    @contextlib.contextmanager
    def interrupted_log() -> Iterator[None]:
        signal.raise_signal(number)
        yield

    monkeypatch.setattr("dragoman.cli.program.log_to_terminal", interrupted_log)
    assert run(["--version"]) == code


def test_a_signal_whose_exception_is_swallowed_still_ends_it() -> None:
    """Where a library calls back, as when it drops an object, Python can print an exception but not raise it."""
    swallowing = (
        "import os, signal, sys, time, typer, dragoman.cli.program as program\n"
        "class Dropped:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "class Command:\n"
        "    def main(self, *arguments, **options):\n"
        "        Dropped()\n"
        "        time.sleep(60)\n"
        "typer.main.get_command = lambda app: Command()\n"
        "sys.exit(program.run(['translate']))"
    )
    done = subprocess.run([sys.executable, "-c", swallowing], capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


IMPORTING = """
import sys, time, typer, dragoman.cli.program as program
class Command:
    def main(self, *arguments, **options):
        import optional
        time.sleep(60)
typer.main.get_command = lambda app: Command()
code = program.run(["translate"])
"""


def interrupt_import(folder: Path, body: str, program: str) -> int:
    """The exit code of `program`, whose command imports the module `optional`, of this body, and then sleeps."""
    (folder / "optional.py").write_text(f"import os, signal, time\n{body}")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
    assert not done.stderr
    return done.returncode


#: Libraries import what is optional in a `try`, and some then go on after whatever was raised there.
SWALLOWS = """
try:
    os.kill(os.getpid(), signal.SIGINT)
    for each in range(10**6): pass
except BaseException:
    pass
"""


@pytest.mark.parametrize("before", ["", "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)"])
def test_a_signal_during_an_import_that_does_without_still_ends_it(tmp_path: Path, before: str) -> None:
    assert interrupt_import(tmp_path, SWALLOWS, before + IMPORTING + "sys.exit(code)") == 130


def test_an_alarm_that_is_lost_during_an_import_comes_again(tmp_path: Path) -> None:
    loses_one = """
os.kill(os.getpid(), signal.SIGINT)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
signal.sigwait([signal.SIGALRM])
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
"""
    assert interrupt_import(tmp_path, loses_one, IMPORTING + "sys.exit(code)") == 130


def test_the_second_signal_ends_an_import_at_once(tmp_path: Path) -> None:
    twice = "for each in 1, 2:\n    os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)"
    assert interrupt_import(tmp_path, twice, IMPORTING + "sys.exit(code)") == 130


def test_a_signal_ends_a_command_that_a_module_runs_while_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "launcher.py").write_text(IMPORTING)
    body = "signal.raise_signal(signal.SIGTERM)"
    assert interrupt_import(tmp_path, body, "import sys, launcher; sys.exit(launcher.code)") == 143


# ------------------------------------------------------------------------------- score, evaluate, average, data


def write_pairs(folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS) -> tuple[Path, Path]:
    paths = folder / "test.en", folder / "test.de"
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def test_score(dragoman: Dragoman, bundle: Path, translator: Translator, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path)
    expected = translator.score(*(list(side) for side in zip(*PAIRS, strict=True)))
    code, out, _ = dragoman("score", "-m", bundle, "--source", source, "--target", target)
    assert code == 0
    assert [float(line) for line in out.split()] == pytest.approx([each.log_prob for each in expected], abs=1e-4)
    tabbed = "".join(f"{left}\t{right}\n" for left, right in PAIRS).encode()
    _, out, _ = dragoman("score", "-m", bundle, "--json", stdin=tabbed)
    assert {"log_prob", "per_token", "tokens", "token_log_probs"} <= json.loads(out.split(b"\n")[0]).keys()
    code, _, err = dragoman("score", "-m", bundle, stdin=b"a\tb\nc\n")
    assert code == 1
    assert "standard input:2" in err
    code, _, err = dragoman("score", "-m", bundle, stdin=b"a\tb\n" + b"The cat " * 50 + b"\tb\n")
    assert code == 1
    assert "standard input:2" in err
    target.write_text("one\n")
    code, _, err = dragoman("score", "-m", bundle, "--source", source, "--target", target)
    assert code == 1
    assert "4 and 1" in err


def test_score_reads_as_translate_does(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"A man\xff.\n")
    (tmp_path / "b").write_bytes(b"Ein Mann.\n")
    command = ["score", "-m", bundle, "--source", tmp_path / "a", "--target", tmp_path / "b"]
    assert dragoman(*command)[0] == 1
    assert dragoman(*command, "--invalid-utf8", "replace")[0] == 0


def test_zipped_input(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    text = "".join(f"{source}\n" for source, _ in PAIRS).encode()
    zipped = gzip.compress(text)
    expected = dragoman("translate", "-m", bundle, stdin=text)[1]
    for name in ("a.gz", "a.txt"):  # what is zipped, its content says
        (tmp_path / name).write_bytes(zipped)
        assert dragoman("translate", "-m", bundle, "--input", tmp_path / name)[:2] == (0, expected)
    for content in (text, zipped[:-9], zipped[:20]):
        (tmp_path / "a.gz").write_bytes(content)
        code, _, err = dragoman("translate", "-m", bundle, "--input", tmp_path / "a.gz")
        assert code == 1
        assert re.search(r"damaged gzip file \(.*\): .*a\.gz:\d", err)


def test_evaluate_for_people_and_programs(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path)
    arguments = ["evaluate", "-m", bundle, "--source", source, "--target", target, "--beam-size", 1]
    code, out, err = dragoman(*arguments, "--json", "--m30k", "-o", tmp_path / "out.de")
    assert code == 0, err
    found = json.loads(out)
    assert [metric["name"] for metric in found["metrics"]] == ["M30k-BLEU", "BLEU", "chrF2", "chrF++"]
    assert found["n_sentences"] == len(PAIRS)
    assert (tmp_path / "out.de").read_bytes().count(b"\n") == len(PAIRS)
    code, out, _ = dragoman(*arguments)
    assert code == 0
    assert b"perplexity" in out
    assert b"tok:13a|smooth:exp|version" in out
    code, out, _ = dragoman(*arguments, "--perturb", "upper, typos")
    assert code == 0
    assert b"perplexity" in out
    assert b"compared lower-cased and without final marks" in out
    perturbed = json.loads(dragoman(*arguments, "--perturb", "upper", "--json")[1])["perturbed"]
    assert [row["name"] for row in perturbed] == ["clean", "upper"]
    code, _, err = dragoman(*arguments, "--perturb", "upper,typo")
    assert (code, "unknown perturbation 'typo'; choose from upper" in err) == (2, True)


@pytest.mark.parametrize("columns", [80, 200])
def test_signatures_are_whole_and_tables_fit_a_terminal(
    dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("dragoman.cli.streams.WIDTH", columns)
    source, target = write_pairs(tmp_path)
    outputs = ["compare-outputs", "--target", target, "--hypotheses", target]
    long = tmp_path / "long.de"
    long.write_text("Ein Hund.\n" * len(PAIRS))
    for command in (
        ["evaluate", "-m", bundle, "--source", source, "--target", target, "--beam-size", 1, "--m30k"],
        outputs,
        [*outputs, "--baseline", long],
    ):
        code, out, err = dragoman(*command)
        assert code == 0, err
        lines = out.decode().splitlines()
        found = json.loads(dragoman(*command, "--json")[1])
        metrics = found if isinstance(found, list) else found["metrics"]
        assert [sum(line.endswith(metric["signature"]) for line in lines) for metric in metrics] == [1] * len(metrics)
        assert max(map(len, lines)) <= 80


def test_chrf_with_words_is_explained_for_a_language_without_spaces(dragoman: Dragoman, tmp_path: Path) -> None:
    for language, is_told in (("zh", True), ("ko", False)):
        target = tmp_path / f"test.{language}"
        target.write_text("我今天去学校。\n" if language == "zh" else "한 남자가 말을 타고 있다.\n", encoding="utf-8")
        code, _, err = dragoman("compare-outputs", "--hypotheses", target, "--target", target)
        assert (code, "chrF++ takes whole phrases" in err) == (0, is_told)


@pytest.mark.parametrize("command", [("evaluate",), ("tune", "--vary", "beam_size=1")])
def test_pairs_that_the_model_cannot_read_whole_are_told(
    command: tuple[str, ...], dragoman: Dragoman, bundle: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("The cat sits. " * 12 + "\n")
    target.write_text("x\n")
    code, out, err = dragoman(*command, "-m", bundle, "--source", source, "--target", target)
    left_out = "" if command[0] == "tune" else "they have no part in the perplexity, and "
    what = f"1 pair is longer than the 39 tokens of the model; {left_out}a source that is longer is translated in parts"
    assert (code, err) == (0, f"warning: {what}\n")
    assert command[0] == "tune" or b"without 1 pair that is too long" in out


def test_text_of_other_languages_than_the_models_is_told(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    en, de = write_pairs(tmp_path)
    assert dragoman("evaluate", "-m", bundle, "--source", en, "--target", de)[2] == ""
    code, _, err = dragoman("evaluate", "-m", bundle, "--source", de, "--target", en)
    assert (code, err) == (0, "warning: the model translates en-de, and this text is de-en\n")
    unknown = en.rename(tmp_path / "test.txt")
    assert dragoman("evaluate", "-m", bundle, "--source", de, "--target", unknown)[2] == ""


def test_a_recipe_without_a_test_set_is_told(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path)
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(f"data: {{source: {source}, target: {target}}}\n")
    code, _, err = dragoman("evaluate", recipe, "-m", bundle)
    advice = "give --split train, or --source and --target"
    assert (code, err) == (2, f"error: no test data is given: {recipe}; {advice}\n")
    assert dragoman("evaluate", recipe, "-m", bundle, "--split", "train")[0] == 0


@pytest.mark.torch
def test_a_run_is_evaluated_on_what_it_was_validated_on(
    dragoman: Dragoman, reference: Path, bundle: Path, tmp_path: Path
) -> None:
    own = ("evaluate", "-m", reference, "--split", "validation", "--json")
    code, out, _ = dragoman(*own, "--beam-size", 1)
    found = json.loads(out)
    assert (code, found["n_sentences"]) == (0, 20)
    assert found["perplexity"] == pytest.approx(math.exp(load_bundle(reference).facts["loss"]), rel=1e-4)
    store = open_prepared(reference).validation
    source, target = write_pairs(tmp_path, [(store.source_text(i), store.target_text(i)) for i in range(len(store))])
    files = ("evaluate", "-m", reference, "--source", source, "--target", target, "--beam-size", 1, "--json")
    assert json.loads(dragoman(*files)[1])["metrics"] == found["metrics"]
    assert len(json.loads(dragoman("tune", *own[1:], "--vary", "length_penalty=0,1")[1])) == 2
    assert "or --split validation" in dragoman("evaluate", "-m", reference)[2]
    for models in (("-m", bundle), ("-m", reference, "-m", reference)):  # no run; which of two?
        code, _, err = dragoman("evaluate", *models, "--split", "validation")
        assert (code, err.partition(";")[0]) == (2, "error: no text given")
        assert "or --split validation with a run folder" in err
    code, _, err = dragoman(*own, "--source-lang", "fr")
    assert (code, "languages have no effect on the validation text of a run" in err) == (2, True)


def test_a_table_is_evaluated_on_its_pairs(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    """Its keys may be the model's languages, and its blank lines are no pairs."""
    source, target = write_pairs(tmp_path)
    table = tmp_path / "test.jsonl"
    table.write_text("".join(json.dumps({"en": en, "de": de}) + "\n" for en, de in PAIRS) + "\n\n", encoding="utf-8")
    common = ("evaluate", "-m", bundle, "--beam-size", 1, "--json")
    of_table, of_files = (
        json.loads(dragoman(*common, *which)[1])
        for which in (("--pairs", table), ("--source", source, "--target", target))
    )
    assert of_table["n_sentences"] == len(PAIRS)
    for key in ("metrics", "perplexity", "exact_match"):
        assert of_table[key] == of_files[key]


def test_a_recipe_with_a_list_for_its_data_is_refused(dragoman: Dragoman, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("data: []\n")
    for arguments in ((), ("--corpus", "captions")):
        code, _, err = dragoman("prepare", recipe, *arguments, "-o", tmp_path / "run")
        assert (code, "data" in err) == (2, True)
    recipe.write_text("data:\n")
    assert dragoman("prepare", recipe, "--corpus", "captions", "-o", tmp_path / "run", *SMALL[:-2])[0] == 0


@pytest.mark.torch
def test_dropping_is_not_advised_where_it_cannot_be(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path)
    source.write_bytes(b"A\xffman\n")
    files = ("--source", source, "--target", target)
    for command in (("evaluate", "-m", bundle), ("train", "-o", tmp_path / "run", *SMALL)):
        code, _, err = dragoman(*command, *files)
        assert code == 1
        assert "; train, prepare, data clean and data split also take --invalid-utf8=drop\n" in err


def test_values_of_a_search_setting_are_compared(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    """Each row is what evaluating with that value gives."""
    for side, name in enumerate(("a.en", "a.de")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    command = ["evaluate", "-m", bundle, "--source", tmp_path / "a.en", "--target", tmp_path / "a.de", "--json"]
    tune = ["tune", *command[1:]]
    code, out, _ = dragoman(*tune, "--beam-size", 3, "--vary", "length_penalty=0,0.6,3")
    assert code == 0
    rows = json.loads(out)
    assert [row["length_penalty"] for row in rows] == [0, 0.6, 3]
    for row in rows:
        alone = dragoman(*command, "--beam-size", 3, "--length-penalty", row["length_penalty"])[1]
        assert row["metrics"] == json.loads(alone)["metrics"]
    code, out, _ = dragoman(*tune[:-1], "--vary", "beam_size=1,2")
    assert code == 0
    assert b"beam_size" in out
    for wrong in ("length_penalty", "length_penalty=0,,1", "beam_size=0", "beam=1", "a.b=1"):
        assert dragoman(*tune, "--vary", wrong)[0] == 2, wrong


def test_evaluate_a_named_corpus(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    code, out, err = dragoman(
        "evaluate", "-m", bundle, "--corpus", "copy", "--max-length", 2, "--beam-size", 1, "--json"
    )
    assert code == 0, err
    assert json.loads(out)["n_sentences"] == 1000
    code, _, err = dragoman("evaluate", "-m", bundle, "--corpus", "nothing")
    assert code == 2
    assert "unknown corpus" in err


def test_compare_outputs_without_a_model(dragoman: Dragoman, tmp_path: Path) -> None:
    _, target = write_pairs(tmp_path)
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(target.read_bytes())
    bad.write_text("Ein Hund.\n" * len(PAIRS))
    code, out, _ = dragoman("compare-outputs", "--hypotheses", good, "--baseline", bad, "--target", target, "--json")
    assert code == 0
    assert json.loads(out)[0]["system"] == pytest.approx(100)
    code, out, _ = dragoman("compare-outputs", "--hypotheses", good, "--target", target)
    assert code == 0
    assert b"100.00" in out
    bad.write_text("one\n")
    for options in (["--hypotheses", good, "--baseline", bad], ["--hypotheses", bad]):
        code, _, err = dragoman("compare-outputs", *options, "--target", target)
        assert (code, f"different numbers of lines, 1 and {len(PAIRS)}: {bad} and {target}; " in err) == (1, True)
    assert dragoman("compare-outputs", "--hypotheses", good)[0] == 2
    code, out, _ = dragoman("compare-outputs", "--hypotheses", good, "--target", target, "--m30k", "--json")
    assert (code, json.loads(out)[0]["name"]) == (0, "M30k-BLEU")
    code, _, err = dragoman("compare-outputs", "--hypotheses", good, "--baseline", bad, "--target", target, "--m30k")
    assert (code, "--m30k has no effect with --baseline" in err) == (2, True)


def test_after_a_training_the_test_set_that_there_is_is_named() -> None:
    assert _test_set({"data": {"corpus": "captions"}}) == " --corpus captions"
    files = {"source": "a.en", "target": "a.de"}
    assert _test_set({"data": {**files, "test_source": "my test.en", "test_target": "test.de"}}) == (
        " --source 'my test.en' --target test.de"
    )
    assert _test_set({"data": {**files, "test_pairs": "test.tsv"}}) == " --pairs test.tsv"
    hub = {"corpus": "hub:some/corpus", "source_lang": "en", "target_lang": "de"}
    for without in (files, hub):
        assert _test_set({"data": without}).startswith(
            " --split validation\n  (or, better, text that no training saw: --pairs, or "
        )


def test_average(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    code, out, err = dragoman("average", bundle, bundle, "-o", tmp_path / "mean")
    assert (code, out) == (0, b"")
    assert err.startswith(f"averaged 2 models into {tmp_path / 'mean'}; use it: ")
    assert "translate -m" in err
    assert (
        dragoman("translate", "-m", tmp_path / "mean", stdin=b"A")[1]
        == dragoman("translate", "-m", bundle, stdin=b"A")[1]
    )
    assert dragoman("average", bundle, bundle, "-o", tmp_path / "mean")[0] == 1
    code, _, err = dragoman("average", bundle, "-o", tmp_path / "other")
    assert (code, "at least two models" in err) == (2, True)
    assert dragoman("average", bundle, bundle, "--last", 2, "-o", tmp_path / "other")[0] == 2


def test_package(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text("# Tiny\n", encoding="utf-8")
    options = ["-o", tmp_path / "small", "--card", tmp_path / "card.md", "--length-penalty", 1.5]
    code, out, err = dragoman("package", "-m", bundle, *options)
    assert (code, out) == (0, b"")
    assert "MB; use it" in err
    assert (tmp_path / "small" / "README.md").read_text(encoding="utf-8") == "# Tiny\n"
    assert load_bundle(tmp_path / "small").search == SearchConfig(beam_size=2, length_penalty=1.5)
    assert dragoman("translate", "-m", tmp_path / "small", stdin=b"A")[0] == 0
    assert dragoman("package", "-m", bundle, *options)[0] == 1  # it exists
    assert dragoman("package", "-m", bundle, "-m", bundle, "-o", tmp_path / "two")[0] == 2
    assert dragoman("package", "-m", bundle, "-o", tmp_path / "two", "--length-penalty", -1)[0] == 2
    code, _, err = dragoman("package", "-m", bundle, "-o", tmp_path / "two", "--card", tmp_path / "none.md")
    assert (code, "card not found: " in err) == (1, True)
    code, _, err = dragoman("package", "-m", tmp_path / "small", "-o", tmp_path / "again")
    assert (code, err.startswith("with the card of ")) == (0, True)
    assert (tmp_path / "again" / "README.md").read_text(encoding="utf-8") == "# Tiny\n"
    assert not (tmp_path / "two").exists()


@pytest.mark.captions
@pytest.mark.parametrize(("precision", "is_larger"), [("float16", True), ("int8", False)])
def test_a_package_larger_than_its_model_is_told(
    dragoman: Dragoman, tmp_path: Path, precision: str, is_larger: bool
) -> None:
    code, _, err = dragoman("package", "-m", "multi30k-en-de", "-o", tmp_path / "new", "--precision", precision)
    assert (code, "larger than multi30k-en-de (5.0 MB)" in err) == (0, is_larger)


@pytest.mark.torch
def test_a_shipped_model_goes_by_its_name_everywhere(
    dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each command it does what the same folder does by its path."""
    leave_out_the_check_that_trains(monkeypatch)
    shutil.copytree(bundle, tmp_path / "shipped" / "tiny-en-de")
    monkeypatch.setattr("dragoman.bundle.named_models.PRETRAINED", tmp_path / "shipped")
    monkeypatch.setattr("dragoman.bundle.named_models.GROUP", "dragoman.tests")  # no other distribution's models
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("A man.\nA cat.\n", encoding="utf-8")
    text = ["--source", tmp_path / "a.en", "--target", tmp_path / "a.de"]
    commands: list[list[str | Path]] = [
        ["translate", "-m"],
        ["score", *text, "-m"],
        ["doctor", "-m"],
        ["inspect", "model", "-m"],
        ["inspect", "attention", "A man.", "-m"],
    ]
    for command in commands:
        by_name, by_path = (dragoman(*command, model, stdin=b"A man.") for model in ("tiny-en-de", bundle))
        assert by_name[:2] == by_path[:2], command
        assert by_path[1]
    assert dragoman("evaluate", *text, "-m", "tiny-en-de")[0] == 0
    assert dragoman("package", "-m", "tiny-en-de", "-o", tmp_path / "small")[0] == 0
    assert dragoman("average", "tiny-en-de", bundle, "-o", tmp_path / "mean")[0] == 0
    steps = ["--set", "training.max_steps=1", "--set", "data.validation_size=1", "-o", tmp_path / "run"]
    pairs = tmp_path / "pairs.en-de.tsv"
    pairs.write_text("".join(f"A man {n}.\tEin Mann {n}.\n" for n in range(40)), encoding="utf-8")
    assert dragoman("train", "--pairs", pairs, "--init-from", "tiny-en-de", "--device", "cpu", *steps)[0] == 0
    code, _, err = dragoman("translate", "-m", "tiny-en-fr", stdin=b"A man.")
    assert code == 3
    assert err == "error: no such model: tiny-en-fr; give a bundle or a run folder, or an installed model: tiny-en-de\n"


def test_data_writes_plain_text(dragoman: Dragoman, tmp_path: Path) -> None:
    code, out, err = dragoman("data", "reverse", "--size", 50, "--seed", 3, "-o", tmp_path / "corpus")
    assert (code, out) == (0, b"")
    assert "50 pairs" in err
    source, target = ((tmp_path / "corpus" / f"train.{side}").read_text().split("\n") for side in ("source", "target"))
    assert len(source) == len(target) == 51
    assert all(left.split() == right.split()[::-1] for left, right in zip(source, target, strict=True))
    assert dragoman("data", "reverse", "-o", tmp_path / "corpus")[0] == 1
    assert dragoman("data", "nothing", "-o", tmp_path / "nothing")[0] == 2
    code, _, err = dragoman("data", "copy", "--source-lang", "English", "-o", tmp_path / "nothing")
    assert code == 2
    assert "'English' is no language code" in err


@pytest.mark.parametrize("size", [(), ("--size", 20)])
def test_captions_are_written_in_the_direction_asked_for(
    size: tuple[str | int, ...], dragoman: Dragoman, tmp_path: Path
) -> None:
    langs = ("--source-lang", "de", "--target-lang", "en")
    for folder, more in (("en-de", ()), ("de-en", langs)):
        assert dragoman("data", "captions", *size, *more, "-o", tmp_path / folder)[0] == 0
    for name in ("train.de", "test.en"):
        assert (tmp_path / "de-en" / name).read_bytes() == (tmp_path / "en-de" / name).read_bytes()
    code, _, err = dragoman("data", "captions", *size, "--source-lang", "fr", "-o", tmp_path / "fr-de")
    assert code == 2
    assert "captions are en and de, not fr and de" in err


def test_data_writes_nothing_where_one_file_is_there_already(dragoman: Dragoman, tmp_path: Path) -> None:
    there = tmp_path / "validation.en"
    there.write_text("x\n")
    code, _, err = dragoman("data", "captions", "--size", 5, "-o", tmp_path)
    assert (code, err) == (1, f"error: the output exists: {there}; use --overwrite, or choose another output\n")
    assert list(tmp_path.iterdir()) == [there]
    assert dragoman("data", "captions", "--size", 5, "-o", tmp_path, "--overwrite")[0] == 0


def test_tiny_models_are_what_the_tests_think(bundle: Path) -> None:
    assert load_bundle(bundle).config == tiny_config(tiny_tokenizers(), max_length=40)


# ---------------------------------------------------------------------------------------------------- train, demo

SMALL = [
    *("--set", "model={d_model: 16, d_ff: 16, n_heads: 2, n_encoder_layers: 1, n_decoder_layers: 1, max_length: 24}"),
    *("--set", "tokenizer={kind: characters}", "--set", "training.max_steps=3", "--set", "training.warmup_steps=1"),
    *("--set", "training.precision=float32", "--set", "data.validation_size=10", "--device", "cpu"),
]


@pytest.mark.torch
def test_from_two_files_to_a_translator(dragoman: Dragoman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert dragoman("data", "copy", "--size", 60, "-o", "copy")[0] == 0
    for side, lang in (("source", "en"), ("target", "de")):
        Path(f"copy/train.{side}").rename(f"copy/letters.{lang}")
    files = ["--source", "copy/letters.en", "--target", "copy/letters.de"]
    code, out, err = dragoman("prepare", *files, *SMALL[:-2])
    assert (code, out) == (0, b""), err
    code, out, err = dragoman("train", *files, *SMALL, "--seed", 7)
    assert (code, out) == (0, b""), err
    assert "dragoman translate -m runs/letters-en-de" in err
    code, out, _ = dragoman("translate", "-m", "runs/letters-en-de", "--max-length", 4, stdin=b"a b c\n\n")
    assert code == 0
    assert out.count(b"\n") == 2
    code, _, err = dragoman("train", *files, *SMALL, "--seed", 7)
    assert code == 0, "a finished training is done"
    code, _, err = dragoman("train", *files, *SMALL, "--seed", 8)
    assert code == 2
    assert "training.seed" in err


@pytest.mark.torch
def test_files_of_different_length_are_refused_and_nothing_is_written(dragoman: Dragoman, tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("one\ntwo\nthree\n")
    target.write_text("eins\nzwei\n")
    code, _, err = dragoman("train", "--source", source, "--target", target, "-o", tmp_path / "run", *SMALL)
    assert code == 1
    assert "3 and 2" in err
    assert str(source) in err
    assert str(target) in err
    assert not (tmp_path / "run" / "data").exists()


@pytest.mark.parametrize(
    ("data", "folder"),
    [
        ({"corpus": "multi30k"}, "runs/multi30k-en-de"),
        ({"corpus": "multi30k", "source_lang": "de", "target_lang": "fr"}, "runs/multi30k-de-fr"),
        ({"corpus": "copy"}, "runs/copy"),
        ({"source": "data/news.en.gz", "target": "data/news.zh.gz"}, "runs/news-en-zh"),
        ({"source": "data/news.en.txt", "target": "data/news.zh.txt.gz"}, "runs/news-en-zh"),
        ({"pairs": "data/news.en-de.tsv"}, "runs/news-en-de"),
        ({"pairs": "my pairs.jsonl"}, "runs/my-pairs"),
    ],
)
def test_runs_are_named_after_their_corpus(data: dict[str, str], folder: str) -> None:
    assert default_folder({"data": data}) == Path(folder)


def test_the_command_line_wins_over_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("data: {corpus: multi30k, target_lang: fr, max_length: 7}\ntraining: {lr: 1.0, seed: 1}\n")
    options = {"source": "a.en", "target": "a.de", "corpus": None, "target_lang": "nl"}
    settings = recipe_settings(recipe, ["training.lr=0.5"], options)
    assert settings["data"] == {"max_length": 7, "source": "a.en", "target": "a.de", "target_lang": "nl"}
    assert settings["training"] == {"lr": 0.5, "seed": 1}


@pytest.mark.torch
def test_the_demo_tells_what_it_does_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dragoman: Dragoman
) -> None:
    """The whole demo but for its length: three steps of training teach nobody German."""
    made = make_corpus("copy", 80, 10, 10)
    for module in ("corpora.synthetic", "data.corpus"):
        monkeypatch.setattr(f"dragoman.{module}.standard_corpus", lambda task: made)
    short = {"max_steps": 3, "warmup_steps": 1, "validate_every": 3, "batch_tokens": 256, "precision": "float32"}
    monkeypatch.setitem(demo.SETTINGS, "training", short)
    monkeypatch.setitem(demo.SETTINGS, "tokenizer", {"kind": "characters", "joint": True})
    for _ in range(2):
        code, out, err = dragoman("demo", "-o", tmp_path / "demo", "--device", "cpu")
        assert (code, out) == (0, b""), err
        assert "A man is riding a horse." in err
        assert f"dragoman translate -m {tmp_path / 'demo'}" in err
        assert f"{demo.EVERYDAY}  ->  " in err
        assert "dragoman translate -m everyday --source-lang en --target-lang de" in err


@pytest.mark.parametrize(
    ("arguments", "command", "option"),
    [
        (("train", "--source", "a.en", "--source", "b.en", "--target", "a.de"), "train", "--source"),
        (
            ("inspect", "search", "-m", "x", "--beam-size", "2", "--beam-size=3", "A man"),
            "inspect search",
            "--beam-size",
        ),
    ],
)
def test_an_option_that_takes_one_value_is_given_once(
    arguments: tuple[str, ...], command: str, option: str, dragoman: Dragoman
) -> None:
    code, _, err = dragoman(*arguments)
    what = f"{option} is given more than once; it takes one value"
    assert (code, err) == (2, f"error: {what}; see `dragoman {command} --help`\n")


def test_two_commands_with_one_output_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with result_lines(path) as one:
        one("first")
        with result_lines(path) as other:
            other("second")
        assert path.read_text() == "second\n"
        one("and more")
    assert path.read_text() == "first\nand more\n"
    assert list(tmp_path.iterdir()) == [path]


def test_progress_counts_whole_blocks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr(line_progress, "time", SimpleNamespace(monotonic=lambda: now))

    def blocks(n_blocks: int, seconds: float, size: int) -> Iterator[int]:
        nonlocal now
        for _ in range(n_blocks):
            now += seconds  # then all of it is there at once
            yield from range(size)

    assert len(list(with_progress(blocks(4, 8.0, 4000), from_file=True, output=Path("out")))) == 16_000
    said = "4,000 lines, 500 a second\n12,000 lines, 500 a second\n16,000 lines, 500 a second\n"
    assert capsys.readouterr().err == said
    assert len(list(with_progress(blocks(1, 20.0, 76), from_file=True, output=Path("out"), unit="segment"))) == 76
    assert capsys.readouterr().err == "76 segments, 3.8 a second\n"
    assert len(list(with_progress(blocks(1, 2.0, 76), from_file=True, output=Path("out")))) == 76
    assert capsys.readouterr().err == ""


def test_a_person_who_waits_for_a_file_is_told_how_far_it_is(
    dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_progress, "PROGRESS_EVERY", 0.0)
    text = tmp_path / "a.en"
    text.write_text("A man\nA dog\n")
    _, _, told = dragoman("translate", "-m", bundle, "-i", text, "-o", tmp_path / "a.de")
    assert re.fullmatch(r"1 line(, [\d,.]+ a second)?\n2 lines(, [\d,.]+ a second)?\n", told)
    _, out, told = dragoman("score", "-m", bundle, "--source", text, "--target", text)
    assert len(out.splitlines()) == 2
    assert "2 lines" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("translate", "-i", "none.txt"),
        ("translate", "-i", "none.html"),
        ("translate", "-i", "none.csv", "--columns", "1"),
        ("translate", "-i", "none.docx"),
        ("translate", "-i", "none.epub"),
        ("translate", "-i", "a.en", "-i", "none.txt", "-o", "folder"),
        ("translate", "-i", "a.en", "--terms", "none.csv"),
        ("translate", "-i", "a.en", "--terms", "none.tbx"),
        ("translate", "-i", "a.en", "--memory", "none.tmx"),
        ("translate", "-i", "a.en", "--memory", "none.tsv"),
        ("score", "--pairs", "none.tsv"),
        ("evaluate", "--source", "none.en", "--target", "a.de"),
    ],
    ids=" ".join,
)
def test_a_missing_file_is_told_in_the_same_words_by_all_options(
    arguments: tuple[str, ...], dragoman: Dragoman, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.en", "a.de"):
        Path(name).write_text("A man\n")
    command, *options = arguments
    missing = next(name for name in options if name.startswith("none."))
    code, _, err = dragoman(command, "-m", bundle, *options)
    assert (code, err) == (1, f"error: file not found: {missing}; check the path\n")


def test_no_command_writes_over_what_it_reads(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    for path in (source, target):
        path.write_text("A man\n")
    texts = ("--source", source, "--target", target)
    commands: list[tuple[str | Path, ...]] = [
        ("translate", "-m", bundle, "-i", source, "-o", source),
        ("evaluate", "-m", bundle, *texts, "-o", target),
        ("score", "-m", bundle, *texts, "-o", source),
    ]
    for command in commands:
        code, _, err = dragoman(*command, "--overwrite")
        assert (code, "the output is an input too" in err) == (1, True)
    assert source.read_text() == target.read_text() == "A man\n"


def test_an_output_may_be_gzipped(dragoman: Dragoman, bundle: Path, tmp_path: Path) -> None:
    packed = tmp_path / "out.de.gz"
    assert dragoman("translate", "-m", bundle, "-o", packed, stdin=b"A man\n")[0] == 0
    assert gzip.decompress(packed.read_bytes()) == dragoman("translate", "-m", bundle, stdin=b"A man\n")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("translate", "--temperature", "2"), "--temperature is for drawing; it needs --sample"),
        (("translate", "--top-k", "5", "--seed", "3"), "--top-k is for drawing"),
        (
            ("translate", "--sample", "--beam-size", "3"),
            "--beam-size is for searching; it has no effect with --sample, or on a model that samples",
        ),
        (
            ("tune", "--corpus", "copy", "--vary", "beam_size=1", "--vary", "length_penalty=1"),
            "one --vary at a time",
        ),
        (
            ("tune", "--corpus", "copy", "--vary", "length_penalty=0,1", "--length-penalty", "1"),
            "--length-penalty has no effect with --vary length_penalty; leave it out",
        ),
        (("tune", "--corpus", "copy", "--vary", "prefixes=a,b"), "'prefixes' is no setting of the search"),
        (("tune", "--corpus", "copy", "--vary", "sentences=true,false"), "'sentences' is no setting of the search"),
        (
            ("translate", "-i", "a.txt", "--format", "txt", "--invalid-utf8", "replace"),
            "--invalid-utf8 is for lines, and this is a document; leave it out",
        ),
        (
            ("evaluate", "none.yaml", "--source", "a.en", "--target", "a.de"),
            "recipe has no effect with --source, --target or --pairs; leave it out",
        ),
        (
            ("evaluate", "--split", "test", "--pairs", "a.tsv"),
            "--split has no effect with --source, --target or --pairs; leave it out",
        ),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    dragoman: Dragoman, bundle: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = dragoman(*arguments, "-m", bundle)
    assert code == 2
    assert message in err


@pytest.mark.torch
def test_a_training_that_is_not_there_cannot_go_on(dragoman: Dragoman, tmp_path: Path) -> None:
    code, _, err = dragoman("train", "-o", tmp_path / "nothere")
    assert code == 2
    assert "there is no run to continue" in err


def test_references_without_spaces_in_an_unknown_language_are_told(dragoman: Dragoman, tmp_path: Path) -> None:
    for name in ("hypotheses", "references", "references.zh"):
        (tmp_path / name).write_text("狗在田野上跑。\n", encoding="utf-8")
    score = ("compare-outputs", "--hypotheses", tmp_path / "hypotheses", "--target")
    warning = "warning: the references are written without spaces, in an unknown language; give --target-lang"
    code, _, err = dragoman(*score, tmp_path / "references")
    assert (code, err.startswith(warning), err.count("\n")) == (0, True, 1)
    code, _, err = dragoman(*score, tmp_path / "references", "--target-lang", "cmn")
    assert (code, "warning" in err, err.startswith("chrF++ takes whole phrases of cmn")) == (0, False, True)
    code, _, err = dragoman(*score, tmp_path / "references.zh")
    assert (code, "warning" in err) == (0, False)


@pytest.mark.torch
def test_what_a_run_was_validated_on_may_be_given_a_language(dragoman: Dragoman, tmp_path: Path) -> None:
    en, zh = write_pairs(tmp_path, [(f"{number} dogs", f"{number} 只狗在田野上跑。") for number in range(40)])
    source, target = en.rename(tmp_path / "source"), zh.rename(tmp_path / "target")
    code, _, err = dragoman("train", "--source", source, "--target", target, "-o", tmp_path / "run", *SMALL)
    assert (code, err.count("; give --target-lang")) == (0, 1)
    validated = ("evaluate", "-m", tmp_path / "run", "--split", "validation", "--beam-size", 1, "--json")
    for more, tokeniser, n_warnings in (((), "tok:13a", 1), (("--target-lang", "zho"), "tok:zh", 0)):
        code, out, err = dragoman(*validated, *more)
        assert (code, err.count("; give --target-lang")) == (0, n_warnings)
        assert tokeniser in json.loads(out)["metrics"][0]["signature"]


def test_the_language_that_is_said_is_the_one_that_is_scored(dragoman: Dragoman, tmp_path: Path, bundle: Path) -> None:
    for name in ("a.en", "a.zh"):
        (tmp_path / name).write_text("A man\n")
    texts = ("--source", tmp_path / "a.en", "--target", tmp_path / "a.zh", "--json")
    for more, tokeniser in (((), "tok:13a"), (("--target-lang", "zh"), "tok:zh")):
        code, out, _ = dragoman("evaluate", "-m", bundle, *texts, *more)
        assert code == 0
        assert tokeniser in json.loads(out)["metrics"][0]["signature"]
