"""The file of a command's results: there when it is whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli.streams import result_bytes
from dragoman.machine.files import TEMPORARY

#: Writes half of a result, and is killed.
KILLED = """
import os, signal, sys
from pathlib import Path
from dragoman.cli.streams import result_bytes
with result_bytes(Path(sys.argv[1]), overwrite=True) as write:
    write(b"half" * 100_000)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_kill_leaves_the_file_that_was_there(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"before")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(TEMPORARY)] == [name]
    assert (tmp_path / name).read_bytes() == b"before"


def test_a_result_replaces_the_file_before_it_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    for content in (b"first", b"second"):
        with result_bytes(path, overwrite=True) as write:
            write(content)
        assert path.read_bytes() == content
    with contextlib.suppress(RuntimeError), result_bytes(path, overwrite=True) as write:
        write(b"third")
        raise RuntimeError
    assert path.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not flushed there")
def test_a_result_and_then_its_name_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed, fsync = list[int](), os.fsync

    def noted(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with result_bytes(tmp_path / "out.txt") as write:
        write(b"x")
    assert flushed == [(tmp_path / "out.txt").stat().st_ino, tmp_path.stat().st_ino]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_a_result_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with result_bytes(tmp_path / "out.txt") as write:
            write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640
