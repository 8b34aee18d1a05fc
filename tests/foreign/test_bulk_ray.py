"""Many files on a Ray cluster of this machine: the bytes of one process, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from extras import import_extra
from test_bulk import PAGE, written
from tiny import PAIRS, write_tiny_bundle

import_extra("ray", "ray")

#: The command, with parts of 20 lines.
PROGRAM = (
    "import sys; from dragoman.bulk.bulk_translation import BulkTranslation; from dragoman.cli.program import run\n"
    "_, _, *others = BulkTranslation.__init__.__defaults__\n"
    "BulkTranslation.__init__.__defaults__ = ('error', 20, *others)\n"
    "sys.exit(run(sys.argv[1:]))"
)
LIMIT_S = 400


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    lines = [f"{source} {number}" for number in range(150) for source, _ in PAIRS]
    (folder / "large.en").write_text("\n".join(lines), encoding="utf-8")
    for number in range(6):
        (folder / f"page-{number}.html").write_bytes(PAGE)
    (folder / "bad.txt").write_bytes(b"\xff\n")
    return folder


def command(model: Path, inputs: Path, out: Path, *more: str) -> list[str]:
    options = ["-m", str(model), "--device", "cpu", "--input", str(inputs), "--output", str(out)]
    return [sys.executable, "-c", PROGRAM, "translate", *options, *more]


def children(process: int) -> Iterator[int]:
    """Processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(path.name))
    waiting = [process]
    while waiting:
        found = parents.get(waiting.pop(), [])
        yield from found
        waiting += found


def workers(process: int) -> list[int]:
    """The workers of a command that are translating."""
    busy = []
    for child in children(process):
        try:
            if b"_Actor.outcome" in Path(f"/proc/{child}/cmdline").read_bytes():
                busy.append(child)
        except OSError:
            continue
    return busy


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
def test_a_killed_worker_costs_its_part_only(inputs: Path, tmp_path: Path) -> None:
    model = write_tiny_bundle(tmp_path / "tiny")
    alone = subprocess.run(command(model, inputs, tmp_path / "alone"), capture_output=True, text=True, check=False)
    assert alone.returncode == 1, alone.stderr
    together = command(model, inputs, tmp_path / "ray", "--ray", "auto", "--workers", "2")
    with subprocess.Popen(together, stderr=subprocess.PIPE, text=True) as driver:
        began, busy = time.monotonic(), list[int]()
        while not busy and time.monotonic() - began < LIMIT_S:
            time.sleep(0.05)
            busy = workers(driver.pid)
        assert busy, "no worker began in time"
        os.kill(busy[0], signal.SIGKILL)
        assert driver.stderr is not None
        said = driver.stderr.read()
    assert driver.returncode == 1, said  # for the bad file alone
    assert "its worker died; the part is translated again" in said
    assert "8 files: 7 translated, 1 failed; 612 lines or segments" in said
    assert written(tmp_path / "ray") == written(tmp_path / "alone")
    assert len(written(tmp_path / "ray")) == 7
    again = subprocess.run(together, capture_output=True, text=True, check=False)
    assert "8 files: 0 translated, 7 finished before, 1 failed" in again.stderr


def test_a_cluster_that_is_not_there_is_one_line(inputs: Path, tmp_path: Path) -> None:
    model = write_tiny_bundle(tmp_path / "tiny")
    there = command(model, inputs, tmp_path / "ray", "--ray", "127.0.0.1:1")
    done = subprocess.run(there, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 5, done.stderr
    assert "error: no Ray cluster at 127.0.0.1:1" in done.stderr.splitlines()[-1]
