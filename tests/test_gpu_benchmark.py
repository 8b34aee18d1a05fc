"""The script that measures a GPU: a part that fails or hangs is a row, and the next one begins."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("gpu")


def rows(gpu: ModuleType, tmp_path: Path, program: str, seconds: float = 30.0) -> list[dict[str, Any]]:
    return list(gpu.watch([sys.executable, "-c", program], os.environ, seconds, tmp_path / "log"))


def test_each_line_of_json_is_a_row_and_the_rest_is_logged(gpu: ModuleType, tmp_path: Path) -> None:
    program = "import sys; print('{\"a\": 1}'); print('text'); print(2); print('said', file=sys.stderr)"
    assert rows(gpu, tmp_path, program) == [{"a": 1}, {"value": 2}]
    assert (tmp_path / "log").read_text() == "said\n"


def test_a_part_that_fails_or_hangs_keeps_its_rows_and_leaves_no_process(gpu: ModuleType, tmp_path: Path) -> None:
    assert rows(gpu, tmp_path, "print(1); raise SystemExit(3)") == [{"value": 1}, {"error": "ended with 3"}]
    program = "import os, time; child = os.fork(); child and print(child, flush=True); time.sleep(60)"
    first, last = rows(gpu, tmp_path, program, seconds=3.0)
    assert last == {"error": "not done after 3 seconds"}
    deadline = time.monotonic() + 10
    while _is_running(first["value"]):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    """Return True unless it has ended, whether anybody has asked how or not."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
