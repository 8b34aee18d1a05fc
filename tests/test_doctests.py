"""The examples of the docstrings are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
