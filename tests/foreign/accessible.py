"""Pages checked by axe-core: `npm install --prefix tests/foreign axe-core`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).resolve().parent / "node_modules/axe-core/axe.min.js"


def findings(page: Any) -> list[str]:
    """Return what axe-core finds in a page and in its frames, serious or critical; skip the test without axe-core."""
    if not _SCRIPT.is_file():
        pytest.skip("no axe-core: npm install --prefix tests/foreign axe-core")
    script = _SCRIPT.read_text(encoding="utf-8")
    found: list[str] = []
    for frame in page.frames:
        frame.evaluate(script)  # not by an element, which the page's policy would refuse
        violations = frame.evaluate("axe.run(document, {iframes: false}).then(({violations}) => violations)")
        for violation in violations:
            if violation["impact"] in ("serious", "critical"):
                found += [f"{violation['id']}: {node['html'][:200]}" for node in violation["nodes"]]
    return found
