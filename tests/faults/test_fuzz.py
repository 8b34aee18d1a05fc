"""G4: bad text, recipes, model folders, tokenizers and lines are refused with a word about them, or do no harm."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amount import FULL

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="needs fork; Linux only")]

PROGRAM = Path(__file__).with_name("fuzz.py")


#: Inputs of each kind, and exit codes that there must be among theirs: else they are too good, or too bad.
INPUTS = {"corpus": 2_000, "config": 10_000, "model": 5_000, "tokenizer": 5_000, "translate": 5_000}
CODES = {"corpus": "01", "config": "02", "model": "03", "tokenizer": "03", "translate": "0"}


@pytest.fixture(scope="module")
def counts() -> dict[str, dict[str, Any]]:
    """Of all of them, or of a fiftieth; a failure comes with the command that repeats it."""
    trials = [str(each) for kind, n in INPUTS.items() for each in (kind, n if FULL else n // 50)]
    done = subprocess.run([sys.executable, PROGRAM, *trials], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", INPUTS)
def test_bad_input(kind: str, counts: dict[str, dict[str, Any]], figure: Callable[..., None]) -> None:
    found = counts[kind]
    figure("G4", kind, **found)
    assert found["inputs"] == INPUTS[kind] // (1 if FULL else 50)
    assert set(CODES[kind]) <= found["codes"].keys()
