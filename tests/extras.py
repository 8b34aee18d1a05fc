"""Packages and programs that a test is skipped without; the reason says what to install."""

from __future__ import annotations

import shutil
from typing import Any

import pytest


def import_extra(module: str, extra: str) -> Any:
    """Return a module, or skip the test or the file, and say what to install.

    Args:
        extra: of dragoman, or several with commas between them.
    """
    return pytest.importorskip(module, reason=f'pip install -c constraints.txt ".[{extra}]"')


def import_foreign(module: str, package: str) -> Any:
    """Return a module of a package that no extra of dragoman has, or skip the test or the file."""
    return pytest.importorskip(module, reason=f"pip install {package}")


def require_program(name: str, package: str, path: str | None = None) -> str:
    """Return the path of a program, or skip the test.

    Args:
        package: of Debian, or several with spaces between them.
        path: folders to look in, in place of those of the PATH.
    """
    program = shutil.which(name, path=path)
    if program is None:
        pytest.skip(f"no {name} (on Debian: apt install {package})")
    return program
