"""G4: bad text, recipes, model folders, tokenizers and lines are refused with a word about them, or do no harm."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from amount import FULL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork; Linux only")

PROGRAM = Path(__file__).with_name("fuzz.py")


@pytest.mark.parametrize(
    ("kind", "n_full", "codes"),
    [
        ("corpus", 2_000, {"0", "1"}),
        ("config", 10_000, {"0", "2"}),
        ("model", 5_000, {"0", "3"}),
        ("tokenizer", 5_000, {"0", "3"}),
        ("translate", 5_000, {"0"}),
    ],
)
def test_bad_input(kind: str, n_full: int, codes: set[str], figure: Callable[..., None]) -> None:
    n_inputs = n_full if FULL else n_full // 20
    done = subprocess.run([sys.executable, PROGRAM, kind, str(n_inputs)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["inputs"] == n_inputs
    assert codes <= counts["codes"].keys(), "the inputs are too good, or too bad"
    figure("G4", **counts)
