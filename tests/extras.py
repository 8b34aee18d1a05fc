"""Packages of an extra, which a test skips without."""

from __future__ import annotations

from typing import Any

import pytest


def import_extra(module: str, extra: str) -> Any:
    """Return a module, or skip the test or the file, and say what to install.

    Args:
        extra: of dragoman, or several with commas between them.
    """
    return pytest.importorskip(module, reason=f'pip install -c constraints.txt ".[{extra}]"')
