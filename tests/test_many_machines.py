"""docs/many-machines.md is followed to the letter: a text in parts, a corpus on another disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from runs import assert_same_training, settings

from dragoman.cli.program import run
from dragoman.training import train

pytestmark = pytest.mark.torch

PAGE = Path(__file__).resolve().parent.parent / "docs" / "many-machines.md"

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="split, xargs and grep as on Linux")


def block(begins: str) -> str:
    """The commands of the page that begin so."""
    blocks: list[str] = re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return next(each for each in blocks if each.startswith(begins))


@needs_linux
def test_a_text_in_parts_is_translated_whole(reference: Path, tmp_path: Path) -> None:
    """No line is lost or moved, and after a part has failed, the same command does that part alone."""
    lines = [f"{'abcdefgh'[number % 8]} {'hgfedcba'[number % 7]}" for number in range(40)]
    lines[11] = ""
    (tmp_path / "text.en").write_text("\n".join(lines), encoding="utf-8")  # no end of line at the end
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "en-de").symlink_to(reference)
    program = tmp_path / "bin" / "dragoman"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dragoman "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}

    def shell(commands: str) -> subprocess.CompletedProcess[str]:
        here = commands.replace("l/64", "l/3").replace("-P 8", "-P 1").replace("cuda:$GPU", "cpu")
        return subprocess.run(
            ["bash", "-c", here], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    assert shell(block("mkdir -p parts")).returncode == 0
    sound = (tmp_path / "parts" / "en.01").read_bytes()
    (tmp_path / "parts" / "en.01").write_bytes(b"\xff" + sound)  # a part that cannot be translated as it is
    failed = shell(block("ls parts"))
    assert failed.returncode != 0
    assert "invalid UTF-8: parts/en.01:1" in failed.stderr
    assert "complete" not in shell(block("cat parts")).stdout
    done = {path: path.stat().st_mtime_ns for path in tmp_path.glob("parts/de.*")}
    assert {path.name for path in done} == {"de.00", "de.02"}
    (tmp_path / "parts" / "en.01").write_bytes(sound)
    again = shell(block("ls parts"))
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert "complete" in shell(block("cat parts")).stdout
    whole = ["translate", "-m", str(reference), "-i", str(tmp_path / "text.en"), "-o", str(tmp_path / "whole.de")]
    assert run([*whole, "--device", "cpu"]) == 0
    assert (tmp_path / "text.de").read_bytes() == (tmp_path / "whole.de").read_bytes()


def test_copies_of_a_translation_are_refused(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them would translate everything, into the same file."""
    (tmp_path / "text").write_text("a b\n", encoding="utf-8")
    command = ["translate", "-m", str(reference), "-i", str(tmp_path / "text"), "-o", str(tmp_path / "out")]
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert run(command) == 2
    assert "torchrun started 8 times the same `dragoman translate`; give each" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert run(command) == 0


def test_the_corpus_may_lie_on_another_disk(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """A link in the place of `data/`, made before the training or on the way."""
    run_folder, local = tmp_path / "run", tmp_path / "local"
    shutil.copytree(reference, run_folder, symlinks=True)
    shutil.rmtree(run_folder / "checkpoints" / "step-30")
    shutil.move(run_folder / "data", local)
    (run_folder / "data").symlink_to(local, target_is_directory=True)
    train(settings(corpus), run_folder, device="cpu")
    assert_same_training(reference, run_folder)
