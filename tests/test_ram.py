"""The memory that a process has used and may still take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dragoman.machine import ram
from dragoman.machine.ram import available_memory, peak_memory

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process does not inherit its parent's peak")
def test_the_peak_is_this_process_s_own_not_that_of_the_one_that_started_it() -> None:
    program = "import torch; from dragoman.machine.ram import peak_memory; print(peak_memory(torch.device('cpu')))"
    start = f"fat = b'x' * (1 << 30); import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}])"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True)
    assert 50 < float(done.stdout) < 900


def test_the_peak_stays_after_the_memory_is_given_back() -> None:
    before = peak_memory(CPU)
    used = bytearray(b"x" * (200 << 20))
    del used
    after = peak_memory(CPU)
    assert before is not None
    assert after is not None
    assert after >= max(before, 200)


def group(folder: Path, limit: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in {"max": limit, "current": "700", "stat": "anon 500\ninactive_file 200\nfile 1\n"}.items():
        (folder / f"memory.{name}").write_text(content + "\n")


def test_a_container_s_limit_counts_and_cached_files_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cgroup"
    monkeypatch.setattr(ram, "CONTROL_GROUP", folder)
    unlimited = available_memory(CPU)
    group(folder, "1000")
    assert available_memory(CPU) == 500
    group(folder, "100")
    assert available_memory(CPU) == 0
    group(folder, "max")
    if unlimited is not None:
        assert (available_memory(CPU) or 0) > unlimited / 2
